"""Sign-in to the console with a provider of OpenID Connect, which is Debian's glewlwyd: second factors,
re-authentication, attacks, and password sign-in turned off."""

import pytest

from support.mail import MailServer
from support.pages import Pages
from support.program import Server, execute, reauthenticate, reset_sign_ins, run
from support.provider import query_of
from support.provider_console import (
    ALLOW, BEGIN, CALLBACK, CONFIRM, EMAIL, NAME, PASSWORD, Site, assert_code_due, assert_refused,
    assert_signed_in, at_glewlwyd, text_of)
from support.waiting import until

# MARK: Second factors


def test_a_second_factor_at_the_provider_replaces_the_own_one(site):
    tim = site.member(totp=True)
    tim.enroll()
    again = site.browser(tim.name, totp=True)
    assert_signed_in(again.enter())


def test_without_one_the_own_second_factor_follows(site):
    eva = site.member()
    code = eva.enroll()
    again = site.browser(eva.name)
    assert_code_due(again.enter())
    assert not again.is_signed_in
    assert_signed_in(again.post("/sign-in/code", {"code": code}))


def test_methods_that_are_not_configured_are_no_second_factor(site):
    site.configure(**{"mfa-values": "mfa\nhwk\notpx"})
    tim = site.member(totp=True)
    tim.enroll()
    assert_code_due(site.browser(tim.name, totp=True).enter())
    site.configure(**{"mfa-values": ""})
    assert_code_due(site.browser(tim.name, totp=True).enter())


# MARK: Re-authentication


@pytest.fixture
def member(site):
    """An owner from a group, whose last proof of identity is an hour old."""
    site.configure([("platform", "owner")])
    person = site.member()
    reset_sign_ins(site.server.data)
    return person


def ask_again(site, member):
    """Asks for an action that requires re-authentication; returns the address at the provider."""
    reauthenticate(site.server.data, ago=3600)
    site.change("UPDATE console_session SET provider_at = provider_at - 3600000000, "
                "provider_mfa_at = provider_mfa_at - 3600000000")
    address = member.leave_by_form(CONFIRM, next="/audit/retention")
    assert query_of(address)["max_age"] == "0"
    return address


def test_a_fresh_sign_in_at_the_provider_re_authenticates(site, member):
    address = ask_again(site, member)
    site.provider.authenticate(member.person, member.name)
    answer = member.get(site.provider.authorize(member.person, address))
    assert_signed_in(answer, "/audit/retention")
    assert site.count("administrator.step-up") == 1


def test_an_old_or_untold_sign_in_at_the_provider_does_not(site, member):
    address = ask_again(site, member)
    # The provider doesn't insist on a password.
    site.provider.age_sessions(3600)
    answer = member.get(site.provider.authorize(member.person, address))
    assert answer.status_code == 422, answer.headers
    site.provider.proxy.tells_time = False
    try:
        address = ask_again(site, member)
        site.provider.authenticate(member.person, member.name)
        answer = member.get(site.provider.authorize(member.person, address))
        assert answer.status_code == 422, answer.headers
    finally:
        site.provider.proxy.tells_time = True
    assert site.count("administrator.step-up") == 0


def test_the_sign_in_of_another_person_does_not_either(site, member):
    other = site.member()
    address = ask_again(site, member)
    answer = member.get(site.provider.authorize(site.provider.session(other.name), address))
    assert answer.status_code == 403, answer.headers
    assert site.count("administrator.step-up") == 0


def test_in_chromium_an_administrator_re_authenticates(site, member, chromium):
    password = site.provider.passwords[member.name]
    context = chromium.new_context(base_url=site.server.url)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto("/sign-in/provider")
    at_glewlwyd(page, member.name, password)
    page.wait_for_url("**/projects")
    reset_sign_ins(site.server.data)
    reauthenticate(site.server.data, ago=3600)
    page.goto(f"{CONFIRM}?next=/audit/retention")
    page.locator("main form").get_by_role("button").first.click()
    # It asks for the password, though its session is open.
    at_glewlwyd(page, member.name, password)
    page.wait_for_url("**/audit/retention")
    assert site.count("administrator.step-up") == 1
    context.close()


# MARK: Attacks


def test_a_replayed_or_foreign_answer_is_refused(site):
    name = site.add_person("platform")
    eva = site.browser(name)
    address = eva.visit()
    # Another browser has another state: a link to an answer signs nobody in.
    victim = site.browser(name)
    assert_refused(victim, victim.get(address))
    victim.leave()
    assert_refused(victim, victim.get(address))
    cookies = dict(eva.http.cookies)
    assert_signed_in(eva.get(address))
    thief = site.browser(name)
    for cookie, value in cookies.items():
        thief.http.cookies.set(cookie, value)
    assert_refused(thief, thief.get(address))


def test_a_code_is_valid_for_its_own_request_only(site):
    eva = site.browser(site.add_person("platform"))
    # It belongs to another code verifier and nonce.
    code = query_of(eva.visit())["code"]
    state = query_of(eva.leave())["state"]
    assert_refused(eva, eva.get(f"{CALLBACK}?state={state}&code={code}"))
    for hostile in ("", "?", "?state=&code=", "?state=x&code=y", f"?state={'a' * 5000}&code=y",
                    "?error=access_denied", f"?state={state}&error=%3Cscript%3E", "?state=%FF&code=%00",
                    f"?state={state}&state={state}&code={code}"):
        answer = eva.get(f"{CALLBACK}{hostile}")
        assert answer.status_code in (400, 422) and "<script>" not in answer.text, hostile


def test_an_error_of_the_provider_is_shown(site):
    eva = site.browser(site.add_person("platform"))
    state = query_of(eva.leave())["state"]
    answer = eva.get(f"{CALLBACK}?state={state}&error=access_denied&error_description=%3Cb%3Eno%3C/b%3E")
    assert_refused(eva, answer, NAME)
    assert "<b>no" not in answer.text


def test_after_a_key_rotation_the_new_key_counts(site):
    eva = site.member()
    site.provider.rotate_keys()
    assert_signed_in(eva.enter())


@pytest.mark.parametrize("hostile", [
    "https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:1"])
def test_next_leads_nowhere_else(site, hostile):
    eva = site.browser(site.add_person("platform"))
    assert_signed_in(eva.enter(f"{BEGIN}?next={hostile}"))


# MARK: Password sign-in


def test_password_sign_in_is_off_except_for_the_break_glass_account(tmp_path, provider):
    with MailServer() as mail, Server(
            tmp_path / "data", *ALLOW, "--smtp", f"smtp://127.0.0.1:{mail.port}", "--smtp-from",
            "accounts@example.com") as server:
        site = Site(server, provider)
        # Without a project, there's no list of messages, and no email to administrators.
        site.owner.create_project("shop-app")
        site.configure([("platform", "support"), ("owners", "owner")])
        boss, eva = site.member("owners"), site.member()
        site.create("bob@example.com", "owner")
        site.create("sam@example.com", "support")
        reset_sign_ins(server.data)
        # Only an owner who signs in with the provider can be sure that it works.
        assert turn_off(site, site.owner).status_code == 422
        done = turn_off(site, boss)
        assert done.status_code == 200, text_of(done)

        for email in ("sam@example.com", "bob@example.com"):
            assert Pages(server.url).sign_in(email).status_code == 422, email
        assert_signed_in(eva.enter())
        ada = Pages(server.url)
        assert ada.sign_in(EMAIL, PASSWORD).status_code == 303
        assert "break-glass" in text_of(ada.get("/projects")).lower()
        assert site.count("administrator.break-glass") == 1
        told = until(lambda: {message["To"] for message in mail.mails if "break-glass" in
                              message["Subject"].lower()}, "the email")
        assert told <= {"bob@example.com", f"{boss.name}@example.com"}

        # Commands say so, and don't lock the break-glass account out.
        for words in (("reset-password", "--email", "sam@example.com"),
                      ("create", "--email", "new@example.com", "--role", "owner")):
            noted = run("admin", *words, "--data", server.data, input=f"{PASSWORD}\n")
            assert noted.returncode == 0 and "Password sign-in is off" in noted.stderr, noted.stderr
        noted = run("admin", "reset-password", "--email", EMAIL, "--data", server.data,
                    input=f"{PASSWORD}\n")
        assert noted.returncode == 0 and "sign-in is off" not in noted.stderr, noted.stderr
        (id,), = site.query("SELECT administrator_id FROM administrator WHERE email = ?", EMAIL)
        execute(server.data, "UPDATE administrator SET password_hash = '' WHERE administrator_id = ?", id)
        execute(server.data, "INSERT INTO passkey (passkey_id, administrator_id, credential_id, "
                "cose_key, sign_count, aaguid, transports, is_backup_eligible, is_backed_up, name, "
                "created_at) VALUES ('only', ?, ?, ?, 0, ?, '', 0, 0, 'Key', 1)",
                id, b"1", b"1", bytes(16))
        kept = run("admin", "reset-totp", "--email", EMAIL, "--data", server.data)
        assert kept.returncode == 78 and "admin passwords-on first" in kept.stderr, kept.stderr

        on = run("admin", "passwords-on", "--data", server.data)
        assert on.returncode == 0 and "can sign in with passwords" in on.stdout, on.stderr
        again = run("admin", "passwords-on", "--data", server.data)
        assert again.returncode == 0 and "wasn't off" in again.stdout, again.stdout
        assert Pages(server.url).sign_in("sam@example.com").status_code == 303


def turn_off(site, owner):
    (id,), = site.query("SELECT administrator_id FROM administrator WHERE email = ?", EMAIL)
    return site.set_provider([("platform", "support"), ("owners", "owner")], owner,
                             **{"client-secret": "", "break-glass-account": id})
