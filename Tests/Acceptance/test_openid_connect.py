"""Sign-in to the console with a provider of OpenID Connect, which is Debian's glewlwyd."""

import re
import sqlite3
import time
from itertools import count

import pytest
from playwright.sync_api import expect

from support.mail import MailServer, text_of as mail_text
from support.pages import Pages
from support.program import Server, free_port, reauthenticate, reset_sign_ins, run
from support.provider import Provider, needs_glewlwyd, query_of
from support.provider_console import (
    BEGIN, CALLBACK, LOGOUT, SETTINGS, Administrator, assert_refused, assert_signed_in, set_provider,
    text_of)
from support.waiting import until

pytestmark = needs_glewlwyd
numbers = count(1)
EMAIL, PASSWORD = "ada@example.com", "correct horse battery"
ROLES = [("platform", "support"), ("security", "auditor")]


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    with Provider(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


@pytest.fixture
def server(tmp_path, provider):
    """A server on another site than the provider's, which is its client."""
    port = free_port()
    with Server(tmp_path / "data", "--outbound-allow", "127.0.0.0/8", "--public-url",
                f"http://localhost:{port}", listen=f"127.0.0.1:{port}") as server:
        provider.register(server.url)
        yield server


@pytest.fixture
def owner(server):
    return Pages(server.url).set_up(server.setup_code)


@pytest.fixture
def configured(owner, provider):
    """The owner, after setting up the provider with the usual roles."""
    answer = set_provider(owner, provider, ROLES)
    assert answer.status_code == 200, text_of(answer)
    return owner


def new_person(provider, groups=("platform",), email=None, totp=False):
    """Adds a person of this test only to the provider, and returns their name."""
    name = f"person{next(numbers)}"
    provider.add_user(name, f"swordfish {name}", email or f"{name}@example.com", groups, totp)
    return name


def query(server, statement, *values):
    database = sqlite3.connect(f"file:{server.data}/countersign.sqlite?mode=ro", uri=True, timeout=30)
    rows = database.execute(statement, values).fetchall()
    database.close()
    return rows


def administrators(server):
    """Returns the emails of administrators with their roles, as the command line prints them."""
    listed = run("admin", "list", "--data", server.data)
    assert listed.returncode == 0, listed.stderr
    return listed.stdout


def roles_of(server, email):
    return sorted(role for role, in query(
        server, "SELECT role FROM administrator_grant JOIN administrator USING (administrator_id) "
                "WHERE email = ?", email))


def audit(owner):
    return text_of(owner.get("/audit"))


# MARK: Sign-in


def test_a_member_of_a_mapped_group_becomes_an_administrator(server, provider, configured):
    name = new_person(provider, ["platform", "unrelated"])
    eva = Administrator(server, provider, name)
    sent = query_of(eva.leave())
    assert sent["response_type"] == "code" and sent["code_challenge_method"] == "S256"
    assert len(sent["code_challenge"]) == 43 and len(sent["state"]) >= 22
    assert sent["redirect_uri"] == f"{server.url}{CALLBACK}" and sent["nonce"] != sent["state"]
    assert_signed_in(eva.enter())
    assert eva.is_signed_in
    assert roles_of(server, f"{name}@example.com") == ["support"]
    assert eva.get("/administrators").status_code == 403
    assert name.title() in audit(configured)

    # The second sign-in is the same administrator's, and goes where it was asked to go.
    before = administrators(server)
    again = Administrator(server, provider, name)
    assert_signed_in(again.enter(f"{BEGIN}?next=/account"), "/account")
    assert administrators(server).count("@") == before.count("@")


def test_roles_follow_the_groups_and_roles_given_by_hand_stay(server, provider, configured):
    name = new_person(provider, ["platform", "security"])
    email = f"{name}@example.com"
    eva = Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    assert roles_of(server, email) == ["auditor", "support"]
    granted = run("admin", "grant", "--data", server.data, "--email", email, "--role", "policy-admin")
    assert granted.returncode == 0, granted.stderr

    provider.set_groups(name, ["security"])
    assert_signed_in(eva.enter())
    assert roles_of(server, email) == ["auditor", "policy-admin"]
    # Without groups, the token has no claim; what was given by hand is left.
    provider.set_groups(name, [])
    assert_signed_in(eva.enter())
    assert roles_of(server, email) == ["policy-admin"]


def test_a_person_without_a_mapped_group_is_refused_with_the_reason(server, provider, configured):
    before = administrators(server)
    for groups in (["gardeners"], [], ["Platform"], ["platform "]):
        visitor = Administrator(server, provider, new_person(provider, groups))
        assert_refused(visitor, visitor.enter(), "Acme ID", "group")
    assert administrators(server) == before


def test_a_member_who_leaves_all_groups_loses_access(server, provider, configured):
    name = new_person(provider)
    eva = Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    provider.set_groups(name, ["gardeners"])
    other = Administrator(server, provider, name)
    other.enter()
    assert roles_of(server, f"{name}@example.com") == []
    assert not other.is_signed_in or other.get("/projects/new").status_code in (403, 404)


def test_an_email_address_links_nobody(server, provider, configured):
    name = new_person(provider, email=EMAIL)
    mallory = Administrator(server, provider, name)
    assert_refused(mallory, mallory.enter(), EMAIL)
    assert query(server, "SELECT count(*) FROM administrator_provider_link") == [(0,)]
    assert administrators(server).count(EMAIL) == 1


def test_an_administrator_links_and_unlinks_their_own_account(server, provider, configured):
    name = new_person(provider, ["gardeners"], email="elsewhere@example.com")
    ada = Administrator(server, provider, name)
    assert ada.sign_in().status_code == 303
    reauthenticate(server.data)
    started = ada.post("/account/provider", {}, page="/account")
    address = provider.authorize(ada.person, started.headers["location"])
    assert_signed_in(ada.get(address), "/account")
    assert "Acme ID" in text_of(ada.get("/account"))

    # No group maps to a role; the owner's own role stays.
    other = Administrator(server, provider, name)
    assert_signed_in(other.enter())
    assert other.get("/administrators").status_code == 200
    assert roles_of(server, EMAIL) == ["owner"]

    reauthenticate(server.data)
    removed = ada.post("/account/provider/removal", {"note": "done"})
    assert removed.status_code == 303, text_of(removed)
    third = Administrator(server, provider, name)
    assert_refused(third, third.enter())


def test_a_person_is_linked_to_one_administrator_only(server, provider, configured):
    name = new_person(provider)
    assert_signed_in(Administrator(server, provider, name).enter())
    ada = Administrator(server, provider, name)
    assert ada.sign_in().status_code == 303
    reauthenticate(server.data)
    started = ada.post("/account/provider", {}, page="/account")
    answer = ada.get(provider.authorize(ada.person, started.headers["location"]))
    assert answer.status_code != 303 or answer.headers["location"] != "/account"
    assert len(query(server, "SELECT * FROM administrator_provider_link")) == 1


# MARK: Second factors and re-authentication


def test_a_second_factor_at_the_provider_replaces_the_own_one(server, provider, configured):
    name = new_person(provider, totp=True)
    tim = Administrator(server, provider, name, totp=True)
    assert_signed_in(tim.enter())
    tim.enroll()
    # With `otp` in `amr`, no code is asked for.
    strong = Administrator(server, provider, name, totp=True)
    assert_signed_in(strong.enter())


def test_without_one_the_own_second_factor_follows(server, provider, configured):
    name = new_person(provider)
    eva = Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    _, code = eva.enroll()
    weak = Administrator(server, provider, name)
    answer = weak.enter()
    assert answer.headers["location"].startswith("/sign-in/code"), answer.headers["location"]
    assert not weak.is_signed_in
    assert_signed_in(weak.post("/sign-in/code", {"code": code}))


def test_values_that_are_not_configured_are_no_second_factor(server, provider, owner):
    set_provider(owner, provider, ROLES, **{"mfa-values": "mfa\nhwk"})
    name = new_person(provider, totp=True)
    tim = Administrator(server, provider, name, totp=True)
    assert_signed_in(tim.enter())
    tim.enroll()
    again = Administrator(server, provider, name, totp=True)
    assert again.enter().headers["location"].startswith("/sign-in/code")


def test_re_authentication_at_the_provider_needs_a_fresh_sign_in_there(server, provider, configured):
    set_provider(configured, provider, [("platform", "owner")])
    name = new_person(provider)
    eva = Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    reset_sign_ins(server.data)

    def reauthenticated():
        reauthenticate(server.data, ago=3600)
        started = eva.post("/account/reauthentication/provider", {"next": "/audit/retention"},
                           page="/audit/retention")
        address = started.headers["location"]
        assert query_of(address).get("max_age") == "0" or "login" in query_of(address)["prompt"]
        return address

    # The provider's session is old, and it doesn't insist.
    provider.age_sessions(3600)
    stale = eva.get(provider.authorize(eva.person, reauthenticated()))
    assert stale.status_code != 303, stale.headers
    # The provider doesn't tell the time at all.
    provider.proxy.tells_time = False
    try:
        provider.authenticate(eva.person, name)
        silent = eva.get(provider.authorize(eva.person, reauthenticated()))
        assert silent.status_code != 303, silent.headers
    finally:
        provider.proxy.tells_time = True
    address = reauthenticated()
    provider.authenticate(eva.person, name)
    assert_signed_in(eva.get(provider.authorize(eva.person, address)), "/audit/retention")
    assert "re-authenticated" in audit(eva)

    # Another person's fresh sign-in proves nothing about this one.
    other = new_person(provider)
    address = reauthenticated()
    foreign = eva.get(provider.authorize(provider.session(other), address))
    assert foreign.status_code != 303, foreign.headers


# MARK: Attacks


def test_a_replayed_or_foreign_callback_is_refused(server, provider, configured):
    name = new_person(provider)
    eva = Administrator(server, provider, name)
    address = eva.visit()
    # Another browser has another state: a link to a callback signs nobody in.
    victim = Administrator(server, provider, name)
    assert_refused(victim, victim.get(address))
    victim.leave()
    assert_refused(victim, victim.get(address))
    assert_signed_in(eva.get(address))
    eva.http.cookies.clear()
    assert_refused(eva, eva.get(address))


def test_a_code_with_a_fresh_state_is_refused_after_its_use(server, provider, configured):
    eva = Administrator(server, provider, new_person(provider))
    used = query_of(eva.visit())["code"]
    state = query_of(eva.leave())["state"]
    # The code belongs to another code verifier and nonce.
    assert_refused(eva, eva.get(f"{CALLBACK}?state={state}&code={used}"))
    assert eva.get(f"{CALLBACK}?state={state}&code={used}").status_code >= 400
    for hostile in ("", "?", "?state=&code=", "?state=x&code=y", f"?state={'a' * 5000}",
                    "?error=access_denied", f"?state={state}&error=%3Cscript%3E", "?state=%FF&code=%00"):
        answer = eva.get(f"{CALLBACK}{hostile}")
        assert 400 <= answer.status_code < 500 and "<script>" not in answer.text, hostile


def test_after_a_key_rotation_the_new_key_is_fetched_and_the_old_one_is_refused(
        server, provider, configured):
    name = new_person(provider)
    assert_signed_in(Administrator(server, provider, name).enter())
    old = provider.keys[0]
    provider.rotate_keys()
    eva = Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    subject, session = provider.session_of(name)
    forged = provider.logout_token(subject, session, key=old)
    assert eva.http.post(LOGOUT, data={"logout_token": forged}).status_code == 400
    assert eva.is_signed_in


def test_next_leads_nowhere_else(server, provider, configured):
    name = new_person(provider)
    for hostile in ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:1"):
        eva = Administrator(server, provider, name)
        answer = eva.enter(f"{BEGIN}?next={hostile}")
        assert_signed_in(answer)


# MARK: Sign-out at the provider


def test_a_sign_out_at_the_provider_ends_the_session(server, provider, configured):
    name = new_person(provider)
    eva, elsewhere = Administrator(server, provider, name), Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    assert_signed_in(elsewhere.enter())
    assert_signed_in(eva.enter())
    provider.end_session(eva.person, name)
    until(lambda: not eva.is_signed_in, "the session is over")
    # It's a session of another browser at the provider.
    assert elsewhere.is_signed_in


def test_a_logout_token_works_once(server, provider, configured):
    name = new_person(provider)
    eva = Administrator(server, provider, name)
    assert_signed_in(eva.enter())
    subject, session = provider.session_of(name)

    def send(token):
        return eva.http.post(LOGOUT, data={"logout_token": token})

    now = int(time.time())
    wrong = [
        provider.logout_token(subject, session, aud="another"),
        provider.logout_token(subject, session, iss="http://127.0.0.1:1"),
        provider.logout_token(subject, session, events={}),
        provider.logout_token(subject, session, nonce="n"),
        provider.logout_token(subject, session, iat=now - 7200, exp=now - 3600),
        provider.logout_token(), "", "x.y.z"]
    for token in wrong:
        assert send(token).status_code == 400, token
    assert send(provider.logout_token("nobody", "no-session")).status_code in (200, 204, 400)
    assert eva.is_signed_in

    token = provider.logout_token(subject, session)
    first = send(token)
    assert first.status_code in (200, 204) and "no-store" in first.headers["cache-control"]
    assert not eva.is_signed_in
    assert_signed_in(eva.enter())
    assert send(token).status_code == 400
    assert eva.is_signed_in
    # Without a session, all sessions of the person end.
    assert send(provider.logout_token(subject)).status_code in (200, 204)
    assert not eva.is_signed_in


# MARK: Password sign-in


def test_password_sign_in_is_turned_off_except_for_the_break_glass_owner(
        server, provider, configured):
    name = new_person(provider)
    assert_signed_in(Administrator(server, provider, name).enter())
    for email, role in (("bob@example.com", "owner"), ("sam@example.com", "support")):
        made = run("admin", "create", "--data", server.data, "--email", email, "--role", role,
                   input=f"{PASSWORD}\n")
        assert made.returncode == 0, made.stderr
    reset_sign_ins(server.data)
    with MailServer() as mail:
        turn_off(server, configured)
        for email in ("sam@example.com", "bob@example.com"):
            refused = Pages(server.url).sign_in(email, PASSWORD)
            assert refused.status_code == 422, email
        page = text_of(Pages(server.url).get("/sign-in"))
        assert "Acme ID" in page
        ada = Pages(server.url)
        assert ada.sign_in(EMAIL, PASSWORD).status_code == 303
        assert "break-glass" in audit(ada).lower()
        assert mail is not None

    done = run("admin", "password-sign-in", "--data", server.data, "on")
    assert done.returncode == 0, done.stderr
    assert Pages(server.url).sign_in("sam@example.com", PASSWORD).status_code == 303


def turn_off(server, owner):
    reauthenticate(server.data)
    answer = owner.post(f"{SETTINGS}/password", {"owner": EMAIL, "note": "for the tests"})
    assert answer.status_code == 303, text_of(answer)


# MARK: Outages and configuration


def test_while_the_provider_is_down_the_page_says_so_and_passwords_work(server, provider, configured):
    eva = Administrator(server, provider, new_person(provider))
    address = eva.visit()
    provider.stop()
    try:
        answer = eva.get(address)
        assert answer.status_code in (502, 503), text_of(answer)
        assert "Acme ID" in text_of(answer) and "password" in text_of(answer)
        assert Pages(server.url).sign_in().status_code == 303
    finally:
        provider.start()
    assert_signed_in(eva.enter())


def test_a_provider_that_is_down_at_startup_delays_nobody(tmp_path, server, provider, configured):
    server.stop()
    provider.stop()
    try:
        with Server(server.data, "--outbound-allow", "127.0.0.0/8", "--public-url", server.url,
                    listen=server.url.replace("http://localhost", "127.0.0.1")) as again:
            visitor = Pages(again.url)
            answer = visitor.get(BEGIN)
            assert answer.status_code in (502, 503) and "Acme ID" in text_of(answer)
            assert visitor.sign_in().status_code == 303
    finally:
        provider.start()


def test_the_form_checks_the_provider_and_keeps_the_secret(server, provider, owner):
    assert BEGIN not in owner.get("/sign-in").text
    assert Pages(server.url).get(BEGIN).status_code == 404
    wrong = set_provider(owner, provider, ROLES, issuer=f"{provider.url}/api/nothing")
    assert wrong.status_code == 422 and provider.secret not in wrong.text
    wrong = set_provider(owner, provider, ROLES, issuer=f"{provider.issuer}/")
    assert wrong.status_code == 422
    wrong = set_provider(owner, provider, ROLES, scopes="profile")
    assert wrong.status_code == 422
    assert set_provider(owner, provider, ROLES).status_code == 200
    page = owner.get(SETTINGS)
    assert provider.secret not in page.text and provider.issuer in page.text
    # An empty field keeps the secret.
    assert set_provider(owner, provider, ROLES, **{"client-secret": ""}).status_code == 200
    assert_signed_in(Administrator(server, provider, new_person(provider)).enter())
    stored = b"".join(path.read_bytes() for path in server.data.glob("countersign.sqlite*"))
    assert provider.secret.encode() not in stored
    assert provider.secret not in server.text


# MARK: A real browser


def test_in_chromium_the_button_leads_to_the_provider_and_back(server, provider, configured, chromium):
    name = new_person(provider)
    context = chromium.new_context(base_url=server.url)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_role("link", name=re.compile("Acme ID")).click()
    page.locator("#username").fill(name)
    page.locator("#password").fill(provider.passwords[name])
    page.get_by_role("button", name="OK").click()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(f"{server.url}/")
    page.goto("/account")
    expect(page.locator("main")).to_contain_text(f"{name}@example.com")
    context.close()
