"""Killing the server while expired removed factors are deleted."""

import time

from support.pages import Pages
from support.program import Server, execute, query, reauthenticate
from support.rest import Api, create_token, ok
from support.waiting import until
from test_bulk import allow_many, begin

USERS = 900
FACTORS = 5
ALL = USERS * FACTORS

REMOVED = "SELECT count(*) FROM removed_factor"
PURGED = "SELECT count(*) FROM audit WHERE action = 'factor.purge'"


def test_a_purge_resumes_after_a_kill_and_audits_each_factor_once(tmp_path):
    with Server(tmp_path) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("long-gone")
        token = create_token(tmp_path, "long-gone", "owner")
        api = Api(server.url, "long-gone", pages.api_key("long-gone"), token)
        api.switch_totp_on(1)
        users = [{
            "localId": f"user-{number}", "email": f"user-{number}@example.com",
            "emailVerified": True,
            "mfaInfo": [{
                "mfaEnrollmentId": f"phone-{number}-{factor}", "displayName": f"phone {factor}",
                "phoneInfo": f"+1555{factor}{number:06}"} for factor in range(FACTORS)],
        } for number in range(USERS)]
        for start in range(0, USERS, 300):
            ok(api.admin("POST", "accounts:batchCreate", {
                "users": users[start:start + 300], "allowOverwrite": True}))
        reauthenticate(tmp_path)
        allow_many(tmp_path)
        begin(pages, "long-gone", [user["email"] for user in users])
        until(lambda: query(tmp_path, "SELECT 1 FROM bulk_job WHERE state = 'done'"),
              "the removal is done", 120)
        assert server.stop() == 0
    assert query(tmp_path, REMOVED)[0][0] == ALL
    assert query(tmp_path, PURGED)[0][0] == 0

    # The removals have expired: the next server deletes them, and is killed meanwhile.
    execute(tmp_path, "UPDATE removed_factor SET until = ?", int(time.time() * 1e6))
    with Server(tmp_path) as server:
        until(lambda: query(tmp_path, REMOVED)[0][0] < ALL, "the purge has begun", 60)
        assert server.kill() == -9
    left = query(tmp_path, REMOVED)[0][0]
    assert 0 < left < ALL, "the purge wasn't interrupted"
    assert query(tmp_path, PURGED)[0][0] == ALL - left

    with Server(tmp_path) as server:
        until(lambda: query(tmp_path, REMOVED)[0][0] == 0, "the purge is done", 150)
        assert query(tmp_path, PURGED)[0][0] == ALL
        once = ("SELECT count(DISTINCT old_value) FROM audit JOIN audit_change USING (audit_id) "
                "WHERE action = 'factor.purge' AND field = 'factors'")
        assert query(tmp_path, once)[0][0] == ALL
        assert server.stop() == 0
