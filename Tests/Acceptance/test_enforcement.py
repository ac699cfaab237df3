"""Enforcement of mandatory enrollment by the server, set in the console and seen by applications."""

import re

import pytest

from support.mail import MailServer, text_of
from support.program import Server
from support.replay import Conversation
from support.rest import claims, ok
from test_mail import PROJECT, api_of, flags, set_up_project
from test_policy import change

CLAIM = {"enforcement": "claim", "enforced-from": "2020-01-01", "grace": "0"}
CREDENTIALS = {"email": "ada@example.com", "password": "bright-swordfish"}
# The method and body with which each client signs in with a password.
SIGN_INS = {
    "js": ("/v1/accounts:signInWithPassword",
           {"returnSecureToken": True, **CREDENTIALS, "clientType": "CLIENT_TYPE_WEB"}),
    "ios": ("/identitytoolkit/v3/relyingparty/verifyPassword",
            {"returnSecureToken": True, **CREDENTIALS, "clientType": "CLIENT_TYPE_IOS"}),
    "android": ("/v1/accounts:signInWithPassword",
                {**CREDENTIALS, "returnSecureToken": True, "clientType": "CLIENT_TYPE_ANDROID"}),
}


def enrollment_policy(api, token=None):
    pool = f"projects/{api.project}" + (f"/tenants/{api.tenant}" if api.tenant else "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return api.http.get(
        f"/v2/{pool}/enrollmentPolicy", params={"key": api.key}, headers=headers)


@pytest.fixture(params=["project", "tenant"])
def pool(request, api, tenant_api):
    return tenant_api if request.param == "tenant" else api


def test_applications_learn_who_should_have_enrolled(pool, owner):
    address = f"/projects/{pool.project}" + (f"/tenants/{pool.tenant}" if pool.tenant else "")
    pool.switch_totp_on(1)
    _, before = pool.user("ada@example.com")
    assert "countersign" not in claims(before)
    assert ok(enrollment_policy(pool))["enforcement"] == "OFF"
    page = change(owner, address + "/policy", pattern="mandatory", **CLAIM)
    assert "reported by the server" in page
    session = ok(pool.sign_in("ada@example.com"))
    assert claims(session["idToken"])["countersign"] == {"mfa_enrollment_required": True}
    policy = ok(enrollment_policy(pool, session["idToken"]))
    assert policy["enforcement"] == "CLAIM" and policy["user"]["due"] is True
    _, enrolled = pool.enroll(session["idToken"])
    assert "countersign" not in claims(enrolled["idToken"])
    user = ok(enrollment_policy(pool, enrolled["idToken"]))["user"]
    assert user == {"enrolled": True, "due": False}


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """A project that refuses sign-ins, with a session from before, and the mail server."""
    with MailServer() as mail:
        with Server(tmp_path_factory.mktemp("refusing") / "data", *flags(mail.port)) as server:
            owner = set_up_project(server)
            api = api_of(server, owner)
            api.switch_totp_on(1)
            api.user("ada@example.com")
            session = ok(api.sign_in("ada@example.com"))
            page = change(owner, f"/projects/{PROJECT}/policy", pattern="mandatory",
                          **{**CLAIM, "enforcement": "refuse"})
            assert "Users who should have enrolled are refused" in page
            yield api, session, mail


def web_sdk_error(body):
    """Returns the code and message that the web SDK makes of an error whose code it doesn't know.

    Its `packages/auth/src/api/index.ts` splits the message at the first " : ".
    """
    code, _, text = body["error"]["message"].partition(" : ")
    return "auth/" + re.sub(r"[_\s]+", "-", code.lower()), text


@pytest.mark.parametrize("client", SIGN_INS)
def test_each_client_is_refused_with_the_same_error(refusing, client):
    api, _, mail = refusing
    path, body = SIGN_INS[client]
    status, answer = Conversation(api.url).send(
        client, {"request": f"POST {path}?key={api.key}", "body": body})
    assert status == 400
    error = answer["error"]
    assert error["code"] == 400
    assert error["message"].startswith("MFA_ENROLLMENT_REQUIRED : ")
    # The iOS SDK looks at the reasons of a message that it doesn't know.
    assert [each["reason"] for each in error["errors"]] == ["invalid"]
    assert web_sdk_error(answer) == (
        "auth/mfa-enrollment-required",
        "A second factor is required. A link to set it up was sent to the user's verified email"
        " address.")
    link, *_ = mail.received(1)
    assert link["To"].addresses[0].addr_spec == "ada@example.com"
    assert "/__/auth/enroll?" in text_of(link)


def test_a_session_from_before_is_refused_at_its_refresh(refusing):
    api, session, _ = refusing
    status, answer = Conversation(api.url).send("js", {
        "request": f"POST /v1/token?key={api.key}",
        "headers": {"Content-Type": "application/x-www-form-urlencoded"},
        "form": f"grant_type=refresh_token&refresh_token={session['refreshToken']}"})
    assert status == 400
    assert web_sdk_error(answer)[0] == "auth/mfa-enrollment-required"
    # The ID token is valid until it expires.
    looked_up = ok(api.client(":lookup", {"idToken": session["idToken"]}))
    assert looked_up["users"][0]["email"] == "ada@example.com"
