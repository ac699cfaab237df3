"""Single-use values that reach all nodes at once, behind nginx without sticky sessions.

COUNTERSIGN_RACES is the number of values, 1,000 by default; run more by hand.
"""

import html
import itertools
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.nodes import MARKS, PROJECT, Nodes
from support.program import reauthenticate
from support.rest import ok, refused

pytestmark = [*MARKS, pytest.mark.timeout(3600)]

RACES = int(os.environ.get("COUNTERSIGN_RACES", 1000))
# The parts of the values; an administrator generates the last two kinds, within an hourly limit.
APP, PENDING, RECOVERY, LINKS = (RACES * part // 100 for part in (30, 15, 20, 31))
TEMPORARY, INVITATIONS = min(RACES * 3 // 100, 300), RACES // 100
# How many clients have one at a time, and how often each node gets it.
CLIENTS, EACH = 4, 2
# The wrong codes in a row that lock an account, and how many more are sent.
CAP, WRONG = 5, 1000
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    with Nodes(tmp_path_factory.mktemp("nodes")) as nodes:
        nodes.set_up().allow_email_links()
        nodes.set_cap(100)
        nodes.api.allow_secrets()
        nodes.clients = [httpx.Client(base_url=server.url, timeout=60) for server in nodes.servers]
        with ThreadPoolExecutor(CLIENTS * EACH * Nodes.COUNT) as pool:
            nodes.senders = pool
            yield nodes


def at_all(nodes, requests):
    """Sends each node the requests, all at once; returns the answers."""
    pairs = [(client, request) for request in requests for client in nodes.clients]
    answers = list(nodes.senders.map(lambda pair: pair[1](pair[0]), pairs))
    assert not [answer for answer in answers if answer.status_code >= 500], answers
    return answers


def successes(answers, status=200):
    return sum(answer.status_code == status for answer in answers)


def race(count, one):
    """Runs a number of races, several at a time, each of which has one winner."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        assert list(pool.map(one, range(count))) == [1] * count


def finalize(nodes, first, code):
    body = {"mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}}
    return lambda client: client.post(
        "/v2/accounts/mfaSignIn:finalize", params={"key": nodes.api.key}, json=body)


def race_sign_ins(nodes, name, count, attempts):
    """Sends the pending sign-ins and codes that `attempts` returns for a user's email and app."""
    users = nodes.add_users(name, count)

    def one(number):
        requests = [finalize(nodes, first, code) for first, code in attempts(*users[number])]
        return successes(at_all(nodes, requests))
    race(count, one)


def test_a_code_of_an_app_signs_in_once(nodes):
    def attempts(email, app):
        firsts = [nodes.first_factor(email) for _ in range(EACH)]
        code = app.at(time.time() + 60)
        return [(first, code) for first in firsts]
    race_sign_ins(nodes, "app", APP, attempts)


def test_a_pending_sign_in_is_completed_once(nodes):
    def attempts(email, app):
        first = nodes.first_factor(email)
        return [(first, app.at(time.time() + 30 * step)) for step in range(EACH)]
    race_sign_ins(nodes, "pending", PENDING, attempts)


def test_a_recovery_code_signs_in_once(nodes):
    users = nodes.add_users("recovery", RECOVERY)

    def one(number):
        email, app = users[number]
        session = ok(finalize(nodes, nodes.first_factor(email), app.now())(nodes.clients[0]))
        made = ok(nodes.api.factor("mfaRecoveryCodes:generate", {"idToken": session["idToken"]}))
        code = made["recoveryCodes"][number % 10]
        firsts = [nodes.first_factor(email) for _ in range(EACH)]
        return successes(at_all(nodes, [finalize(nodes, first, code) for first in firsts]))
    race(RECOVERY, one)


def test_a_link_in_an_email_is_used_once(nodes):

    def one(number):
        email = f"link-{number}@example.com"
        body = {"email": email, "oobCode": nodes.link(email)}
        return successes(at_all(nodes, EACH * [lambda client: client.post(
            "/v1/accounts:signInWithEmailLink", params={"key": nodes.api.key}, json=body)]))
    race(LINKS, one)


def code_in(page):
    found = re.search(r'aria-label="code">([^<]+)<', page.text)
    return html.unescape(found.group(1)) if found else None


def test_a_temporary_code_is_shown_by_one_node_and_signs_in_once(nodes):
    reauthenticate(nodes.data)
    for email, _ in nodes.add_users("temporary", TEMPORARY):
        address = f"/projects/{PROJECT}/users/{email.split('@')[0]}/temporary-code"
        created = nodes.owner.post(address, {"reason": "lost", "hours": "1"})
        assert created.status_code == 303, created.text
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in nodes.owner.http.cookies.items())}
        shown = at_all(nodes, EACH * [
            lambda client: client.get(created.headers["location"], headers=headers)])
        assert successes(shown) == len(shown)
        codes = [code for code in map(code_in, shown) if code]
        assert len(codes) == 1
        firsts = [nodes.first_factor(email) for _ in range(EACH)]
        assert successes(
            at_all(nodes, [finalize(nodes, first, codes[0]) for first in firsts])) == 1


def test_an_invitation_is_accepted_once(nodes):
    for number in range(INVITATIONS):
        reauthenticate(nodes.data)
        made = nodes.owner.post("/administrators/new", {
            "email": f"invited-{number}@example.com", "name": "Nina", "role": "auditor",
            "scope": "", "note": "for the tests"}, follow_redirects=True)
        token = re.search(r"/invitation\?token=([\w-]{43})", made.text).group(1)
        browser = nodes.pages()
        csrf = browser.token_of(f"/invitation?token={token}")
        headers = {"Origin": nodes.url, "Cookie": "; ".join(
            f"{k}={v}" for k, v in browser.http.cookies.items())}
        answers = at_all(nodes, [lambda client: client.post(
            "/invitation", headers=headers, data={
                "csrf": csrf, "token": token, "name": "Nina",
                "password": "correct horse battery"})])
        assert successes(answers, 303) == 1, [answer.status_code for answer in answers]


def test_wrong_codes_at_all_nodes_lock_at_the_cap(nodes):
    [(email, app)] = nodes.add_users("guessed", 1)
    nodes.set_cap(CAP)
    right = {app.at(time.time() + 30 * step) for step in range(-15, 25)}
    codes = [code for code in (f"{number:06}" for number in range(10_000)) if code not in right]
    firsts = [nodes.first_factor(email) for _ in range(8)]

    def guess(number):
        client = nodes.clients[number % Nodes.COUNT]
        return finalize(nodes, firsts[number % len(firsts)], codes[number])(client)
    answers = list(nodes.senders.map(guess, range(WRONG)))
    nodes.set_cap(100)
    assert {answer.status_code for answer in answers} == {400}
    words = [answer.json()["error"]["message"].split(" : ")[0] for answer in answers]
    # The last one locks, and says so.
    assert words.count("INVALID_CODE") == CAP - 1, {word: words.count(word) for word in set(words)}
    assert words.count("QUOTA_EXCEEDED") == WRONG - CAP + 1
    counted = nodes.execute(f"""
        SELECT a.wrong_codes, count(*) FROM account a JOIN code_attempt c USING (account_key)
        WHERE a.email = '{email}' AND c.result = 'wrong' GROUP BY 1""")
    assert counted == [[str(CAP), str(CAP)]]
    # For longer than the tests take: until an administrator unlocks them.
    right = finalize(nodes, firsts[0], app.at(time.time() + 60))
    refused(right(nodes.clients[0]), "QUOTA_EXCEEDED")
