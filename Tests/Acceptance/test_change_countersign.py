"""Changes of a project of another Countersign, by the forms of the console: one server changes what the other hosts."""

import re

import pytest

from support.connected import ALLOW, PROJECT, Other, connect, history, read_again, wait_for_read
from support.pages import Pages
from support.program import Server, query, reauthenticate
from support.rest import create_token, ok


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A server with a tenant, three of whose users have a phone."""
    other = Other(tmp_path_factory.mktemp("other"), ["east"], 8, 3)
    other.tenant = other.tenants["east"]
    yield other
    other.server.kill()


@pytest.fixture(scope="module")
def server(other, tmp_path_factory):
    """A server that may change the project; nobody needs a code."""
    folder = tmp_path_factory.mktemp("shown")
    with Server(folder / "data", *ALLOW) as server:
        server.owner = Pages(server.url).set_up(server.setup_code)
        token = create_token(other.server.data, PROJECT, "connection-policy")
        added = connect(
            server, PROJECT, token, folder, "--url", other.server.url, *ALLOW, kind="countersign", access="policy")
        assert added.returncode == 0, added.stdout + added.stderr
        assert wait_for_read(server, PROJECT) == "working"
        reauthenticate(server.data)
        server.pool = f"/projects/{PROJECT}/tenants/{other.tenant.tenant}"
        yield server


def submit(server, path, form, page=None):
    answer = server.owner.post(path, form, page)
    assert answer.status_code == 303 and "/changes/" in answer.headers["location"], answer.text
    return server.owner.get(answer.headers["location"]).text


def there(other, uid):
    return ok(other.tenant.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"][0]


def test_totp_is_turned_on_with_intervals_and_a_policy_changed_meanwhile_is_kept(server, other):
    path = f"{server.pool}/policy"
    for intervals, meanwhile, state in ((2, None, "done"), (1, 7, "refused")):
        version = re.search(r'name="version" value="(\d+)"', server.owner.get(path).text)[1]
        if meanwhile:
            other.tenant.switch_totp_on(meanwhile)
        page = submit(server, f"{path}/changes", {
            "version": version, "note": "Start", "totp": "on", "intervals": str(intervals)}, path)
        assert f">{state}</span>" in page
        config = ok(other.tenant.admin("GET", "", version="v2"))["mfaConfig"]
        [entry] = config["providerConfigs"]
        assert entry["state"] == "ENABLED" and (meanwhile or config["state"] == "ENABLED")
        assert entry["totpProviderConfig"] == {"adjacentIntervals": meanwhile or intervals}


def test_the_user_whose_app_is_removed_signs_in_without_it_and_keeps_the_phone(server, other):
    uid, id_token = other.tenant.user("pat@example.com")
    other.tenant.enroll(id_token)
    other.change("east", uid, mfa={"enrollments": [{"phoneInfo": "+15550199", "displayName": "Phone"}]})
    assert len(there(other, uid)["mfaInfo"]) == 2
    assert read_again(server, PROJECT) == "working"
    app = next(factor for factor in there(other, uid)["mfaInfo"] if "totpInfo" in factor)
    page = submit(server, f"{server.pool}/users/{uid}/factors/{app['mfaEnrollmentId']}/removal", {"reason": "lost"})
    assert ">done</span>" in page
    assert [factor["displayName"] for factor in there(other, uid)["mfaInfo"]] == ["Phone"]
    assert ">done</span>" in submit(server, f"{server.pool}/users/{uid}/factors/removal", {"reason": "lost"})
    assert "mfaInfo" not in there(other, uid)
    assert ok(other.tenant.sign_in("pat@example.com"))["idToken"]
    assert history(server, PROJECT, "factor.remove") == history(server, PROJECT, "factor.remove-all") == ["Ada"]
    # The other server tells the user, not this one.
    mails = "SELECT count(*) FROM outbox WHERE purpose LIKE 'notice-%'"
    assert query(server.data, mails) == [(0,)] and query(other.server.data, mails) != [(0,)]


def test_users_are_disabled_and_their_sessions_ended_there(server, other):
    uid, _ = other.tenant.user("kim@example.com")
    session = ok(other.tenant.sign_in("kim@example.com"))
    assert read_again(server, PROJECT) == "working"
    assert ">done</span>" in submit(server, f"{server.pool}/users/{uid}/sessions/end", {"reason": "lost"})
    assert "TOKEN_EXPIRED" in other.tenant.client(":lookup", {"idToken": session["idToken"]}).text
    assert ">done</span>" in submit(server, f"{server.pool}/users/{uid}/disabling", {"reason": "left"})
    assert "USER_DISABLED" in other.tenant.sign_in("kim@example.com").text
    assert ">done</span>" in submit(server, f"{server.pool}/users/{uid}/enabling", {"reason": "mistake"})
    assert ok(other.tenant.sign_in("kim@example.com"))


def test_a_factor_that_appeared_meanwhile_is_not_removed(server, other):
    path = f"{server.pool}/users/east-000/factors/removal"
    server.owner.get(path)
    phones = there(other, "east-000")["mfaInfo"]
    other.change("east", "east-000", mfa={"enrollments": [
        *phones, {"phoneInfo": "+15550177", "displayName": "Second phone"}]})
    page = submit(server, path, {"reason": "lost"})
    assert ">refused</span>" in page and "Second phone" in page
    assert len(there(other, "east-000")["mfaInfo"]) == 2
