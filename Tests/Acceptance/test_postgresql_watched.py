"""What operators learn about a database on a PostgreSQL server: slow statements, waits, and settings."""

import json
import os
import re
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
    # They wait for the one that locked the table, which says so while it has it.
    assert any(blocker["application"] == "psql" for event in slow for blocker in event["blockers"])
    # One line for each, however many wait.
    assert len({event["statement"] for event in slow}) == len(slow)
    assert len({event["kind"] for event in waited}) == len(waited)
    assert "Secret Name" not in server.text and "user-1" not in server.text


def test_a_transaction_that_keeps_the_audit_log_from_being_sealed_is_named(tmp_path):
    """A transaction of a person that touched the log, and that nobody ends."""
    DATABASES.add(tmp_path)
    file = tmp_path / "audit.jsonl"
    with Server(tmp_path, "--metrics-listen", "127.0.0.1:0", "--audit-file", file,
                "--log-format", "json") as server:
        metrics = server.wait_for_line(r'Metrics: ([^\s"]+)')
        pages = Pages(server.url).set_up(server.setup_code)
        until(lambda: query(tmp_path, "SELECT count(*) FROM audit WHERE audit_id > "
                                      "(SELECT max(audit_id) FROM audit_link)") == [(0,)], "all is sealed")
        idle = subprocess.Popen(
            [PROGRAMS / "psql", "-Xq", DATABASES.address(tmp_path)], stdin=subprocess.PIPE, text=True,
            env={**os.environ, "PGAPPNAME": "pgAdmin of Sam"})
        try:
            idle.stdin.write("BEGIN; UPDATE audit SET note = note WHERE audit_id = 0;\n")
            idle.stdin.flush()
            holders = ("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgAdmin of Sam' "
                       "AND state = 'idle in transaction'")
            until(lambda: query(tmp_path, holders) == [(1,)], "it's idle")
            pages.create_project("not-sealed")

            def lag(name):
                return float(re.search(rf"^{name} (\S+)$", httpx.get(metrics).text, re.M).group(1))
            until(lambda: lag("countersign_audit_file_lag_seconds") > 20, "the file is late", 60)
            assert lag("countersign_audit_unsealed_seconds") > 20
            server.wait_for_line(r'("event":"audit.not_sealed".*"application":"pgAdmin of Sam")', 120)
            examined = run("doctor", "--data", tmp_path, "--assets", ROOT, "--json", "--audit-file", file)
            [found] = [one for one in json.loads(examined.stdout) if one["check"] == "audit-log"]
            assert found["severity"] == "error" and "(pgAdmin of Sam)" in found["message"]
        finally:
            idle.stdin.close()
            idle.wait(30)
        server.wait_for_line(r'("event":"audit.sealed")')
        until(lambda: lag("countersign_audit_file_lag_seconds") == 0, "the file has it")
        assert "not-sealed" in file.read_text()


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
        for answer in (api.client(":signUp", {"email": "eve@example.com", "password": "bright-swordfish"}),
                       api.admin("POST", "accounts", {"localId": "eve"}), pages.get("/projects"),
                       httpx.get(f"{server.url}/static/countersign.css")):
            assert answer.status_code == 503, answer.text
        assert httpx.get(f"{server.url}/readyz").text == "not ready: version\n"
        assert httpx.get(f"{server.url}/livez").status_code == 200
        until(lambda: "countersign_tasks_held 0\n" in httpx.get(metrics).text, "the tasks stop")
        until(lambda: query(tmp_path, "SELECT 1 FROM lease WHERE name = 'tasks' AND holder <> ''") == [],
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
