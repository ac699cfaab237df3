"""Sign-in to the console with a provider of OpenID Connect, which is Debian's glewlwyd: who becomes an
administrator, with which roles, and what happens while the provider is down."""

import re

from playwright.sync_api import expect

from support.pages import Pages
from support.program import Server, reauthenticate
from support.provider import query_of
from support.provider_console import (
    ALLOW, BEGIN, CALLBACK, CONFIRM, EMAIL, NAME, SETTINGS, assert_refused, assert_signed_in,
    at_glewlwyd, text_of)
from support.waiting import until


def test_a_member_of_a_mapped_group_becomes_an_administrator(site):
    name = site.add_person("platform", "unrelated")
    eva = site.browser(name)
    sent = query_of(eva.leave())
    assert sent["response_type"] == "code" and sent["code_challenge_method"] == "S256"
    assert len(sent["code_challenge"]) == 43 and len(sent["state"]) >= 22
    assert sent["redirect_uri"] == f"{site.server.url}{CALLBACK}" and sent["nonce"] != sent["state"]
    assert_signed_in(eva.enter())
    assert eva.is_signed_in
    assert site.roles_of(name) == ["support"]
    assert eva.get("/administrators").status_code == 403
    assert name.title() in site.log

    # The second sign-in is the same administrator's, and goes where it was asked to go.
    before = site.listed
    again = site.browser(name)
    assert_signed_in(again.enter(f"{BEGIN}?next=/account"), "/account")
    assert site.listed == before


def test_roles_follow_the_groups_and_roles_granted_by_hand_stay(site):
    eva = site.member("platform", "security")
    assert site.roles_of(eva.name) == ["auditor", "support"]
    site.grant(eva.name, "policy")
    site.provider.set_groups(eva.name, ["security"])
    assert_signed_in(eva.enter())
    assert site.roles_of(eva.name) == ["auditor", "policy"]
    # Without groups, the token has no claim; what was granted by hand is left.
    site.provider.set_groups(eva.name, [])
    assert_signed_in(eva.enter())
    assert site.roles_of(eva.name) == ["policy"]
    site.provider.set_groups(eva.name, ["platform"])
    assert_signed_in(eva.enter())
    assert site.roles_of(eva.name) == ["policy", "support"]


def test_a_group_can_have_a_role_on_one_project(site):
    site.owner.create_project("shop-app")
    site.owner.create_project("bank-app")
    site.configure([("platform", "support", "shop-app")])
    eva = site.member()
    assert eva.get("/projects/shop-app").status_code == 200
    assert eva.get("/projects/bank-app").status_code == 404


def test_a_person_without_a_mapped_group_is_refused_with_the_reason(site):
    before = site.listed
    for groups in (["gardeners"], [], ["Platform"]):
        visitor = site.browser(site.add_person(*groups))
        assert_refused(visitor, visitor.enter(), NAME, "group")
    assert site.listed == before


def test_a_member_who_leaves_all_groups_loses_the_roles_and_the_sessions(site):
    eva = site.member()
    site.provider.set_groups(eva.name, ["gardeners"])
    other = site.browser(eva.name)
    assert_refused(other, other.enter(), "group")
    assert site.roles_of(eva.name) == []
    assert not eva.is_signed_in


def test_an_email_address_links_nobody(site):
    mallory = site.browser(site.add_person("platform", email=EMAIL.upper()))
    assert_refused(mallory, mallory.enter(), "email address")
    assert site.query("SELECT count(*) FROM administrator_provider_link") == [(0,)]
    assert site.roles_of(EMAIL) == ["owner"]


def link(site, name, email=EMAIL):
    """Signs an administrator in with a password, and goes to the provider to link; returns the browser and
    the provider's answer."""
    ada = site.browser(name)
    assert ada.sign_in(email).status_code == 303
    reauthenticate(site.server.data)
    address = ada.leave_by_form(CONFIRM)
    return ada, site.provider.authorize(ada.person, address)


def test_an_administrator_links_their_own_account(site):
    name = site.add_person("gardeners", email="elsewhere@example.com")
    ada, answer = link(site, name)
    assert_signed_in(ada.get(answer), "/account")
    assert NAME in text_of(ada.get("/account"))

    # No group has a role; the owner's own role stays.
    other = site.browser(name)
    assert_signed_in(other.enter())
    assert other.get("/administrators").status_code == 200
    assert site.roles_of(EMAIL) == ["owner"]


def test_a_person_is_linked_with_one_administrator_only(site):
    eva = site.member()
    ada, answer = link(site, eva.name)
    assert ada.get(answer).status_code == 403
    assert len(site.query("SELECT * FROM administrator_provider_link")) == 1
    assert site.roles_of(EMAIL) == ["owner"]


def test_the_answer_for_a_link_needs_the_session_that_asked(site):
    name = site.add_person("platform")
    ada, answer = link(site, name)
    # A link to the callback links nobody else, and without its session it's no sign-in either.
    mallory = site.browser(name)
    assert_refused(mallory, mallory.get(answer))
    ada.post("/sign-out", {}, page="/projects")
    assert_refused(ada, ada.get(answer))
    assert site.query("SELECT count(*) FROM administrator_provider_link") == [(0,)]


def test_the_form_checks_the_provider_and_keeps_the_secret(new_site):
    site, provider = new_site, new_site.provider
    assert BEGIN not in Pages(site.server.url).get("/sign-in").text
    assert Pages(site.server.url).get(BEGIN).headers["location"] == "/sign-in"
    for field, value in (("issuer", f"{provider.url}/api/nothing"), ("issuer", f"{provider.issuer}/"),
                         ("issuer", "http://idp.example.com"), ("scopes", "profile"), ("name", "")):
        wrong = site.set_provider(**{field: value})
        assert wrong.status_code == 422 and provider.secret not in wrong.text, (field, value)
    site.configure()
    page = site.owner.get(SETTINGS)
    assert provider.secret not in page.text and provider.issuer in page.text
    # An empty field keeps the secret.
    site.configure(**{"client-secret": "", "name": "Other ID"})
    eva = site.member()
    assert "Other ID" in text_of(Pages(site.server.url).get("/sign-in"))
    stored = b"".join(path.read_bytes() for path in site.server.data.glob("countersign.sqlite*"))
    assert provider.secret.encode() not in stored
    assert provider.secret not in site.server.text
    # Only owners see it.
    assert eva.get(SETTINGS).status_code in (403, 404)


def test_a_wrong_client_secret_is_told_and_replaced(new_site):
    new_site.configure(**{"client-secret": "wrong secret"})
    eva = new_site.browser(new_site.add_person("platform"))
    assert_refused(eva, eva.enter(), NAME)
    # A new secret alone is a change.
    new_site.configure()
    assert_signed_in(eva.enter())


def test_while_the_provider_is_down_the_page_says_so_and_passwords_work(site):
    eva = site.browser(site.add_person("platform"))
    address = eva.visit()
    site.provider.stop()
    try:
        answer = eva.get(address)
        assert answer.status_code == 503, text_of(answer)
        assert NAME in text_of(answer)
        assert Pages(site.server.url).sign_in().status_code == 303
    finally:
        site.provider.start()
    assert_signed_in(eva.enter())


def test_a_provider_that_is_down_at_the_start_delays_nobody(site):
    server, provider = site.server, site.provider
    server.stop()
    provider.stop()
    try:
        with Server(server.data, *ALLOW, "--public-url", server.url,
                    listen=server.url.replace("http://localhost", "127.0.0.1")) as again:
            visitor = Pages(again.url)
            answer = visitor.get(BEGIN)
            assert answer.status_code == 503 and NAME in text_of(answer)
            assert visitor.sign_in().status_code == 303
            provider.start()
            # The failure is kept for ten seconds.
            until(lambda: visitor.get(BEGIN).status_code == 302, "the provider is asked again")
            eva = site.browser(site.add_person("platform"))
            assert_signed_in(eva.enter())
    finally:
        provider.stop()
        provider.start()


def test_in_chromium_the_button_leads_to_the_provider_and_back(site, chromium):
    name = site.add_person("platform")
    password = site.provider.passwords[name]
    context = chromium.new_context(base_url=site.server.url)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_role("link", name=re.compile(NAME)).click()
    at_glewlwyd(page, name, password)
    page.wait_for_url("**/users")
    page.goto("/account")
    expect(page.locator("main")).to_contain_text(f"{name}@example.com")
    context.close()


def test_in_chromium_an_owner_links_their_account(site, chromium):
    name = site.add_person("gardeners")
    context = chromium.new_context(base_url=site.server.url)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_label("Password").fill("correct horse battery")
    page.locator("main").get_by_role("button", name="Sign in", exact=True).click()
    page.goto(CONFIRM)
    page.locator("main form").get_by_role("button").first.click()
    at_glewlwyd(page, name, site.provider.passwords[name])
    page.wait_for_url(f"{site.server.url}/account")
    expect(page.locator("main")).to_contain_text(NAME)
    context.close()
