"""A wrong clock deletes nothing: stored times are moved, since the machine's clock can't be."""

import sqlite3
import time

import httpx
import pytest

from support.program import Server, run
from support.waiting import until


def move_stored_time(data, seconds):
    """As if the server had last run so many seconds from now."""
    database = sqlite3.connect(data / "countersign.sqlite", timeout=30)
    with database:
        database.execute(
            "INSERT OR REPLACE INTO instance (name, value) VALUES ('clock_seen_at', ?)",
            (str(int((time.time() + seconds) * 1e6)),))
    database.close()


def test_a_healthy_server_is_live_and_ready(tmp_path):
    with Server(tmp_path) as server:
        for path, text in (("/livez", "ok\n"), ("/readyz", "ready\n"), ("/healthz", "ok\n")):
            answer = httpx.get(server.url + path)
            assert (answer.status_code, answer.text) == (200, text)
            assert answer.headers["cache-control"] == "no-store"
            assert httpx.post(server.url + path).status_code == 405


@pytest.mark.parametrize("seconds", [-400 * 86_400, 2 * 3_600])
def test_a_doubted_clock_stops_housekeeping_until_it_is_confirmed(tmp_path, seconds):
    with Server(tmp_path) as server:
        assert server.stop() == 0
    move_stored_time(tmp_path, seconds)
    database = sqlite3.connect(tmp_path / "countersign.sqlite", timeout=30)
    with database:
        database.execute(
            "INSERT INTO throttle (name, failures, blocked_until, expires_at) VALUES ('old', 1, 1, 1)")
    with Server(tmp_path) as server:
        server.said(r"(The clock shows)")
        answer = httpx.get(server.url + "/readyz")
        assert (answer.status_code, answer.text) == (503, "not ready: clock\n")
        assert httpx.get(server.url + "/livez").status_code == 200
        rows = "SELECT count(*) FROM throttle WHERE name = 'old'"
        assert database.execute(rows).fetchone() == (1,)
        confirmed = run("clock", "confirm", "--data", tmp_path)
        assert confirmed.returncode == 0, confirmed.stderr
        until(lambda: httpx.get(server.url + "/readyz").status_code == 200, "the clock is trusted")
        server.said(r"(The clock is trusted again)")
        assert database.execute(
            "SELECT actor_kind FROM audit WHERE action = 'instance.confirm-clock'").fetchall() == [
                ("command line",)]
        assert server.stop() == 0
    with Server(tmp_path):
        until(lambda: database.execute(rows).fetchone() == (0,), "housekeeping goes on")
    database.close()


def test_keys_that_are_gone_make_a_server_unready(tmp_path):
    with Server(tmp_path) as server:
        (tmp_path / "master.key").rename(tmp_path / "elsewhere")
        until(lambda: httpx.get(server.url + "/readyz").text == "not ready: keys\n", "it says so")
        (tmp_path / "elsewhere").rename(tmp_path / "master.key")
        until(lambda: httpx.get(server.url + "/readyz").text == "ready\n", "it says so")
