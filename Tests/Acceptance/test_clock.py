"""A wrong clock deletes nothing. Stored times are changed, or the clock of a server is."""

import struct
import time

import httpx
import pytest

from support.demo import Demo
from support.pages import Pages
from support.program import (
    DATABASES, LONG_AGO, Server, execute, preloaded, query, reauthenticate, run)
from support.waiting import until

DAYS = 400
AHEAD = DAYS * 86_400
BANNER = "The server’s clock may be wrong."


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    """The environment in which a program's clock is 400 days ahead."""
    return {**preloaded(tmp_path_factory.mktemp("clock"), "clock"), "CLOCK_AHEAD": str(AHEAD)}


def counts(data):
    """Returns the number of rows of each table."""
    tables = query(data, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
                   if DATABASES.has_all else
                   "SELECT name FROM sqlite_schema WHERE type = 'table'"
                   " AND name NOT LIKE 'account_search%'")
    parts = [f"SELECT '{name}' AS name, count(*) AS rows FROM \"{name}\"" for name, in tables]
    return dict(query(data, " UNION ALL ".join(parts)))


def move_stored_time(data, seconds):
    """Changes the time at which the server last ran, in seconds from now."""
    execute(data, "INSERT INTO instance (name, value) VALUES ('clock_seen_at', ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            str(int((time.time() + seconds) * 1e6)))


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
    execute(tmp_path, "INSERT INTO throttle (name, failures, blocked_until, expires_at)"
            " VALUES ('old', 1, 1, 1)")
    with Server(tmp_path) as server:
        server.wait_for_line(r"(The system clock shows)")
        answer = httpx.get(server.url + "/readyz")
        assert (answer.status_code, answer.text) == (200, "ready; warnings: clock\n")
        rows = "SELECT count(*) FROM throttle WHERE name = 'old'"
        assert query(tmp_path, rows) == [(1,)]
        confirmed = run("clock", "confirm", "--data", tmp_path)
        assert confirmed.returncode == 0, confirmed.stderr
        until(lambda: httpx.get(server.url + "/readyz").text == "ready\n", "the clock is trusted")
        server.wait_for_line(r"(The clock is trusted again)")
        assert query(
            tmp_path, "SELECT actor_kind FROM audit WHERE action = 'instance.confirm-clock'") == [
                ("command line",)]
        assert server.stop() == 0
    with Server(tmp_path):
        until(lambda: query(tmp_path, rows) == [(0,)], "housekeeping resumes")


@pytest.mark.skipif(not DATABASES.has_all, reason="a file has the clock of its machine")
def test_a_clock_ten_minutes_ahead_of_the_database_server_is_doubted(tmp_path, ahead):
    with Server(tmp_path) as server:
        assert server.stop() == 0
    env = {**ahead, "CLOCK_AHEAD": "600"}
    with Server(tmp_path, env=env) as server:
        server.wait_for_line(r"(The system clock shows .* long after )")
        answer = httpx.get(server.url + "/readyz")
        assert answer.status_code == 200 and answer.text.startswith("ready; warnings: clock")
        confirmed = run("clock", "confirm", "--data", tmp_path, env=env)
        assert confirmed.returncode == 0, confirmed.stderr
        server.wait_for_line(r"(The clock is trusted again)")


def test_a_clock_that_jumps_while_the_server_runs_is_noticed_and_set_right_at_once(tmp_path):
    file = tmp_path / "ahead"

    def jump(seconds):
        # Not truncated: the server has it in memory.
        with open(file, "r+b" if file.exists() else "wb") as out:
            out.write(struct.pack("=q", seconds))
    jump(0)
    env = {**preloaded(tmp_path, "clock"), "CLOCK_FILE": str(file)}
    with Server(tmp_path / "data", "--metrics-listen", "127.0.0.1:0", env=env) as server:
        metrics = server.wait_for_line(r"Metrics: (\S+)")

        def offset():
            [value] = [line.split()[1] for line in httpx.get(metrics).text.splitlines()
                       if line.startswith("countersign_clock_offset_seconds ")]
            return round(float(value))
        until(lambda: httpx.get(server.url + "/readyz").text == "ready\n", "it's ready")
        for ahead, line in ((59, "ahead by 59.0"), (3, "back by 56.0"), (0, "back by 3.0")):
            jump(ahead)
            server.wait_for_line(f"(The system clock jumped {line} seconds)")
            until(lambda: offset() == ahead, "the metric is the sum")
        # On a database's server, a node that's 50 minutes ahead is doubted.
        ahead = 100 if DATABASES.has_all else 3_000
        jump(ahead)
        until(lambda: offset() == ahead, "it's measured")
        jump(0)
        until(lambda: offset() == 0, "it's set right")
        assert httpx.get(server.url + "/readyz").text == "ready\n"
        assert not any("doubted" in line or "clock shows" in line for line in server.output)


def test_a_server_without_its_key_file_warns(tmp_path):
    with Server(tmp_path) as server:
        (tmp_path / "master.key").rename(tmp_path / "elsewhere")
        until(lambda: httpx.get(server.url + "/readyz").text == "ready; warnings: keys\n",
              "it's updated")
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
    before = counts(tmp_path)

    def tables_with_deletions():
        now = counts(tmp_path)
        return sorted(name for name, count in before.items() if now[name] < count)

    with Server(tmp_path, env=ahead) as server:
        server.wait_for_line(r"(The system clock shows .* long after )")
        answer = httpx.get(server.url + "/readyz")
        assert (answer.status_code, answer.text) == (200, "ready; warnings: clock\n")
        pages, agent = signed_in(server, owner), signed_in(server, support)
        for path in ("/projects", "/account", "/guides"):
            assert BANNER in pages.get(path).text and BANNER in agent.get(path).text
        home = pages.get("/projects").text.split('id="attention"')[1]
        assert BANNER in home
        assert "Confirming the time requires the owner role." in agent.get("/projects").text
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
        # The clock of PostgreSQL's server is still another one.
        trusted = "ready; warnings: clock\n" if DATABASES.has_all else "ready\n"
        until(lambda: httpx.get(server.url + "/readyz").text == trusted, "the clock is trusted")
        server.wait_for_line(r"(The clock is trusted again)")
        until(tables_with_deletions, "expired data is deleted")
        assert BANNER not in pages.get("/projects").text
        kinds = query(
            tmp_path, "SELECT actor_kind FROM audit WHERE action = 'instance.confirm-clock'")
        assert kinds == [("administrator" if way == "console" else "command line",)]
        assert server.stop() == 0


def person_code(person, real=False):
    """Returns the code of the next interval, by the server's clock or the real one."""
    return person.totp.at(time.time() + 30 + (0 if real else AHEAD))
