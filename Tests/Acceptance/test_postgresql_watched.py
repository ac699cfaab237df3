"""What operators learn about a database on a PostgreSQL server: slow statements, waits, and settings."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx

from support.pages import Pages
from support.postgresql import PROGRAMS, PostgreSQL
from support.program import DATABASES, ROOT, Server, create_instance, execute, query, run
from support.rest import Api, create_token, ok
from support.waiting import until


def test_a_lock_of_a_table_is_logged_with_the_statements_that_wait_for_it(tmp_path):
    data = tmp_path
    DATABASES.add(data)
    with Server(data, "--log-format", "json") as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("locked-app")
        token = create_token(data, "locked-app", "owner")
        api = Api(server.url, "locked-app", pages.api_key("locked-app"), token)
        lock = subprocess.Popen(
            [PROGRAMS / "psql", "-Xq", "-c", "BEGIN; LOCK TABLE account; SELECT pg_sleep(6)",
             DATABASES.address(data)], stdout=subprocess.DEVNULL)
        until(lambda: DATABASES.execute(
            data, "SELECT 1 FROM pg_locks WHERE relation = 'account'::regclass "
                  "AND mode = 'AccessExclusiveLock' AND granted"), "the table is locked")
        # More than there are connections for writes.
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda number: api.admin(
                "POST", "accounts", {"localId": f"user-{number}", "displayName": "Secret Name"}), range(20)))
        lock.wait(30)
        assert {answer.status_code for answer in answers} == {200}
        events = [json.loads(line) for line in server.output if line.startswith("{")]
    slow = [event for event in events if event["event"] == "database.slow"]
    waited = [event for event in events if event["event"] == "database.waited"]
    assert any("account" in event["statement"] for event in slow), events
    assert "write" in {event["kind"] for event in waited}
    assert all(event["ms"] >= 1000 and event["level"] == "warning" for event in slow + waited)
    # One line for each, however many wait.
    assert len({event["statement"] for event in slow}) == len(slow)
    assert len({event["kind"] for event in waited}) == len(waited)
    assert "Secret Name" not in server.text and "user-1" not in server.text


def test_a_node_whose_program_is_too_old_for_the_database_does_not_use_it(tmp_path):
    """A node of a newer version migrates the database while this one serves."""
    DATABASES.add(tmp_path)
    with Server(tmp_path, "--metrics-listen", "127.0.0.1:0") as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("outdated")
        api = Api(server.url, "outdated", pages.api_key("outdated"),
                  create_token(tmp_path, "outdated", "owner"))
        metrics = server.wait_for_line(r"Metrics: (\S+)")
        [(oldest,)] = query(tmp_path, "SELECT value FROM instance WHERE name = 'oldest_program'")
        execute(tmp_path, "UPDATE instance SET value = '99.0.0' WHERE name = 'oldest_program'")
        # Without anyone who asks for /readyz.
        server.wait_for_line(r"(Not ready: version)")
        before = query(tmp_path, "SELECT (SELECT count(*) FROM audit), (SELECT count(*) FROM account)")
        for answer in (api.client(":signUp", {"email": "eve@example.com", "password": "swordfish"}),
                       api.admin("POST", "accounts", {"localId": "eve"}), pages.get("/projects"),
                       httpx.get(f"{server.url}/static/countersign.css")):
            assert answer.status_code == 503, answer.text
        assert httpx.get(f"{server.url}/readyz").text == "not ready: version\n"
        assert httpx.get(f"{server.url}/livez").status_code == 200
        until(lambda: "countersign_tasks_held 0\n" in httpx.get(metrics).text, "the tasks stop")
        until(lambda: query(tmp_path, "SELECT 1 FROM lease WHERE name = 'tasks'") == [],
              "another node can do the tasks")
        assert query(tmp_path, "SELECT (SELECT count(*) FROM audit), (SELECT count(*) FROM account)"
                     ) == before
        execute(tmp_path, "UPDATE instance SET value = ? WHERE name = 'oldest_program'", oldest)
        until(lambda: httpx.get(f"{server.url}/readyz").text == "ready\n", "it can use the database")
        ok(api.admin("POST", "accounts", {"localId": "eve"}))


def test_doctor_checks_the_settings_of_the_server(tmp_path):
    database = PostgreSQL("max_connections=30", "full_page_writes=off").initialize()
    try:
        database.create("instance")
        DATABASES.put(tmp_path, database.address("instance"))
        create_instance(tmp_path)
        examined = run("doctor", "--data", tmp_path, "--assets", ROOT, "--json")
        found = [finding for finding in json.loads(examined.stdout) if finding["check"] == "server"]
        assert [finding["severity"] for finding in found] == ["warning", "warning", "error"]
        assert "30 connections" in found[0]["message"] and "need 40" in found[0]["message"]
        assert "max_prepared_transactions = 0" in found[1]["message"]
        assert "full_page_writes" in found[2]["message"] and "fsync" not in found[2]["message"]
        assert all("scaling.md" in finding["advice"] for finding in found)
    finally:
        database.remove()
