"""Connection limits, and the memory that connections use."""

import http.client
import json
import re
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from support.pages import Pages
from support.program import Server, run
from support.rest import Api, create_token
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


# How long a body of which nothing arrives can take, in seconds.
DEADLINE = 10
NETWORKS = ["127.0.0.1", *(f"127.0.9.{number}" for number in range(2, 7))]
IMPORT, SIGN_IN = "/v1/projects/held-bodies/accounts:batchCreate", "/v1/accounts:signInWithPassword"


def hold(server, path, size, number, token):
    """Returns a connection that has sent a header, and a part of its body."""
    connection = socket.create_connection(
        server.address, 30, (NETWORKS[number % len(NETWORKS)], 0))
    field = f"Authorization: Bearer {token}\r\n" if token else ""
    connection.sendall(f"POST {path} HTTP/1.1\r\nHost: h\r\n{field}"
                       f"Content-Length: {size}\r\n\r\n".encode() + b"{" * 20)
    connection.setblocking(False)
    return connection


def drip(connections, is_over):
    """Sends a byte of each body every 0.2 seconds."""
    while not is_over.wait(0.2):
        for connection in connections:
            try:
                connection.send(b" ")
            except OSError:
                pass


def statuses(connections):
    """Returns how often a refusal of a body has arrived, by status."""
    found = Counter()
    for connection in connections:
        try:
            found[connection.recv(12, socket.MSG_PEEK).decode()[9:]] += 1
        except OSError:
            found["none"] += 1
    return found


def sign_in(server, key):
    connection = http.client.HTTPConnection(*server.address, timeout=60)
    connection.request("POST", f"{SIGN_IN}?key={key}", json.dumps(
        {"email": "ada@example.com", "password": "bright-swordfish"}))
    status = connection.getresponse().status
    connection.close()
    return status


def sign_in_often(server, key, count):
    """Returns how often there was each status, and the seconds that they took."""
    start = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        answers = Counter(pool.map(lambda _: sign_in(server, key), range(count)))
    return answers, time.monotonic() - start


@pytest.mark.parametrize("is_known, flags", [
    (False, []), (True, []), (False, ["--max-connections", "240"])], ids=["unknown", "known", "few"])
def test_c15_held_bodies_do_not_keep_sign_ins_out(tmp_path, is_known, flags):
    with Server(tmp_path, *flags) as server:
        owner = Pages(server.url).set_up(server.setup_code)
        owner.create_project("held-bodies")
        token = create_token(server.data, "held-bodies", "owner")
        api = Api(server.url, "held-bodies", owner.api_key("held-bodies"), token)
        api.sign_up("ada@example.com")
        api.http.close()
        _, alone = sign_in_often(server, api.key, 40)
        is_over, used = threading.Event(), token if is_known else None
        huge = [hold(server, IMPORT, 16 << 20, number, used) for number in range(16)]
        large = [hold(server, SIGN_IN, 1 << 20, number, used) for number in range(256)]
        slow = [hold(server, SIGN_IN, 64 << 10, number, None) for number in range(1_000)]
        threading.Thread(target=drip, args=(slow, is_over), daemon=True).start()
        if not flags:
            # A network's share is two imports; nobody without a credential holds any.
            assert statuses(slow) == {"none": 1_000}
            until(lambda: statuses(huge) == (
                {"503": 4, "none": 12} if is_known else {"401": 16}), "imports are refused")
            until(lambda: statuses(large) == (
                {"503": 256} if is_known else {"413": 256}), "large bodies are refused")
        answers, took = sign_in_often(server, api.key, 200)
        is_over.set()
        assert answers == {200: 200}
        # On a busy machine, hashing the passwords alone takes longer than the deadline.
        assert took < max(DEADLINE, 2 * 5 * alone), (took, alone)
