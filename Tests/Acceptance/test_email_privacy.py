"""Email enumeration protection: responses don't reveal which addresses have an account."""

import time

import pytest

from support.program import Server, execute
from support.rest import ok

KNOWN = [f"known-{n}@example.com" for n in range(9)]
UNKNOWN = [f"nobody{n}@example.com" for n in range(9)]


@pytest.fixture
def pool(api):
    """A project with email enumeration protection; all addresses have the same length."""
    ok(api.admin("PATCH", "config", {"emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}},
                 version="v2", params={"updateMask": "emailPrivacyConfig"}))
    for email in KNOWN:
        ok(api.admin("POST", "accounts", {
            "email": email, "password": "bright-swordfish", "emailVerified": True}))
    return api


QUESTIONS = {
    "signInWithPassword": lambda email: {
        "email": email, "password": "not this one", "returnSecureToken": True},
    "sendOobCode": lambda email: {"requestType": "PASSWORD_RESET", "email": email},
    "createAuthUri": lambda email: {"identifier": email, "continueUri": "http://localhost/"},
    "signInWithEmailLink": lambda email: {"email": email, "oobCode": "not a code"},
    "resetPassword": lambda email: {"email": email, "oobCode": "not a code"},
}


def ask(api, method, email):
    begun = time.perf_counter()
    answer = api.http.post(
        f"/v1/accounts:{method}", params={"key": api.key}, json=QUESTIONS[method](email))
    assert answer.status_code in (200, 400), answer.text
    return answer, time.perf_counter() - begun


def visible_parts(answer, email):
    """Returns the visible parts of a response, without the request's own and random values."""
    text = answer.text.replace(email, "<email>")
    body = answer.json()
    if "sessionId" in body:
        text = text.replace(body["sessionId"], "<sessionId>")
    fields = sorted(name for name in answer.headers if name not in ("date", "content-length"))
    return answer.status_code, text, fields


@pytest.mark.parametrize("method", QUESTIONS)
def test_v12_known_and_unknown_addresses_get_the_same_response(pool, method):
    ask(pool, method, "warm@example.com")
    times, answers = {True: [], False: []}, set()
    # Other load on the machine only adds time, so the fastest of each is its cost; more rounds don't
    # hide a difference.
    for _ in range(4):
        # Wrong passwords of other rounds and tests would count, and block sign-ins from the network.
        execute(Server.folders[pool.url], "DELETE FROM throttle")
        for known, unknown in zip(KNOWN, UNKNOWN):
            for email in (known, unknown):
                answer, seconds = ask(pool, method, email)
                answers.add(str(visible_parts(answer, email)))
                times[email == known].append(seconds)
        known, unknown = min(times[True]), min(times[False])
        # A hash or a write on one side only would take many times as long.
        if max(known, unknown) < 3 * min(known, unknown) + 0.004:
            break
    else:
        raise AssertionError((known, unknown))
    assert len(answers) == 1, answers


def test_a_wrong_password_costs_a_hash_for_any_address(pool):
    """Checks the absolute work, not only the comparison."""
    costs = []
    for email in (KNOWN[0], UNKNOWN[0]):
        costs.append(min(ask(pool, "signInWithPassword", email)[1] for _ in range(3)))
    # Other load only adds time, so that one of many is fast.
    cheap = min(ask(pool, "createAuthUri", KNOWN[1])[1] for _ in range(30))
    assert min(costs) > 2 * cheap, (costs, cheap)


def test_a_requested_link_is_sent_to_existing_accounts_only(pool, owner):
    """The responses are the same; the messages aren't."""
    for email in (KNOWN[0], UNKNOWN[0]):
        assert ok(ask(pool, "sendOobCode", email)[0])["email"] == email
    outbox = owner.get(f"/projects/{pool.project}/messages").text
    assert KNOWN[0] in outbox and UNKNOWN[0] not in outbox


def test_without_email_enumeration_protection_errors_differ(pool):
    ok(pool.admin("PATCH", "config", {"emailPrivacyConfig": {"enableImprovedEmailPrivacy": False}},
                  version="v2", params={"updateMask": "emailPrivacyConfig"}))
    words = [ask(pool, "signInWithPassword", email)[0].json()["error"]["message"]
             for email in (KNOWN[0], UNKNOWN[0])]
    assert words == ["INVALID_PASSWORD", "EMAIL_NOT_FOUND"]
