"""Connection limits, and the memory that connections use."""

import re
import socket
import time
from pathlib import Path

import httpx

from support.program import Server, run
from support.waiting import until

ASK = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


def connect(server, source="127.0.0.1"):
    """Returns a client connection that has received one response and stays open."""
    connection = socket.create_connection(server.address, 30, (source, 0))
    connection.sendall(ASK)
    received = b""
    while not received.endswith(b"ok\n"):
        part = connection.recv(4096)
        assert part, "the connection was closed"
        received += part
    return connection


def is_open(connection):
    try:
        connection.sendall(ASK)
        return connection.recv(4096) != b""
    except OSError:
        return False


def tick():
    """Waits until the clock that measures idle time has advanced."""
    soon = time.monotonic() + 0.02
    until(lambda: time.monotonic() > soon, "the clock advances")


def memory(server):
    """Returns the server's resident memory, in KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def test_an_idle_connection_uses_little_memory(tmp_path):
    with Server(tmp_path, "--max-connections-per-network", "2000") as server:
        warm = [connect(server) for _ in range(50)]
        before = memory(server)
        idle = [connect(server) for _ in range(1_000)]
        each = (memory(server) - before) / len(idle)
        assert each < 44, f"{each} KiB for each connection"
        assert httpx.get(server.url + "/healthz").text == "ok\n"
        for connection in warm + idle:
            connection.close()


def test_at_the_limit_the_longest_idle_connection_is_closed(tmp_path):
    flags = ["--max-connections", "20", "--max-connections-per-network", "15"]
    with Server(tmp_path, *flags) as server:
        oldest = connect(server, "127.0.1.1")
        tick()
        crowd = [connect(server, f"127.0.1.{number}") for number in range(2, 21)]
        late = connect(server, "127.0.2.1")
        assert is_open(late)
        assert not is_open(oldest) and is_open(crowd[-1])


def test_a_network_is_limited_to_its_share(tmp_path):
    environment = {"COUNTERSIGN_MAX_CONNECTIONS_PER_NETWORK": "3"}
    with Server(tmp_path, env=environment) as server:
        share = [connect(server, "127.0.1.1") for _ in range(3)]
        with socket.create_connection(server.address, 30, ("127.0.1.1", 0)) as refused:
            assert refused.recv(1) == b""
        assert is_open(connect(server, "127.0.1.2"))
        assert all(is_open(connection) for connection in share)


def test_a_low_limit_on_open_files_is_reported_at_startup(tmp_path):
    few = ["sh", "-c", "ulimit -n 256 && exec \"$@\"", "sh"]
    with Server(tmp_path, prefix=few) as server:
        allowed = int(server.wait_for_line(r"ulimit -n\) allows (\d+) concurrent connections"))
        assert 128 <= allowed < 256
        # Not only 16, as in an earlier version.
        clients = [connect(server, f"127.0.1.{number}") for number in range(100)]
        assert all(is_open(client) for client in clients)
    with Server(tmp_path) as server:
        server.setup_code
        assert "ulimit" not in server.text


def test_invalid_proxies_and_limits_are_refused(tmp_path):
    refused = run("serve", "--data", tmp_path, "--trusted-proxy", "10.0.0.0/33,proxy.example",
                  "--max-connections", "none", "--max-header-bytes", "1")
    assert refused.returncode == 78
    for words in ("10.0.0.0/33", "proxy.example", "--max-connections", "--max-header-bytes"):
        assert words in refused.stderr


def test_proxies_of_a_trusted_network_are_trusted_with_ports(tmp_path):
    flags = ["--trusted-proxy", "127.0.0.0/8,10.0.0.0/8"]
    with Server(tmp_path, *flags) as server:
        for field, peer in (("203.0.113.7:4711, 10.1.2.3", r"203\.0\.113\.7"),
                            ("[2001:db8::7]:4711", "2001:db8::7")):
            httpx.get(server.url + "/healthz", headers={"X-Forwarded-For": field})
            until(lambda: re.search(f'"peer":"{peer}"', server.text), f"the log has {peer}")
