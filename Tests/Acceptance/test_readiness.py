"""What /readyz reports about the certificate and about email."""

import signal
import time

import httpx
import pytest

from support.certificates import flags, make_certificate
from support.pages import Pages
from support.program import Server, free_port
from support.rest import Api, create_token, ok
from support.waiting import until


def readiness(server):
    answer = httpx.get(f"{server.url}/readyz", verify=False)
    return answer.status_code, answer.text


@pytest.mark.parametrize("days,expected", [
    (90, (200, "ready\n")), (5, (200, "ready; warnings: certificate\n")),
    (-1, (503, "not ready: certificate\n"))])
def test_the_certificate_in_use_decides(tmp_path, days, expected):
    make_certificate(tmp_path, days)
    with Server(tmp_path / "data", *flags(tmp_path)) as server:
        assert readiness(server) == expected
        # Only SIGHUP makes the server use a renewed one.
        make_certificate(tmp_path, 90)
        assert readiness(server) == expected
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(reloaded the TLS certificate)")
        until(lambda: readiness(server) == (200, "ready\n"), "it's ready")


def test_a_database_file_that_was_moved_or_replaced_is_not_ready(tmp_path):
    with Server(tmp_path / "data") as server:
        file, aside = server.data / "countersign.sqlite", server.data / "aside"
        assert readiness(server) == (200, "ready\n")
        file.rename(aside)
        until(lambda: readiness(server) == (503, "not ready: database\n"), "it isn't ready")
        server.wait_for_line(r"(countersign\.sqlite was deleted, moved, or replaced)")
        file.write_bytes(aside.read_bytes())
        time.sleep(1.5)
        assert readiness(server) == (503, "not ready: database\n")
        file.unlink()
        aside.rename(file)
        until(lambda: readiness(server) == (200, "ready\n"), "it's ready")
        server.wait_for_line(r"(is again the database that the server uses)")


def test_a_mail_server_that_cannot_be_reached_is_a_warning(tmp_path):
    with Server(tmp_path, "--smtp", f"smtp://127.0.0.1:{free_port()}", "--smtp-from",
                "mfa@example.com", "--metrics-listen", "127.0.0.1:0") as server:
        metrics = server.wait_for_line(r"Metrics: (\S+)")
        pages = Pages(server.url)
        pages.set_up(server.setup_code)
        pages.create_project("warned")
        api = Api(server.url, "warned", pages.api_key("warned"),
                  create_token(server.data, "warned", "owner"))
        api.user("eve@example.com")
        assert readiness(server) == (200, "ready\n")
        ok(api.client(":sendOobCode", {"requestType": "PASSWORD_RESET", "email": "eve@example.com"}))
        until(lambda: readiness(server) == (200, "ready; warnings: mail\n"), "it warns")
        text = httpx.get(metrics).text
        assert 'countersign_check_warning{check="mail"} 1\n' in text
        assert "countersign_mail_queued 1\n" in text and "countersign_ready 1\n" in text
