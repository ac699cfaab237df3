"""SIGHUP: reopening logs and reloading certificates."""

import json
import signal
import socket

import pytest

from support.certificates import flags, make_certificate, served
from support.program import Server
from support.waiting import until

def ask(server, path):
    with socket.create_connection(server.address, 30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        while connection.recv(65536):
            pass


def paths(log):
    return [json.loads(line)["path"] for line in log.read_text().splitlines()] if (
        log.exists()) else []


def test_a_moved_log_is_reopened(tmp_path):
    log, moved = tmp_path / "access.log", tmp_path / "access.log.1"
    log.write_text('{"path":"/before"}\n')
    with Server(tmp_path / "data", "--access-log", str(log)) as server:
        server.setup_code
        ask(server, "/first")
        until(lambda: "/first" in paths(log), "the first request is written")
        log.rename(moved)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(reopened the access log)")
        ask(server, "/second")
        until(lambda: paths(log) == ["/second"], "the second is in the new file")
        assert paths(moved) == ["/before", "/first"]
        assert log.stat().st_mode & 0o007 == 0
        assert server.stop() == 0


def test_sighup_does_not_stop_the_server(tmp_path):
    with Server(tmp_path) as server:
        server.setup_code
        for _ in range(3):
            server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(SIGHUP)")
        ask(server, "/healthz")
        assert server.process.poll() is None
        assert server.stop() == 0


def test_a_renewed_certificate_is_served_without_a_restart(tmp_path):
    former = make_certificate(tmp_path, 90)
    with Server(tmp_path / "data", *flags(tmp_path)) as server:
        server.setup_code
        assert served(server) == former
        renewed = make_certificate(tmp_path, 90)
        assert served(server) == former
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(reloaded the TLS certificate)")
        assert served(server) == renewed
        # An invalid key changes nothing.
        (tmp_path / "key.pem").write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(certificate couldn't be reloaded, .* no private key in \S*/key\.pem)")
        assert served(server) == renewed
        # Neither does a file without a certificate.
        (tmp_path / "certificate.pem").write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(
            r"(certificate couldn't be reloaded, .* no certificate in \S*/certificate\.pem)")
        assert served(server) == renewed
        assert "expire" not in server.text
        assert server.stop() == 0


@pytest.mark.parametrize("days,words", [
    (-1, r"(expired on)"), (5, r"(expires on .*, in \d days)")])
def test_an_expiring_certificate_is_reported_at_startup_and_on_reload(tmp_path, days, words):
    make_certificate(tmp_path, days)
    with Server(tmp_path / "data", *flags(tmp_path)) as server:
        server.wait_for_line(words)
        before = server.text.count("CN=localhost")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.text.count("CN=localhost") > before, "it warns again")
