"""How many clients may be connected, and what they cost."""

import re
import socket
import time
from pathlib import Path

import httpx

from support.program import Server, run
from support.waiting import until

ASK = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


def connect(server, source="127.0.0.1"):
    """A client that was answered once, and stays."""
    connection = socket.create_connection(server.address, 30, (source, 0))
    connection.sendall(ASK)
    received = b""
    while not received.endswith(b"ok\n"):
        part = connection.recv(4096)
        assert part, "it was let go"
        received += part
    return connection


def is_open(connection):
    try:
        connection.sendall(ASK)
        return connection.recv(4096) != b""
    except OSError:
        return False


def tick():
    """Waits until the clock that idle time is counted by has moved."""
    soon = time.monotonic() + 0.02
    until(lambda: time.monotonic() > soon, "later than before")


def memory(server):
    """The resident memory of the server, in KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def test_an_idle_connection_costs_little_memory(tmp_path):
    with Server(tmp_path, "--max-connections-per-network", "2000") as server:
        warm = [connect(server) for _ in range(50)]
        before = memory(server)
        idle = [connect(server) for _ in range(1_000)]
        each = (memory(server) - before) / len(idle)
        assert each < 44, f"{each} KiB for each connection"
        assert httpx.get(server.url + "/healthz").text == "ok\n"
        for connection in warm + idle:
            connection.close()


def test_when_full_the_longest_idle_makes_room(tmp_path):
    flags = ["--max-connections", "20", "--max-connections-per-network", "15"]
    with Server(tmp_path, *flags) as server:
        oldest = connect(server, "127.0.1.1")
        tick()
        crowd = [connect(server, f"127.0.1.{number}") for number in range(2, 21)]
        late = connect(server, "127.0.2.1")
        assert is_open(late)
        assert not is_open(oldest) and is_open(crowd[-1])


def test_one_network_gets_its_share_and_no_more(tmp_path):
    environment = {"COUNTERSIGN_MAX_CONNECTIONS_PER_NETWORK": "3"}
    with Server(tmp_path, env=environment) as server:
        share = [connect(server, "127.0.1.1") for _ in range(3)]
        with socket.create_connection(server.address, 30, ("127.0.1.1", 0)) as refused:
            assert refused.recv(1) == b""
        assert is_open(connect(server, "127.0.1.2"))
        assert all(is_open(connection) for connection in share)


def test_a_low_limit_of_open_files_is_told_at_the_start(tmp_path):
    few = ["sh", "-c", "ulimit -n 256 && exec \"$@\"", "sh"]
    with Server(tmp_path, prefix=few) as server:
        allowed = int(server.said(r"ulimit -n\) allows (\d+) concurrent connections"))
        assert 128 <= allowed < 256
        # More than the 16 that were left of it once.
        clients = [connect(server, f"127.0.1.{number}") for number in range(100)]
        assert all(is_open(client) for client in clients)
    with Server(tmp_path) as server:
        server.setup_code
        assert "ulimit" not in server.text


def test_nonsense_about_proxies_and_limits_is_refused(tmp_path):
    refused = run("serve", "--data", tmp_path, "--trusted-proxy", "10.0.0.0/33,proxy.example",
                  "--max-connections", "none", "--max-header-bytes", "1")
    assert refused.returncode == 78
    for words in ("10.0.0.0/33", "proxy.example", "--max-connections", "--max-header-bytes"):
        assert words in refused.stderr


def test_proxies_of_a_network_are_believed_with_ports(tmp_path):
    flags = ["--trusted-proxy", "127.0.0.0/8,10.0.0.0/8"]
    with Server(tmp_path, *flags) as server:
        for field, peer in (("203.0.113.7:4711, 10.1.2.3", r"203\.0\.113\.7"),
                            ("[2001:db8::7]:4711", "2001:db8::7")):
            httpx.get(server.url + "/healthz", headers={"X-Forwarded-For": field})
            until(lambda: re.search(f'"peer":"{peer}"', server.text), f"the log has {peer}")
