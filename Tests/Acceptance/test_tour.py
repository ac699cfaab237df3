"""From an empty folder to an enforced policy, and recovery from a lost phone."""

import re
import time

import pyotp
import pytest
from playwright.sync_api import expect

from support.nodes import deployment
from support.rest import Api, claims, create_administrator, create_token, ok

PASSWORD = "correct horse battery"


@pytest.fixture
def server(tmp_path):
    with deployment(tmp_path) as server:
        yield server


@pytest.mark.parametrize("javascript", [True, False], ids=["with-scripts", "without-scripts"])
def test_an_owner_sets_up_mfa_and_support_removes_a_lost_factor(server, chromium, javascript):
    context = chromium.new_context(base_url=server.url, java_script_enabled=javascript)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"a script failed: {error}"))

    key, tenant = set_up(page, server)
    switch_totp_on(page, tenant)

    api = Api(server.url, "acme-app", key, tenant=tenant)
    api.token = create_token(server.data, "acme-app", "application", tenant)
    uid, id_token = api.user("mallory@example.com")
    authenticator, session = api.enroll(id_token, name="Mallory’s phone")
    assert claims(session["idToken"])["firebase"]["sign_in_second_factor"] == "totp"
    sign_in_with_second_factor(api, authenticator)

    remove_as_support(chromium, server, tenant, uid, javascript)

    again = ok(api.sign_in("mallory@example.com"))
    assert "mfaPendingCredential" not in again
    assert "sign_in_second_factor" not in claims(again["idToken"])["firebase"]

    page.goto(f"/projects/acme-app/tenants/{tenant}/audit")
    row = page.locator("tr", has_text="Sam Support").filter(has_text="lost")
    expect(row).to_have_count(1)
    context.close()


def set_up(page, server):
    """Creates the owner, a project, and a tenant by following the pages."""
    page.goto("/")
    expect(page).to_have_url(re.compile(re.escape("/setup") + "$"))
    page.get_by_label("Setup code").fill(server.setup_code)
    page.get_by_label("Your name").fill("Olga Owner")
    page.get_by_label("Email").fill("olga@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create owner").click()

    page.get_by_role("link", name="New project").first.click()
    page.get_by_label("Name", exact=True).fill("Acme")
    page.get_by_label("Project ID").fill("acme-app")
    page.get_by_role("button", name="Create project").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Acme"
    key = page.locator("dt", has_text="API key").locator("xpath=following-sibling::dd[1]")
    key = key.locator("span, code").first.inner_text().strip()

    page.locator("nav.side").get_by_role("link", name="Tenants").click()
    page.get_by_role("link", name="New tenant").first.click()
    page.get_by_label("Name", exact=True).fill("hospital")
    page.get_by_role("button", name="Create tenant").click()
    assert page.get_by_role("heading", level=1).inner_text() == "hospital"
    return key, page.url.rsplit("/", 1)[1]


def choose(page, radio):
    """Selects a radio button by its label."""
    page.locator(f"label[for={radio}]").click()
    expect(page.locator(f"#{radio}")).to_be_checked()


def switch_totp_on(page, tenant):
    page.locator("nav.side").get_by_role("link", name="MFA policy").click()
    choose(page, "totp")
    while not page.locator("#intervals-2").is_checked():
        page.locator(".stepper:visible label").first.click()
    page.locator("#pattern").select_option("account")
    page.get_by_role("button", name="Review changes").click()
    # The review shows old and new values, and the window can still be changed.
    change = page.locator("tr", has_text="TOTP")
    assert change.locator("td").first.inner_text() == "off"
    assert change.locator("td").nth(1).inner_text() == "on"
    expect(page.locator("#intervals-2")).to_be_checked()
    page.locator("form[action$='/policy/changes'] button:not([formaction], [type=button])").click()
    expect(page.locator("[role=status]")).to_have_count(1)
    page.goto(f"/projects/acme-app/tenants/{tenant}/policy")
    expect(page.locator("#totp")).to_be_checked()
    expect(page.locator("#intervals-2")).to_be_checked()


def sign_in_with_second_factor(api, authenticator):
    first = ok(api.sign_in("mallory@example.com"))
    assert "idToken" not in first
    [factor] = first["mfaInfo"]
    assert factor["displayName"] == "Mallory’s phone" and factor["totpInfo"] == {}
    # The enrollment's code is used; the next one is within the window.
    done = ok(api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": factor["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": authenticator.at(time.time() + 30)}}))
    assert claims(done["idToken"])["firebase"]["sign_in_second_factor"] == "totp"


def remove_as_support(chromium, server, tenant, uid, javascript):
    create_administrator(
        server.data, "sam@example.com", "support", name="Sam Support", project="acme-app",
        tenant=tenant)
    context = chromium.new_context(base_url=server.url, java_script_enabled=javascript)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(f"/projects/acme-app/tenants/{tenant}/users")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.get_by_label("Email").fill("sam@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    # Sign-in redirects to the requested page.
    expect(page).to_have_url(re.compile(re.escape("/users") + "$"))

    # Acting on users requires a second factor.
    page.goto("/account/totp")
    own = pyotp.TOTP(page.get_by_label("Setup key", exact=True).inner_text().replace(" ", ""))
    page.locator("#code").fill(own.now())
    page.get_by_role("button", name="Turn on authenticator").click()
    page.goto(f"/projects/acme-app/tenants/{tenant}/users")

    page.locator("#q").fill("mallory@")
    page.locator("#q").press("Enter")
    page.get_by_role("link", name="mallory@example.com").click()
    expect(page).to_have_url(re.compile(re.escape(f"/users/{uid}") + "$"))
    expect(page.get_by_text("Mallory’s phone").first).to_be_visible()
    page.get_by_role("link", name="Remove Mallory’s phone…").click()
    page.get_by_role("button", name="Remove factor").click()
    # A reason is required.
    expect(page.locator("#reason-error")).to_be_visible()
    page.locator("#reason").select_option("lost")
    page.locator(".note summary").click()
    page.locator("#note").fill("Called from the number on file.")
    # Setting up an authenticator counts as re-authentication, so no code is required.
    expect(page.locator("#code")).to_have_count(0)
    page.get_by_role("button", name="Remove factor").click()
    status = page.locator("[role=status]").inner_text()
    assert "Mallory’s phone" in status and "ended" in status
    expect(page.get_by_role("link", name="Remove Mallory’s phone…")).to_have_count(0)

    # Support can view the policy but not change it.
    page.goto(f"/projects/acme-app/tenants/{tenant}/policy")
    expect(page.get_by_role("button", name="Review changes")).to_have_count(0)
    context.close()
