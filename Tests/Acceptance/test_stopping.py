"""Graceful stops, and slow clients."""

import re
import signal
import socket
import time

import httpx
import pytest

from support.program import Server
from support.waiting import until


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path) as server:
        server.setup_code
        yield server


def connect(server):
    connection = socket.create_connection(server.address, timeout=60)
    return connection


def read_answer(connection):
    """Returns the status and the body of one response."""
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        assert part, received
        received += part
    head, body = received.split(b"\r\n\r\n", 1)
    fields = dict(
        line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += connection.recv(65536)
    return int(head.split(b" ")[1]), body


def is_refused(server):
    try:
        connect(server).close()
        return False
    except OSError:
        return True


def test_the_service_manager_waits_for_the_start_and_for_the_drain(tmp_path):
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
        notices.bind(str(path))
        notices.settimeout(60)
        with Server(tmp_path / "data", "--drain-delay", "300", env={"NOTIFY_SOCKET": str(path)}) as server:
            assert notices.recv(200) == b"EXTEND_TIMEOUT_USEC=120000000"
            while (notice := notices.recv(200)).startswith(b"EXTEND"):
                pass
            assert notice == b"READY=1"
            server.terminate()
            # The drain, and what the server completes after it.
            assert notices.recv(200) == b"STOPPING=1\nEXTEND_TIMEOUT_USEC=325000000"
            server.wait_for_line("(draining|300 seconds)")
            # A second signal ends the drain.
            server.process.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGINT"])
def test_requests_in_progress_are_completed(server, signal):
    import signal as signals

    body = b'{"email": "a@example.com"}'
    with connect(server) as connection:
        connection.sendall(
            b"POST /v1/accounts:signUp HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body[:10])
        # Once another connection has a response, the server has started reading this one.
        assert httpx.get(server.url + "/healthz").text == "ok\n"
        server.process.send_signal(getattr(signals, signal))
        until(lambda: is_refused(server), "new connections are refused")
        assert server.process.poll() is None
        connection.sendall(body[10:])
        status, answer = read_answer(connection)
        assert status == 403 and b"unregistered callers" in answer
    assert server.wait() == 0
    assert "Stopped." in server.text


def test_a_draining_server_answers_requests_and_reports_that_it_is_not_ready(tmp_path):
    with Server(tmp_path, "--drain-delay", "4") as server:
        server.setup_code
        assert httpx.get(server.url + "/readyz").text == "ready\n"
        body = b'{"email": "a@example.com"}'
        with connect(server) as connection:
            connection.sendall(
                b"POST /v1/accounts:signUp HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body) + body[:10])
            began = time.monotonic()
            server.terminate()
            unready = until(lambda: (lambda answer: answer if answer.status_code == 503 else None)(
                httpx.get(server.url + "/readyz")), "it isn't ready")
            assert unready.text == "not ready: draining\n"
            # Each of these is a new connection.
            assert httpx.get(server.url + "/livez").text == "ok\n"
            assert httpx.get(server.url + "/sign-in", follow_redirects=True).status_code == 200
            until(lambda: is_refused(server), "new connections are refused")
            assert time.monotonic() - began > 3.5
            connection.sendall(body[10:])
            assert read_answer(connection)[0] == 403
        assert server.wait() == 0


def test_a_second_signal_ends_the_delay(tmp_path):
    with Server(tmp_path, "--drain-delay", "300") as server:
        server.setup_code
        server.terminate()
        server.wait_for_line(r"(Stopping in 300 seconds)")
        server.terminate()
        assert server.wait() == 0


def test_idle_connections_do_not_delay_a_stop(server):
    with connect(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        assert read_answer(connection) == (200, b"ok\n")
        before = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - before < 8


def test_slow_clients_do_not_block_others(server):
    """Clients that send headers a byte at a time are disconnected; others are served."""
    begun = time.monotonic()
    slow = [connect(server) for _ in range(200)]
    for connection in slow:
        connection.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
    cut = set()
    while len(cut) < len(slow):
        assert time.monotonic() - begun < 60, f"only {len(cut)} were disconnected"
        assert httpx.get(server.url + "/healthz").elapsed.total_seconds() < 5
        for number, connection in enumerate(slow):
            if number in cut:
                continue
            try:
                connection.sendall(b"a")
            except OSError:
                cut.add(number)
        time.sleep(0.3)
    assert time.monotonic() - begun > 5
    for connection in slow:
        connection.close()
    assert server.stop() == 0


def test_writes_before_a_stop_are_preserved(server, tmp_path):
    from support.pages import Pages

    Pages(server.url).set_up(server.setup_code).create_project("stopped-well")
    assert server.stop() == 0
    with Server(tmp_path) as again:
        pages = Pages(again.url)
        assert pages.sign_in().status_code == 303
        assert pages.get("/projects/stopped-well").status_code == 200
        assert "enter this code" not in again.text
