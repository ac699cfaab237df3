"""The same program several times on one database, behind nginx without sticky sessions."""

import base64
import html
import itertools
import json
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.mail import MailServer, settled
from support.nodes import Nodes
from support.program import DATABASES, reauthenticate, run
from support.receivers import Receiver, audited
from support.rest import Api, create_administrator, create_token, ok, refused
from support.site import crawl
from support.waiting import until

pytestmark = [
    pytest.mark.skipif(not shutil.which("nginx"), reason="nginx isn't installed"),
    pytest.mark.timeout(600)]

PROJECT = "shared-app"
# How many values are sent to all nodes at once, many times each.
TOTP_RACES, LINK_RACES, CODE_RACES, INVITATION_RACES = 60, 200, 30, 10
COPIES = 6
# The wrong codes in a row that lock an account, and how many more are sent.
CAP, MORE = 5, 200
# A lease of the tasks ends after 15 seconds, and the next task may begin up to 5 seconds later.
TAKEOVER = 40
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def mail():
    with MailServer() as mail:
        yield mail


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, mail):
    flags = ["--smtp", f"smtp://127.0.0.1:{mail.port}", "--smtp-from", "accounts@example.com",
             "--outbound-allow", "127.0.0.0/8"]
    with Nodes(tmp_path_factory.mktemp("nodes"), *flags) as nodes:
        nodes.owner = nodes.pages().set_up(nodes.setup_code)
        nodes.owner.create_project(PROJECT)
        nodes.token = create_token(nodes.data, PROJECT, "owner")
        nodes.api = Api(nodes.url, PROJECT, nodes.owner.api_key(PROJECT), nodes.token)
        nodes.api.switch_totp_on(10)
        ok(nodes.api.admin("PATCH", "config", {"signIn": {"email": {
            "enabled": True, "passwordRequired": False}}}, version="v2",
            params={"updateMask": "signIn.email.enabled,signIn.email.passwordRequired"}))
        set_cap(nodes, 10)
        yield nodes


def set_cap(nodes, cap):
    """Sets after how many wrong codes in a row an account's codes are locked."""
    reauthenticate(nodes.data)
    answer = nodes.owner.post(f"/projects/{PROJECT}/settings/support", {
        "code-cap": str(cap), "undo-hours": "72", "code-attempt-days": "90",
        "actions-per-hour": "1000", "approval-over-users": "", "identity-proof": "",
        "temporary-codes": "on", "recovery-codes": "on"})
    assert answer.status_code == 303, answer.text


@pytest.fixture
def user(nodes):
    """The email address of a user with an authenticator, and that."""
    email = f"user-{next(numbers)}@example.com"
    return email, enrolled(nodes.api, email)


def enrolled(api, email):
    _, id_token = api.user(email)
    return api.enroll(id_token)[0]


def at_all(nodes, request, copies=COPIES):
    """Sends a request to each node, several times at once."""
    urls = [server.url for server in nodes.servers] * (copies // len(nodes.servers))
    return list(nodes.senders.map(lambda url: request(nodes.clients[url], url), urls))


@pytest.fixture(autouse=True, scope="module")
def senders(nodes):
    nodes.clients = {server.url: httpx.Client(base_url=server.url, timeout=60)
                     for server in nodes.servers}
    with ThreadPoolExecutor(16) as pool:
        nodes.senders = pool
        yield


def finalize(api, first, code):
    body = {"mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}}
    return lambda client, _: client.post(
        "/v2/accounts/mfaSignIn:finalize", params={"key": api.key}, json=body)


def successes(answers, status=200):
    assert not [answer for answer in answers if answer.status_code >= 500], answers
    return sum(answer.status_code == status for answer in answers)


def test_the_console_is_toured_and_flashes_are_shown_once(nodes):
    nodes.owner.create_tenant(PROJECT, "acme")
    seen = set()
    for number in range(9):
        theme = ["light", "dark"][number % 2]
        answer = nodes.owner.post("/account/preferences", {"zone": "UTC", "theme": theme})
        assert answer.status_code == 303, answer.text
        page = nodes.owner.get(answer.headers["location"])
        assert "Preferences saved" in page.text
        assert "Preferences saved" not in nodes.owner.get(answer.headers["location"]).text
        seen |= {(answer.headers["x-node"], page.headers["x-node"])}
    assert len(seen) > 1 and any(one != other for one, other in seen)
    visits = crawl(nodes.owner)
    assert len(visits) > 50
    assert not [visit for visit in visits if visit.status >= 400]


def test_a_form_that_outlives_its_session_is_kept(nodes):
    create_administrator(nodes.data, "otto@example.com", "auditor")
    otto = nodes.pages()
    assert otto.sign_in("otto@example.com").status_code == 303
    token = otto.token_of("/account/preferences")
    DATABASES.execute(nodes.data, """
        UPDATE console_session SET last_seen_at = last_seen_at - 7200000000
        WHERE administrator_id = (
          SELECT administrator_id FROM administrator WHERE email = 'otto@example.com')""")
    sent = otto.http.post(
        "/account/preferences", headers={"Origin": nodes.url},
        data={"csrf": token, "zone": "Europe/Vienna", "theme": "dark"})
    assert sent.status_code == 303 and "kept=1" in sent.headers["location"]
    back = otto.post(
        "/sign-in", {"email": "otto@example.com", "password": "correct horse battery"})
    assert back.headers["location"] == "/sign-in/answers"
    for _ in nodes.servers:
        assert 'value="Europe/Vienna"' in otto.get("/sign-in/answers").text
    done = otto.post("/account/preferences", {"zone": "Europe/Vienna", "theme": "dark"})
    assert done.status_code == 303
    for _ in nodes.servers:
        assert otto.get("/sign-in/answers").status_code == 303


def temporary_code(nodes, email):
    """Generates a temporary code; returns the address that shows it once."""
    [user] = ok(nodes.api.admin("POST", "accounts:lookup", {"email": [email]}))["users"]
    reauthenticate(nodes.data)
    created = nodes.owner.post(f"/projects/{PROJECT}/users/{user['localId']}/temporary-code", {
        "reason": "lost", "hours": "1"})
    assert created.status_code == 303, created.text
    return created.headers["location"]


def code_in(page):
    found = re.search(r'aria-label="code">([^<]+)<', page.text)
    return html.unescape(found.group(1)) if found else None


def test_a_generated_code_is_shown_by_one_node_and_signs_in_once(nodes, user):
    email, _ = user
    for _ in range(CODE_RACES):
        address = temporary_code(nodes, email)
        cookies = dict(nodes.owner.http.cookies)
        shown = at_all(nodes, lambda client, _: client.get(address, cookies=cookies))
        assert successes(shown) == COPIES
        codes = [code for code in map(code_in, shown) if code]
        assert len(codes) == 1
        first = ok(nodes.api.sign_in(email))
        assert successes(at_all(nodes, finalize(nodes.api, first, codes[0]))) == 1
        DATABASES.execute(nodes.data, "UPDATE account SET wrong_codes = 0")


def test_a_code_of_an_app_signs_in_once(nodes):

    def race(number):
        email = f"totp-{number}@example.com"
        app = enrolled(nodes.api, email)
        firsts = [ok(nodes.api.sign_in(email)) for _ in range(2)]
        code = app.at(time.time() + 60)
        answers = [answer for first in firsts for answer in at_all(nodes, finalize(nodes.api, first, code))]
        return successes(answers)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(race, range(TOTP_RACES))) == [1] * TOTP_RACES


def test_a_link_in_an_email_is_used_once(nodes):
    nodes.api.user("linked@example.com")

    def race(number):
        email = f"link-{number}@example.com"
        code = ok(nodes.api.admin("POST", "accounts:sendOobCode", {
            "requestType": "EMAIL_SIGNIN", "email": email, "returnOobLink": True,
            "continueUrl": "http://localhost/in"}))["oobCode"]
        return successes(at_all(nodes, lambda client, _: client.post(
            "/v1/accounts:signInWithEmailLink", params={"key": nodes.api.key},
            json={"email": email, "oobCode": code})))
    assert [race(number) for number in range(LINK_RACES)] == [1] * LINK_RACES


def test_an_invitation_is_accepted_once(nodes):
    for number in range(INVITATION_RACES):
        reauthenticate(nodes.data)
        made = nodes.owner.post("/administrators/new", {
            "email": f"invited-{number}@example.com", "name": "Nina", "role": "auditor",
            "scope": "", "note": "for the tests"}, follow_redirects=True)
        token = re.search(r"/invitation\?token=([\w-]{43})", made.text).group(1)
        browser = nodes.pages()
        csrf = browser.token_of(f"/invitation?token={token}")
        cookies = dict(browser.http.cookies)
        answers = at_all(nodes, lambda client, _: client.post(
            "/invitation", headers={"Origin": nodes.url}, cookies=cookies, data={
                "csrf": csrf, "token": token, "name": "Nina",
                "password": "correct horse battery"}), copies=3)
        assert successes(answers, 303) == 1, [answer.status_code for answer in answers]


def test_wrong_codes_at_all_nodes_lock_at_the_cap(nodes, user):
    email, app = user
    set_cap(nodes, CAP)
    right = {app.at(time.time() + 30 * step) for step in range(-15, 16)}
    codes = [code for code in (f"{number:06}" for number in range(10_000)) if code not in right]
    firsts = [ok(nodes.api.sign_in(email)) for _ in range(8)]
    urls = [server.url for server in nodes.servers]

    def guess(number):
        request = finalize(nodes.api, firsts[number % len(firsts)], codes[number])
        return request(nodes.clients[urls[number % len(urls)]], None)
    answers = list(nodes.senders.map(guess, range(CAP + MORE)))
    set_cap(nodes, 10)
    assert successes(answers) == 0
    words = [answer.json()["error"]["message"].split(" : ")[0] for answer in answers]
    # The last one locks, and says so.
    assert words.count("INVALID_CODE") == CAP - 1, {word: words.count(word) for word in set(words)}
    assert words.count("QUOTA_EXCEEDED") == MORE + 1
    counted = DATABASES.execute(nodes.data, f"""
        SELECT a.wrong_codes, count(*) FROM account a JOIN code_attempt c USING (account_key)
        WHERE a.email = '{email}' AND c.result = 'wrong' GROUP BY 1""")
    assert counted == [[str(CAP), str(CAP)]]
    # For longer than the tests take: until an administrator unlocks them.
    refused(at_all(nodes, finalize(nodes.api, firsts[0], app.at(time.time() + 60)))[0], "QUOTA_EXCEEDED")


def test_a_session_ended_on_one_node_is_ended_on_all(nodes):
    owner = nodes.pages()
    create_administrator(nodes.data, "ended@example.com", "auditor")
    assert owner.sign_in("ended@example.com").status_code == 303
    browsers = nodes.at_each(owner)
    assert [browser.get("/account").status_code for browser in browsers] == [200] * 3
    assert browsers[1].post("/sign-out", {}, page="/account").status_code == 303
    assert [browser.get("/account").status_code for browser in browsers] == [303] * 3

    uid, id_token = nodes.api.user("revoked@example.com")

    def lookups():
        return [client.post("/v1/accounts:lookup", params={"key": nodes.api.key},
                            json={"idToken": id_token}).status_code
                for client in nodes.clients.values()]
    assert lookups() == [200] * 3
    ok(nodes.api.admin("POST", "accounts:update", {"localId": uid, "disableUser": True}))
    assert lookups() == [400] * 3


def test_a_policy_changed_on_one_node_is_effective_on_all(nodes):
    _, id_token = nodes.api.user("policy@example.com")

    def starts():
        return [client.post("/v2/accounts/mfaEnrollment:start", params={"key": nodes.api.key},
                            json={"idToken": id_token, "totpEnrollmentInfo": {}}).status_code
                for client in nodes.clients.values()]
    for state, status in [("DISABLED", 400), ("ENABLED", 200)] * 3:
        message = {"providerConfigs": [{
            "state": state, "totpProviderConfig": {"adjacentIntervals": 10}}]}
        ok(nodes.api.admin("PATCH", "config", {"mfa": message}, version="v2",
                           params={"updateMask": "mfa"}))
        assert starts() == [status] * 3


def test_keys_rotate_without_refused_tokens(nodes):
    nodes.api.user("signed@example.com")
    refusals, tokens = [], []

    def use(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            token = ok(nodes.api.sign_in("signed@example.com"))["idToken"]
            tokens.append(token)
            # What no node has signed makes them look for keys, but not too often.
            header = "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vbmUiLCJ0eXAiOiJKV1QifQ"
            forged = ".".join([header, *token.split(".")[1:]])
            for client in nodes.clients.values():
                client.post("/v1/accounts:lookup", params={"key": nodes.api.key},
                            json={"idToken": forged})
                answer = client.post("/v1/accounts:lookup", params={"key": nodes.api.key},
                                     json={"idToken": token})
                if answer.status_code != 200:
                    refusals.append(answer.text)
    with ThreadPoolExecutor(3) as pool:
        using = [pool.submit(use, 75) for _ in range(2)]
        for command in [["keys", "rotate", "--now"], ["keys", "rotate-master"]]:
            before = (nodes.data / "master.key").read_bytes()
            changing = pool.submit(run, *command, "--data", nodes.data, timeout=120)
            if command[1] == "rotate-master":
                until(lambda: (nodes.data / "master.key").read_bytes() != before, "a new key")
                nodes.copy_key()
            assert changing.result().returncode == 0, changing.result().stderr
        for one in using:
            one.result()
    assert not refusals, refusals[:3]
    kinds = {json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))["kid"]
             for token in tokens}
    assert len(kinds) == 2, "no token was signed with the new key"


def test_each_mail_is_sent_once(nodes, mail):
    count, before = 60, len(mail.mails)
    addresses = [f"mail-{number}@example.com" for number in range(count)]
    list(nodes.senders.map(lambda email: ok(nodes.api.admin(
        "POST", "accounts:sendOobCode", {
            "requestType": "EMAIL_SIGNIN", "email": email,
            "continueUrl": "http://localhost/in"})), addresses))
    until(lambda: len(mail.mails) >= before + count, "all mails are sent", 60)
    sent = [message["to"] for message in settled(mail)]
    assert sorted(to for to in sent if to.startswith("mail-")) == sorted(addresses)


def add_stream(nodes, receiver):
    reauthenticate(nodes.data)
    answer = nodes.owner.post("/event-streams/new", {
        "kind": "webhook", "target": receiver.url, "name": "nodes", "start": "next",
        "note": "for the tests"}, follow_redirects=True)
    assert answer.status_code == 200 and "whsec_" in answer.text, answer.text


def schedule(nodes, intervals):
    """Schedules a change of the policy for tomorrow."""
    address = f"/projects/{PROJECT}/policy"
    version = re.search(r'name="version" value="(\d+)"', nodes.owner.get(address).text).group(1)
    reauthenticate(nodes.data)
    tomorrow = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + 86_400))
    answer = nodes.owner.post(address + "/changes", {
        "totp": "on", "intervals": str(intervals), "sms": "off", "pattern": "account", "from": "",
        "version": version, "note": "for the tests", "apply-at": tomorrow}, page=address)
    assert answer.status_code == 303, answer.text


def intervals(nodes):
    config = ok(nodes.api.admin("GET", "config", version="v2"))
    return config["mfa"]["providerConfigs"][0]["totpProviderConfig"].get("adjacentIntervals", 0)


def test_tasks_continue_when_their_node_is_killed(nodes, mail):
    def holder():
        return DATABASES.execute(nodes.data, "SELECT holder FROM lease WHERE name = 'tasks'")

    def work():
        for _ in range(3):
            nodes.owner.create_project(f"project-{next(numbers)}")
        [[entry]] = DATABASES.execute(nodes.data, "SELECT max(audit_id) FROM audit")
        return until(lambda: DATABASES.execute(nodes.data, f"""
            SELECT sequence FROM audit_link WHERE audit_id >= {entry} ORDER BY 1 LIMIT 1"""),
            "the entries are sealed", TAKEOVER)[0][0]

    with Receiver() as receiver:
        add_stream(nodes, receiver)
        first = int(work())
        until(lambda: first in audited(receiver.events()), "the entries are delivered", TAKEOVER)
        schedule(nodes, 3)
        before = holder()
        nodes.servers[0].kill()
        killed = time.monotonic()
        # nginx sends what follows to the others.
        last = int(work())
        until(lambda: last in audited(receiver.events()), "more are delivered", TAKEOVER)
        DATABASES.execute(nodes.data, """
            UPDATE scheduled_change SET apply_at = apply_at - 86400000000 * 2""")
        until(lambda: intervals(nodes) == 3, "the policy is changed", TAKEOVER)
        assert time.monotonic() - killed < TAKEOVER
        assert holder() != before, "the first node didn't do the tasks"
        positions = [e["sequence"] for e in receiver.events() if e["type"] == "audit"]
        assert positions == sorted(set(positions)), "an event was delivered twice, or out of order"
        assert set(range(first, last + 1)) <= set(positions)
        ok(nodes.api.admin("POST", "accounts:sendOobCode", {
            "requestType": "EMAIL_SIGNIN", "email": "after@example.com",
            "continueUrl": "http://localhost/in"}))
        until(lambda: "after@example.com" in [message["to"] for message in mail.mails],
              "the mail is sent", TAKEOVER)
        verified = run("audit", "verify", "--data", nodes.data)
        assert verified.returncode == 0, verified.stdout + verified.stderr
    nodes.servers[0] = nodes.start(0)


def test_a_node_that_stops_hands_its_tasks_over(nodes):
    def holder():
        return DATABASES.execute(nodes.data, "SELECT holder FROM lease WHERE name = 'tasks'")
    before = until(holder, "a node has the lease", TAKEOVER)
    for number, server in enumerate(nodes.servers):
        if holder() == before:
            assert server.stop() == 0
            nodes.servers[number] = nodes.start(number)
    until(lambda: holder() not in ([], before), "another node has the lease", 10)
    # The receiver of another test is gone.
    assert not [line for line in nodes.text.splitlines()
                if "failed" in line.lower() and "Event stream nodes" not in line]
