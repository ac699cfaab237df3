"""Bulk removals: after a crash, with a second administrator, and alongside other requests."""

import csv
import io
import re

import httpx

from support.pages import Pages
from support.program import Server, execute, query, reauthenticate
from support.rest import Api, create_token, ok
from support.waiting import until

USERS = 1500


def uid(number):
    return f"user-{number}"


def fill(api, count):
    """Imports users with one second factor each."""
    api.switch_totp_on(1)
    users = [{
        "localId": uid(number), "email": f"{uid(number)}@example.com", "emailVerified": True,
        "mfaInfo": [{
            "mfaEnrollmentId": f"app-{number}", "displayName": "phone",
            "phoneInfo": f"+1555{number:07}"}],
    } for number in range(count)]
    for start in range(0, count, 500):
        answer = ok(api.admin("POST", "accounts:batchCreate", {
            "users": users[start:start + 500], "allowOverwrite": True}))
        assert not answer.get("error"), answer


def allow_many(data):
    """Raises the hourly action limit of the only pool to 1,000."""
    execute(data, "INSERT INTO support_rules (scope_key, code_cap,"
            " undo_hours, code_attempt_days, temporary_codes, recovery_codes,"
            " identity_proof, actions_per_hour, approval_over_users,"
            " approval_for_last_factor) VALUES ((SELECT min(scope_key) FROM scope),"
            " 10, 72, 90, 0, 0, '', 1000, NULL, 0)"
            " ON CONFLICT (scope_key) DO UPDATE SET actions_per_hour = 1000")


def results(pages, job):
    """Returns the lines of a removal's result file."""
    text = pages.get(f"{job}/result.csv").content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def begin(pages, project, lines, **answers):
    """Submits a list and runs the removal; returns its path."""
    removals = f"/projects/{project}/bulk-removals"
    answer = pages.post(removals, {"list": "\r\n".join(lines)})
    assert answer.status_code == 303, answer.text
    job = answer.headers["location"]
    answer = pages.post(job, {"reason": "lost", "ticket": "HD-1", **answers})
    assert answer.status_code == 303, re.findall(r'error">([^<]+)', answer.text)
    return job


def test_a_removal_resumes_after_a_kill_and_repeats_nothing(tmp_path):
    lines = [f"{uid(number)}@example.com" for number in range(USERS)]
    with Server(tmp_path) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("office-theft")
        token = create_token(tmp_path, "office-theft", "owner")
        fill(Api(server.url, "office-theft", pages.api_key("office-theft"), token), USERS)
        reauthenticate(tmp_path)
        allow_many(tmp_path)
        # Over the hourly action limit, so a second administrator has to approve.
        answer = pages.post("/projects/office-theft/bulk-removals", {"list": "\n".join(lines)})
        job = answer.headers["location"]
        assert pages.post(job, {"reason": "lost"}).status_code == 303
        assert "pending approval" in pages.get(job).text
        small = begin(pages, "office-theft", lines[:900])
        until(lambda: int(query(tmp_path, "SELECT sum(users_done) FROM bulk_job")[0][0]) > 100,
              "a hundred users are done", 60)
        assert server.kill() == -9

    done = query(tmp_path, "SELECT users_done, state FROM bulk_job WHERE state = 'running'")
    assert len(done) == 1 and 100 < done[0][0] < 900
    counts = {
        "removed": "SELECT count(*) FROM bulk_item WHERE result = 'removed'",
        "log": "SELECT count(*) FROM audit WHERE action = 'factor.remove-all'",
        "mails": "SELECT count(*) FROM outbox WHERE purpose LIKE 'notice-factors-removed%'",
        "left": f"SELECT {USERS} - count(*) FROM factor",
    }
    half = {name: query(tmp_path, sql)[0][0] for name, sql in counts.items()}
    assert set(half.values()) == {done[0][0]}

    with Server(tmp_path) as server:
        pages.url = pages.origin = server.url
        pages.http = httpx.Client(base_url=server.url, timeout=60, cookies=pages.http.cookies)
        until(lambda: query(tmp_path, "SELECT 1 FROM bulk_job WHERE state = 'done'"),
              "the removal is done", 120)
        assert {name: query(tmp_path, sql)[0][0] for name, sql in counts.items()} == dict.fromkeys(
            counts, 900)
        assert "Refresh" not in pages.get(small).headers
        assert {line["Result"] for line in results(pages, small)} == {"removed 1 factor"}
        # The first removal is still pending; users without factors are listed in a preview.
        reauthenticate(tmp_path)
        again = pages.post("/projects/office-theft/bulk-removals", {"list": "\n".join(lines[:3])})
        assert "No users to act on" in pages.get(again.headers["location"]).text
        assert server.stop() == 0


def test_a_form_with_ten_thousand_lines_is_accepted(tmp_path):
    with Server(tmp_path) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("office-theft")
        lines = [f"somebody.with.a.long.name.{number}@subsidiary.example.com,{'x' * 150}"
                 for number in range(10_000)]
        body = "\r\n".join(lines)
        assert len(body) > 1 << 20
        answer = pages.post("/projects/office-theft/bulk-removals", {"list": body})
        assert answer.status_code == 303
        page = pages.get(answer.headers["location"])
        assert "Not found (10,000)" in page.text and len(page.content) < 100_000
        answer = pages.post("/projects/office-theft/bulk-removals", {"list": body + "\r\none more"})
        assert answer.status_code == 422 and "at most 10,000 lines" in answer.text
        # Other forms of this size are refused.
        answer = pages.post("/projects/new", {"id": "x" * (2 << 20), "name": "x"})
        assert answer.status_code == 413
        assert server.stop() == 0
