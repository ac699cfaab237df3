"""Single-use values that reach all nodes at once, behind nginx without sticky sessions.

Many values are sent a few times each, and one value of each kind is sent many times. COUNTERSIGN_RACES is
the number of values, 1,000 by default, and how often a single one is sent, 500 by default; run more by hand.
"""

import html
import itertools
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pyotp
import pytest

from support.flood import CONNECTIONS, call, flood, submission, visit
from support.gateway import Gateway
from support.nodes import MARKS, PROJECT, Nodes
from support.program import reauthenticate
from support.provider_console import ALLOW, BEGIN, Site
from support.rest import create_administrator, ok, refused
from test_passkeys import Browser

pytestmark = [*MARKS, pytest.mark.timeout(3600)]

RACES = int(os.environ.get("COUNTERSIGN_RACES", 1000))
COPIES = int(os.environ.get("COUNTERSIGN_RACES", 500))
# The parts of the values.
APP, PENDING, RECOVERY, LINKS, TEMPORARY, INVITATIONS = (
    RACES * part // 100 for part in (30, 15, 20, 31, 3, 1))
# How many sign-ins a single code is sent for, in turn.
SIGN_INS = 48
# How many clients have one at a time, and how often each node gets it.
CLIENTS, EACH = 4, 2
# The wrong codes in a row that lock an account, and how many more are sent.
CAP, WRONG = 5, 1000
# The wrong passwords from one network that lock an email there, for 30 seconds, and how many are sent.
TRIES, GUESSES = 10, 240
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def gateway():
    with Gateway() as gateway:
        yield gateway


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, gateway):
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "sms").write_text("open sesame")
    # Passkeys and the provider need a name.
    with Nodes(folder, *ALLOW, "--sms-url", f"{gateway.url}/sms",
               "--sms-secret-file", folder / "sms", host="localhost") as nodes:
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


FINALIZE = "/v2/accounts/mfaSignIn:finalize"


def second(first, code):
    return {"mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}}


def finalize(nodes, first, code):
    return lambda client: client.post(
        FINALIZE, params={"key": nodes.api.key}, json=second(first, code))


def race_sign_ins(nodes, name, count, attempts):
    """Sends the pending sign-ins and codes that `attempts` returns for a user's email and app."""
    users = nodes.add_users(name, count)

    def one(number):
        requests = [finalize(nodes, first, code) for first, code in attempts(*users[number])]
        return successes(at_all(nodes, requests))
    race(count, one)


def only_code(app):
    """Returns a code of a later time step that no other step the server accepts has as well: it would
    be accepted once for each."""
    steps = [app.at(time.time() + 30 * step) for step in range(-15, 16)]
    return next(code for code in steps[17:] if steps.count(code) == 1)


def test_a_code_of_an_app_signs_in_once(nodes):
    def attempts(email, app):
        firsts = [nodes.first_factor(email) for _ in range(EACH)]
        code = only_code(app)
        return [(first, code) for first in firsts]
    race_sign_ins(nodes, "app", APP, attempts)


def test_a_pending_sign_in_is_completed_once(nodes):
    def attempts(email, app):
        first = nodes.first_factor(email)
        return [(first, app.at(time.time() + 30 * step)) for step in range(EACH)]
    race_sign_ins(nodes, "pending", PENDING, attempts)


def recovery_codes(nodes, email, app):
    session = ok(finalize(nodes, nodes.first_factor(email), app.now())(nodes.clients[0]))
    made = ok(nodes.api.factor("mfaRecoveryCodes:generate", {"idToken": session["idToken"]}))
    return made["recoveryCodes"]


def test_a_recovery_code_signs_in_once(nodes):
    users = nodes.add_users("recovery", RECOVERY)

    def one(number):
        email, app = users[number]
        code = recovery_codes(nodes, email, app)[number % 10]
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


def forget_actions(nodes):
    """Lets an administrator make as many temporary codes as the tests need, despite the hourly limit."""
    nodes.execute("UPDATE support_action SET at = at - 7200000000")


def code_in(page):
    found = re.search(r'aria-label="code">([^<]+)<', page.text)
    return html.unescape(found.group(1)) if found else None


def test_a_temporary_code_is_shown_by_one_node_and_signs_in_once(nodes):
    for number, (email, _) in enumerate(nodes.add_users("temporary", TEMPORARY)):
        if number % 50 == 0:
            reauthenticate(nodes.data)
            forget_actions(nodes)
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
            "place": "*", "note": "for the tests"}, follow_redirects=True)
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


def flooded_sign_ins(nodes, name, make_code):
    """The requests of many sign-ins of a user, all with one code."""
    [(email, app)] = nodes.add_users(name, 1)
    code = make_code(email, app)
    return [call(nodes, FINALIZE, second(nodes.first_factor(email), code))
            for _ in range(SIGN_INS)]


def code_of_an_app(nodes, _):
    return flooded_sign_ins(nodes, "flood-app", lambda email, app: app.at(time.time() + 60))


def recovery_code(nodes, _):
    return flooded_sign_ins(
        nodes, "flood-recovery", lambda email, app: recovery_codes(nodes, email, app)[0])


def temporary_code(nodes, _):
    def create(email, app):
        reauthenticate(nodes.data)
        address = f"/projects/{PROJECT}/users/{email.split('@')[0]}/temporary-code"
        shown = nodes.owner.post(
            address, {"reason": "lost", "hours": "1"}, follow_redirects=True)
        return code_in(shown)
    return flooded_sign_ins(nodes, "flood-temporary", create)


def pending_sign_in(nodes, _):
    [(email, app)] = nodes.add_users("flood-pending", 1)
    first = nodes.first_factor(email)
    return [call(nodes, FINALIZE, second(first, app.at(time.time() + 30 * step)))
            for step in range(-8, 9)]


def pending_enrollment(nodes, _):
    _, id_token = nodes.api.user("flood-enrollment@example.com")
    session = ok(nodes.api.factor("mfaEnrollment:start", {
        "idToken": id_token, "totpEnrollmentInfo": {}}))["totpSessionInfo"]
    return [call(nodes, "/v2/accounts/mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": session["sessionInfo"],
            "verificationCode": pyotp.TOTP(session["sharedSecretKey"]).now()}})]


def link_in_an_email(nodes, _):
    email = "flood-link@example.com"
    return [call(nodes, "/v1/accounts:signInWithEmailLink", {
        "email": email, "oobCode": nodes.link(email)})]


def enrollment_link(nodes, _):
    """The link with which support lets a user set up an app."""
    ok(nodes.api.admin("POST", "accounts", {
        "localId": "flood-lost", "email": "flood-lost@example.com", "emailVerified": True}))
    user = f"/projects/{PROJECT}/users/flood-lost"
    reauthenticate(nodes.data)
    sent = nodes.owner.post(f"{user}/enrollment-link", {"reason": "enrollment"})
    assert sent.status_code == 303, sent.text
    message = re.search(r'href="([^"]*/messages/\d+)"', nodes.owner.get(user).text)[1]
    text = html.unescape(nodes.owner.post(f"{message}/text", {}, page=message).text)
    visitor = nodes.pages()
    page = visitor.get(re.search(r"(/__/auth/enroll\?\S*)", text)[1]).text

    def field(name):
        return html.unescape(re.search(rf'name="{name}" value="([^"]+)"', page)[1])
    code = pyotp.TOTP(re.search(r"secret=([A-Z2-7]{32})", page)[1]).now()
    return [submission(nodes, "/__/auth/enroll", {
        "csrf": field("csrf"), "link": field("link"), "ticket": field("ticket"), "code": code,
        "name": "Phone"}, visitor.http.cookies)]


def code_in_a_text_message(nodes, request):
    gateway = request.getfixturevalue("gateway")
    ok(nodes.api.admin("PATCH", "config", {"signIn": {"phoneNumber": {"enabled": True}}},
                       version="v2", params={"updateMask": "signIn.phoneNumber.enabled"}))
    session = ok(nodes.api.client(":sendVerificationCode", {
        "phoneNumber": "+12025550143", "recaptchaToken": "x"}))["sessionInfo"]
    code = re.search(r"\b\d{6}\b", gateway.messages(1)[0]["text"]).group()
    return [call(nodes, "/v1/accounts:signInWithPhoneNumber", {
        "sessionInfo": session, "code": code})]


def passkey(nodes, request):
    create_administrator(nodes.data, "olga@example.com", "auditor")
    olga = Browser(request.getfixturevalue("chromium"), nodes)
    olga.enter_password("olga@example.com")
    olga.add_passkey("Phone")
    olga.sign_out()
    olga.page.goto("/sign-in/passkey")
    sent = []

    def keep(route):
        if route.request.method != "POST":
            return route.fallback()
        sent.append(route.request.post_data)
        return route.abort()
    olga.page.route("**/sign-in/passkey", keep)
    olga.press("Use passkey")
    while not sent:
        olga.page.wait_for_timeout(20)
    cookies = {one["name"]: one["value"] for one in olga.context.cookies()}
    olga.context.close()
    return [submission(nodes, "/sign-in/passkey", sent[0], cookies)]


FLOODS = [(200, None, make) for make in (
    code_of_an_app, recovery_code, temporary_code, pending_sign_in, pending_enrollment,
    link_in_an_email, code_in_a_text_message)] + [
    (303, "/__/auth/enroll", enrollment_link), (303, "/", passkey)]


@pytest.mark.parametrize("status, location, make", [
    pytest.param(*one, id=one[2].__name__) for one in FLOODS])
def test_one_value_that_all_nodes_get_all_the_time_succeeds_once(
        nodes, request, status, location, make):
    requests = make(nodes, request)
    began = time.monotonic()
    answers = flood(nodes, requests, COPIES)
    print(dict(answers), f"in {time.monotonic() - began:.1f} s")
    assert sum(answers.values()) == COPIES
    won = sum(count for (one, to), count in answers.items()
              if one == status and (to or "").partition("?")[0] == (location or ""))
    assert won == 1, answers
    assert not [one for one, _ in answers if one >= 500], answers


def test_an_answer_of_the_provider_signs_in_once(nodes, provider):
    site = Site(nodes, provider, nodes.owner)
    site.configure()
    eva = site.browser(site.add_person("platform"))
    back = site.provider.authorize(eva.person, eva.leave(BEGIN))
    # As many as there are connections, all at once; later ones are throttled.
    answers = flood(nodes, [visit(nodes, back.removeprefix(nodes.url), eva.http.cookies)],
                    CONNECTIONS * Nodes.COUNT)
    print(dict(answers))
    assert answers[303, "/"] == 1, answers
    [[sessions]] = nodes.execute(f"""
        SELECT count(*) FROM console_session JOIN administrator USING (administrator_id)
        WHERE email LIKE '{eva.name}@%'""")
    assert int(sessions) == 1


def refused_word(answer):
    """Returns the first word of an error's message."""
    assert answer.status_code == 400, answer.text
    return answer.json()["error"]["message"].split(" : ")[0]


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
    words = [refused_word(answer) for answer in answers]
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


def test_wrong_passwords_at_all_nodes_lock_at_the_limit(nodes):
    email = "guessed-password@example.com"
    nodes.api.sign_up(email, "bright-swordfish")
    nodes.execute("DELETE FROM throttle")

    def sign_in(number, password):
        return nodes.clients[number % Nodes.COUNT].post(
            "/v1/accounts:signInWithPassword", params={"key": nodes.api.key},
            json={"email": email, "password": password, "returnSecureToken": True})
    began = time.monotonic()
    answers = list(nodes.senders.map(
        lambda number: sign_in(number, f"guess {number}"), range(GUESSES)))
    right = [sign_in(number, "bright-swordfish") for number in range(Nodes.COUNT)]
    assert time.monotonic() - began < 30, "too slow: another guess was allowed meanwhile"
    words = [refused_word(answer) for answer in answers]
    assert words.count("INVALID_LOGIN_CREDENTIALS") == TRIES, {
        word: words.count(word) for word in set(words)}
    assert words.count("TOO_MANY_ATTEMPTS_TRY_LATER") == GUESSES - TRIES
    assert [refused_word(answer) for answer in right] == ["TOO_MANY_ATTEMPTS_TRY_LATER"] * Nodes.COUNT
    # For the email from this network, and from all.
    counted = nodes.execute("SELECT failures FROM throttle WHERE name LIKE 'email %'")
    assert counted == [[str(TRIES)]] * 2
