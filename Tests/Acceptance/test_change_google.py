"""Changes of a project of Identity Platform, by the forms of the console: against a double of Google."""

import re

import pytest

from support.connected import connect, history, read_again, wait_for_read
from support.google import POLICY, Google
from support.google_answers import PROJECT, authenticator, phone, totp, user
from support.pages import Pages
from support.program import Server, execute, query, reauthenticate
from support.waiting import until

TENANT = "shop-ab001"
APP, PHONE = authenticator(), phone()
PAGE = f"/projects/{PROJECT}/users/anna"


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    with Google(tmp_path_factory.mktemp("google")) as google:
        google.key = google.add_key(google.add_account("changer", POLICY))
        yield google


@pytest.fixture
def google(double):
    """A project with a user who has an authenticator app and a phone, and a tenant."""
    double.reset()
    for account in double.accounts.values():
        account.permissions[:] = POLICY
    double.mfa = totp(3)
    double.add_users(user("anna", factors=[APP, PHONE]), user("ben"))
    double.add_tenant(TENANT, totp(5, state="DISABLED", outer="DISABLED"))
    return double


@pytest.fixture
def server(google, tmp_path):
    """A server that may change the project and has read it; nobody needs a code."""
    with Server(tmp_path / "data", *google.flags) as server:
        added = connect(server, PROJECT, google.key, tmp_path, *google.flags, access="policy")
        assert added.returncode == 0, added.stdout + added.stderr
        assert wait_for_read(server, PROJECT) == "working"
        server.owner = Pages(server.url).set_up(server.setup_code)
        reauthenticate(server.data)
        google.changes.clear()
        yield server


def intents(server):
    return query(server.data, "SELECT state, coalesce(cause, '') FROM intent ORDER BY intent_id")


def submit(server, path, form, page=None):
    """Submits a form, and returns the page of the change."""
    answer = server.owner.post(path, form, page)
    assert answer.status_code == 303 and "/changes/" in answer.headers["location"], answer.text
    return server.owner.get(answer.headers["location"]).text


def change_policy(server, pool, before=lambda: None, **form):
    """Submits the form of a policy as it was shown before something."""
    path = f"{pool}/policy"
    version = re.search(r'name="version" value="(\d+)"', server.owner.get(path).text)[1]
    before()
    return submit(server, f"{path}/changes", {"version": version, "note": "Start", **form}, path)


def shown(factor, *members):
    return {name: factor[name] for name in ("mfaEnrollmentId", "displayName", *members) if name in factor}


def test_users_are_changed_with_the_narrowest_calls(google, server):
    page = submit(server, f"{PAGE}/factors/{PHONE['mfaEnrollmentId']}/removal", {"reason": "lost"})
    assert ">done</span>" in page
    assert submit(server, f"{PAGE}/factors/removal", {"reason": "stolen"})
    assert submit(server, f"{PAGE}/disabling", {"reason": "left"})
    assert submit(server, f"{PAGE}/enabling", {"reason": "mistake"})
    assert submit(server, f"{PAGE}/sessions/end", {"reason": "lost"})
    assert [state for state, _ in intents(server)] == ["done"] * 5
    times = [change.pop("validSince", None) for change in google.changes]
    assert google.changes == [
        {"localId": "anna", "mfa": {"enrollments": [shown(APP, "enrolledAt", "totpInfo")]}},
        {"localId": "anna", "mfa": {"enrollments": []}}, {"localId": "anna", "disableUser": True},
        {"localId": "anna", "disableUser": False}, {"localId": "anna"}]
    assert all(abs(int(time) - google.now()) < 60 for time in times if time) and times[3] is None
    assert history(server, PROJECT, "change.request") == ["Ada"] * 5
    assert history(server, PROJECT, "factor.remove") == history(server, PROJECT, "factor.remove-all") == ["Ada"]
    assert history(server, PROJECT, "account.change") == ["Ada", "Ada"]
    assert history(server, PROJECT, "sessions.end") == ["Ada"]
    # Nothing of it is recorded again as a change there.
    assert read_again(server, PROJECT) == "working"
    assert history(server, PROJECT, "account.change") == ["Ada", "Ada"]


def test_policies_are_changed_with_leaf_masks(google, server):
    for pool in (f"/projects/{PROJECT}", f"/projects/{PROJECT}/tenants/{TENANT}"):
        assert ">done</span>" in change_policy(server, pool, totp="on", intervals="0")
    entry = {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 0}}
    mfa = {"state": "ENABLED", "providerConfigs": [entry]}
    assert google.changes == [{"mfa": mfa}, {"mfaConfig": mfa}]
    masks = [request.query["updateMask"] for request in google.calls("patch")]
    assert masks == ["mfa.state,mfa.providerConfigs", "mfaConfig.state,mfaConfig.providerConfigs"]
    # Google doesn't tell 0 from unset, but it was written here.
    assert read_again(server, PROJECT) == "working"
    assert query(server.data, "SELECT DISTINCT totp_intervals FROM scope WHERE project_id = ?", PROJECT) == [(0,)]


@pytest.mark.parametrize("change", ["factor", "policy"])
def test_nothing_is_sent_if_it_is_no_longer_what_was_seen(google, server, change):
    if change == "factor":
        google.users["anna"]["mfaInfo"].append(authenticator(7, "Tablet"))
        page = submit(server, f"{PAGE}/factors/removal", {"reason": "lost"})
        assert "Tablet" in page
    else:
        page = change_policy(
            server, f"/projects/{PROJECT}", lambda: setattr(google, "mfa", totp(7)), totp="on", intervals="1")
    assert ">refused</span>" in page and google.changes == []
    assert history(server, PROJECT, "change.refuse") == ["Ada"]


def test_a_refusal_changes_nothing_and_all_factors_can_be_removed_instead(google, server):
    google.keeps_apps = False
    page = submit(server, f"{PAGE}/factors/{PHONE['mfaEnrollmentId']}/removal", {"reason": "lost"})
    assert ">refused</span>" in page and f"{PAGE}/factors/removal" in page
    assert len(google.users["anna"]["mfaInfo"]) == 2
    assert ">done</span>" in submit(server, f"{PAGE}/factors/removal", {"reason": "lost"})
    # Without a permission, then beyond a quota.
    for account in google.accounts.values():
        account.permissions[:] = POLICY[:4]
    assert ">refused</span>" in submit(server, f"{PAGE}/disabling", {"reason": "left"})
    for account in google.accounts.values():
        account.permissions[:] = POLICY
    google.fail("update", "error/too-many-requests")
    assert ">refused</span>" in submit(server, f"{PAGE}/disabling", {"reason": "left"})
    assert not google.users["anna"]["disabled"] and len(google.changes) == 1


def test_a_lost_answer_is_read_and_what_stays_unclear_is_unknown(google, server):
    google.lose_answers = True
    number = len(intents(server))
    server.owner.post(f"{PAGE}/factors/{PHONE['mfaEnrollmentId']}/removal", {"reason": "lost"})
    until(lambda: intents(server)[number:] == [("done", "")], "it's read", 60)
    assert len(google.changes) == 1
    google.fail("update", "error/html")
    server.owner.post(f"{PAGE}/disabling", {"reason": "left"})
    until(lambda: [state for state, _ in intents(server)] == ["done", "unknown"], "it's unknown", 90)
    assert len(google.calls("update")) == 2 and len(google.changes) == 1
    assert "It isn’t known" in server.owner.get("/projects").text
    assert history(server, PROJECT, "change.unknown") == ["Ada"]


@pytest.mark.parametrize("step", ["lookup", "update", "carried out"])
def test_a_change_is_sent_once_whenever_the_server_is_killed(google, server, tmp_path, step):
    def kill(*_):
        server.kill()
    if step == "carried out":
        google.after["update"] = lambda body, _: kill() or body
    else:
        google.before[step] = kill
    with pytest.raises(Exception):
        server.owner.post(f"{PAGE}/disabling", {"reason": "left"})
    google.before.clear()
    google.after.clear()
    with Server(server.data, *google.flags) as again:
        ended = {"lookup": "lapsed", "update": "done", "carried out": "done"}[step]
        execute(server.data, "UPDATE intent SET sender_until = 1 WHERE ended_at IS NULL")
        until(lambda: [state for state, _ in intents(again)] == [ended], f"it's {ended}", 90)
        written = [change for change in google.changes if change.get("disableUser")]
        assert len(written) == (step != "lookup") and len(google.calls("update")) == (step != "lookup")
