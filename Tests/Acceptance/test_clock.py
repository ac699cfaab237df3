"""A wrong clock deletes nothing. Stored times are changed, or the clock of a server is."""

import sqlite3
import time

import httpx
import pytest

from support.demo import Demo
from support.pages import Pages
from support.program import LONG_AGO, Server, preloaded, reauthenticate, run
from support.waiting import until

DAYS = 400
AHEAD = DAYS * 86_400
BANNER = "The server’s clock may be wrong."


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    """The environment in which a program's clock is 400 days ahead."""
    return {**preloaded(tmp_path_factory.mktemp("clock"), "clock"), "CLOCK_AHEAD": str(AHEAD)}


def counts(database):
    """Returns the number of rows of each table."""
    tables = [name for name, in database.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'account_search%'")]
    return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def move_stored_time(data, seconds):
    """Changes the time at which the server last ran, in seconds from now."""
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
def test_an_untrusted_clock_stops_housekeeping_until_it_is_confirmed(tmp_path, seconds):
    with Server(tmp_path) as server:
        assert server.stop() == 0
    move_stored_time(tmp_path, seconds)
    database = sqlite3.connect(tmp_path / "countersign.sqlite", timeout=30)
    with database:
        database.execute(
            "INSERT INTO throttle (name, failures, blocked_until, expires_at) VALUES ('old', 1, 1, 1)")
    with Server(tmp_path) as server:
        server.wait_for_line(r"(The system clock shows)")
        answer = httpx.get(server.url + "/readyz")
        assert (answer.status_code, answer.text) == (503, "not ready: clock\n")
        assert httpx.get(server.url + "/livez").status_code == 200
        rows = "SELECT count(*) FROM throttle WHERE name = 'old'"
        assert database.execute(rows).fetchone() == (1,)
        confirmed = run("clock", "confirm", "--data", tmp_path)
        assert confirmed.returncode == 0, confirmed.stderr
        until(lambda: httpx.get(server.url + "/readyz").status_code == 200, "the clock is trusted")
        server.wait_for_line(r"(The clock is trusted again)")
        assert database.execute(
            "SELECT actor_kind FROM audit WHERE action = 'instance.confirm-clock'").fetchall() == [
                ("command line",)]
        assert server.stop() == 0
    with Server(tmp_path):
        until(lambda: database.execute(rows).fetchone() == (0,), "housekeeping resumes")
    database.close()


def test_a_server_without_its_keys_is_not_ready(tmp_path):
    with Server(tmp_path) as server:
        (tmp_path / "master.key").rename(tmp_path / "elsewhere")
        until(lambda: httpx.get(server.url + "/readyz").text == "not ready: keys\n", "it's updated")
        (tmp_path / "elsewhere").rename(tmp_path / "master.key")
        until(lambda: httpx.get(server.url + "/readyz").text == "ready\n", "it's updated")


def signed_in(server, person):
    """Signs a person in with an authenticator app that shows the server's time."""
    pages = Pages(server.url)
    assert pages.sign_in(person.email, person.password).status_code == 303
    if person.totp:
        answer = pages.post("/sign-in/code", {"code": person.totp.at(time.time() + AHEAD)})
        assert answer.status_code == 303, answer.text
    return pages


@pytest.mark.parametrize("way", ["console", "command line"])
def test_a_clock_400_days_ahead_deletes_nothing_until_confirmed(
        tmp_path, ahead, way):
    with Demo(tmp_path) as demo:
        owner, support = demo.owner, demo.person("support", of="")
        assert demo.server.stop() == 0
    database = sqlite3.connect(tmp_path / "countersign.sqlite", timeout=30)
    before = counts(database)

    def tables_with_deletions():
        now = counts(database)
        return sorted(name for name, count in before.items() if now[name] < count)

    with Server(tmp_path, env=ahead) as server:
        server.wait_for_line(r"(The system clock shows .* long after )")
        answer = httpx.get(server.url + "/readyz")
        assert (answer.status_code, answer.text) == (503, "not ready: clock\n")
        pages, agent = signed_in(server, owner), signed_in(server, support)
        for path in ("/", "/account", "/guidance"):
            assert BANNER in pages.get(path).text and BANNER in agent.get(path).text
        home = pages.get("/").text.split('id="attention"')[1]
        assert BANNER in home
        assert "Ask an owner to confirm the time." in agent.get("/").text
        assert agent.get("/clock").status_code == 403
        page = pages.get("/clock").text
        assert f"{DAYS} days ahead" in page
        assert tables_with_deletions() == []
        if way == "console":
            reauthenticate(tmp_path, ago=LONG_AGO)
            refused = pages.post("/clock", {"code": person_code(owner, real=True)})
            assert refused.status_code == 422 and tables_with_deletions() == []
            done = pages.post("/clock", {"code": person_code(owner)})
            assert done.headers["location"] == "/clock"
            assert "Time confirmed" in pages.get("/clock").text
        else:
            confirmed = run("clock", "confirm", "--data", tmp_path, env=ahead)
            assert confirmed.returncode == 0, confirmed.stderr
        until(lambda: httpx.get(server.url + "/readyz").status_code == 200, "the clock is trusted")
        server.wait_for_line(r"(The clock is trusted again)")
        until(tables_with_deletions, "expired data is deleted")
        assert BANNER not in pages.get("/").text
        kinds = database.execute(
            "SELECT actor_kind FROM audit WHERE action = 'instance.confirm-clock'").fetchall()
        assert kinds == [("administrator" if way == "console" else "command line",)]
        assert server.stop() == 0
    database.close()


def person_code(person, real=False):
    """Returns the code of the next interval, by the server's clock or the real one."""
    return person.totp.at(time.time() + 30 + (0 if real else AHEAD))
