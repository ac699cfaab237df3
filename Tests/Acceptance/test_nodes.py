"""The same program several times on one database, behind nginx without sticky sessions."""

import base64
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.mail import MailServer, settled
from support.nodes import MARKS, PROJECT, TAKEOVER, Nodes
from support.program import reauthenticate, run
from support.rest import create_administrator, ok
from support.site import crawl
from support.waiting import until

pytestmark = MARKS


@pytest.fixture(scope="module")
def mail():
    with MailServer() as mail:
        yield mail


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, mail):
    flags = ["--smtp", f"smtp://127.0.0.1:{mail.port}", "--smtp-from", "accounts@example.com",
             "--outbound-allow", "127.0.0.0/8"]
    with Nodes(tmp_path_factory.mktemp("nodes"), *flags) as nodes:
        nodes.set_up().allow_email_links()
        yield nodes


@pytest.fixture(autouse=True, scope="module")
def senders(nodes):
    nodes.clients = {server.url: httpx.Client(base_url=server.url, timeout=60)
                     for server in nodes.servers}
    with ThreadPoolExecutor(16) as pool:
        nodes.senders = pool
        yield


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
    nodes.execute("""
        UPDATE console_session SET last_seen_at = last_seen_at - 7200000000
        WHERE administrator_id = (
          SELECT administrator_id FROM administrator WHERE email = 'otto@example.com')""")
    sent = otto.http.post(
        "/account/preferences", headers={"Origin": nodes.url},
        data={"csrf": token, "zone": "Europe/Vienna", "theme": "dark"})
    assert sent.status_code == 303 and "kept=1" in sent.headers["location"]
    back = otto.post(
        "/sign-in", {"email": "otto@example.com", "password": "correct horse battery"})
    assert back.headers["location"].startswith("/sign-in/answers?form=")
    for _ in nodes.servers:
        assert 'value="Europe/Vienna"' in otto.get("/sign-in/answers").text
    done = otto.post("/account/preferences", {"zone": "Europe/Vienna", "theme": "dark"})
    assert done.status_code == 303
    for _ in nodes.servers:
        assert otto.get("/sign-in/answers").status_code == 303


def test_a_session_ended_on_one_node_is_ended_on_all(nodes):
    owner = nodes.pages()
    create_administrator(nodes.data, "ended@example.com", "auditor")
    assert owner.sign_in("ended@example.com").status_code == 303
    browsers = nodes.at_each(owner)
    assert [browser.get("/account").status_code for browser in browsers] == [200] * 3
    assert browsers[1].post("/sign-out", {}, page="/account").status_code == 303
    assert [browser.get("/account").status_code for browser in browsers] == [303] * 3

    # An owner ends all sessions of an administrator, who has one in each of two browsers.
    create_administrator(nodes.data, "everywhere@example.com", "auditor")
    both = [nodes.pages(), nodes.pages()]
    for one in both:
        assert one.sign_in("everywhere@example.com").status_code == 303
    everywhere = [browser for one in both for browser in nodes.at_each(one)]
    assert {browser.get("/account").status_code for browser in everywhere} == {200}
    [[id]] = nodes.execute(
        "SELECT administrator_id FROM administrator WHERE email = 'everywhere@example.com'")
    reauthenticate(nodes.data)
    ended = nodes.owner.post(f"/administrators/{id}/sessions/removal", {"note": "for the tests"},
                             page=f"/administrators/{id}/sessions")
    assert ended.status_code == 303, ended.text
    assert {browser.get("/account").status_code for browser in everywhere} == {303}


def update(nodes, uid, **changes):
    ok(nodes.api.admin("POST", "accounts:update", {"localId": uid, **changes}))


def end_all(nodes, uid):
    """Ends a user's sessions as support does."""
    reauthenticate(nodes.data)
    path = f"/projects/{PROJECT}/users/{uid}/sessions/end"
    answer = nodes.owner.post(path, {"reason": "lost"})
    assert answer.status_code == 303, answer.text


@pytest.mark.parametrize("end", [
    # What `revokeRefreshTokens` of the Admin SDKs sends.
    lambda nodes, uid: update(nodes, uid, validSince=str(int(time.time()))),
    lambda nodes, uid: update(nodes, uid, disableUser=True), end_all,
], ids=["revoked", "disabled", "ended by support"])
def test_a_users_session_ended_on_one_node_is_ended_on_all(nodes, request, end):
    email = f"ended-{request.node.callspec.indices['end']}@example.com"
    uid, _ = nodes.api.user(email)
    session = ok(nodes.api.sign_in(email))

    def answers():
        """The statuses of each node for the ID token, and then for the refresh token."""
        key = {"key": nodes.api.key}
        return [client.post("/v1/accounts:lookup", params=key, json={
            "idToken": session["idToken"]}).status_code for client in nodes.clients.values()] + [
            client.post("/v1/token", params=key, data={
                "grant_type": "refresh_token", "refresh_token": session["refreshToken"]}).status_code
            for client in nodes.clients.values()]
    assert answers() == [200] * 6
    end(nodes, uid)
    assert answers() == [400] * 6


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


def key_ids(nodes):
    return re.findall(r"countersign-master-key-1 (\w{8}) ", (nodes.data / "master.key").read_text())


def test_keys_rotate_without_refused_tokens(nodes):
    nodes.api.user("signed@example.com")
    refusals, tokens, rotated = [], [], threading.Event()

    def use():
        while not rotated.wait(0.05):
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
    def kinds():
        return {json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))["kid"]
                for token in list(tokens)}
    with ThreadPoolExecutor(3) as pool:
        using = [pool.submit(use) for _ in range(2)]
        try:
            for command in [["keys", "rotate", "--now"], ["keys", "rotate-master"]]:
                before = (nodes.data / "master.key").read_bytes()
                changing = pool.submit(run, *command, "--data", nodes.data, timeout=120)
                if command[1] == "rotate-master":
                    until(lambda: (nodes.data / "master.key").read_bytes() != before, "a new key")
                    new, former = key_ids(nodes)
                    until(lambda: nodes.execute(
                        f"SELECT master_keys FROM node WHERE master_keys = '{former} {new}'") == 2 * [
                            [f"{former} {new}"]], "the nodes of one folder have the key", 30)
                    # The third one has no copy yet, so the key isn't used.
                    assert nodes.execute("SELECT key_id FROM master_key") == [[former]]
                    nodes.copy_key()
                assert changing.result().returncode == 0, changing.result().stderr
                if command[1] == "rotate-master":
                    said = changing.result().stdout
                    assert f"{nodes.copy / 'master.key'} has the new key." in said, said
                    assert nodes.execute(
                        "SELECT key_id FROM master_key ORDER BY first_used_at DESC") == [[new], [former]]
            until(lambda: len(kinds()) == 2, "tokens are signed with the new key", 75)
        finally:
            rotated.set()
        for one in using:
            one.result()
    assert not refusals, refusals[:3]


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


def test_a_node_that_stops_hands_its_tasks_over(nodes):
    before = until(lambda: nodes.holder, "a node has the lease", TAKEOVER)
    for number, server in enumerate(nodes.servers):
        if nodes.holder == before:
            assert server.stop() == 0
            nodes.servers[number] = nodes.start(number)
    until(lambda: nodes.holder not in ([], before), "another node has the lease", 10)
    # A statement that took long may name a column `failed_at`.
    assert not [line for line in nodes.text.splitlines()
                if "failed" in line.lower() and not line.startswith("The database took")]
