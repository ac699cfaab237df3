"""Administrators: from an invitation to a second factor, a lost phone, and a reset by an owner."""

import re
import subprocess
import time

import pyotp
import pytest
from playwright.sync_api import expect

from support.pages import Pages
from support.program import PROGRAM, Server, environment, execute, run

PASSWORD = "correct horse battery"
NEW = "nina@example.com"


@pytest.fixture
def server(tmp_path):
    with Server(tmp_path / "data") as server:
        Pages(server.url).set_up(server.setup_code)
        yield server


class Browser:
    """An administrator's browser."""

    def __init__(self, chromium, server, javascript):
        self.context = chromium.new_context(
            base_url=server.url, java_script_enabled=javascript)
        self.context.set_default_timeout(30_000)
        self.page = self.context.new_page()

    def enter_password(self, email, password=PASSWORD):
        self.page.goto("/sign-in")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(password)
        self.press("Sign in")

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def sign_out(self):
        self.page.goto("/sign-out")
        self.page.locator("main").get_by_role("button", name="Sign out").click()
        expect(self.page.get_by_text("You’re signed out.")).to_be_visible()

    @property
    def status(self):
        return self.page.locator("[role=status]").first.inner_text()

    @property
    def path(self):
        return re.sub(r"^https?://[^/]+", "", self.page.url)


@pytest.mark.parametrize("javascript", [True, False], ids=["with-scripts", "without-scripts"])
def test_an_administrator_is_invited_enrolls_and_loses_the_phone(server, chromium, javascript):
    owner = Browser(chromium, server, javascript)
    owner.enter_password("ada@example.com")
    link = invite(owner)

    nina = Browser(chromium, server, javascript)
    nina.page.goto(link)
    nina.page.goto(link)  # Opening the link doesn't use it up.
    nina.page.get_by_label("Your name").fill("Nina New")
    nina.page.get_by_label("Password").fill(PASSWORD)
    nina.press("Accept and sign in")
    assert "starting with your next sign-in" in nina.status
    stranger = Browser(chromium, server, javascript)
    stranger.page.goto(link)
    assert stranger.page.get_by_role("heading", level=1).inner_text() == (
        "This invitation is invalid or expired")

    nina.page.get_by_role("link", name="Set it up now").click()
    app, codes = enroll(nina)
    assert nina.path == "/account"

    nina.sign_out()
    nina.enter_password(NEW)
    assert nina.path == "/sign-in/code"
    nina.page.get_by_label("Code", exact=True).fill("000000")
    nina.press("Sign in")
    expect(nina.page.locator("#code-error")).to_be_visible()
    # The setup's code is used; the next one is within the window.
    nina.page.get_by_label("Code", exact=True).fill(app.at(time.time() + 30))
    nina.press("Sign in")
    assert nina.path == "/users"

    nina.sign_out()
    nina.enter_password(NEW)
    nina.page.get_by_text("Use a recovery code").click()
    nina.page.get_by_label("Recovery code").fill(codes[0].lower())
    nina.press("Sign in with recovery code")
    assert nina.path == "/users"
    nina.page.goto("/account")
    expect(nina.page.get_by_text("9 of 10 left")).to_be_visible()

    reset(owner)
    nina.page.goto("/account")
    assert nina.path.startswith("/sign-in")
    nina.enter_password(NEW)
    # Every page redirects to the setup until there is a factor again.
    assert nina.path == "/account/totp"
    nina.page.goto("/administrators")
    assert nina.path == "/account/totp?next=%2Fadministrators"
    enroll(nina)
    nina.page.goto("/")
    assert nina.path == "/users"

    remove(owner)
    nina.page.goto("/")
    assert nina.path.startswith("/sign-in")
    nina.enter_password(NEW)
    expect(nina.page.locator("#email-error")).to_be_visible()


def invite(owner):
    """Invites an administrator from the list."""
    page = owner.page
    page.goto("/administrators")
    page.get_by_role("link", name="New administrator").click()
    page.get_by_label("Email").fill(NEW)
    page.get_by_label("Name", exact=True).fill("Nina")
    page.get_by_label("Role").select_option("support")
    # The only choice.
    assert page.get_by_label("Project or tenant").input_value() == "*"
    owner.press("Create invite link")
    link = page.locator("pre").inner_text().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/invitation\?token=[\w-]{43}", link)
    page.get_by_role("link", name="I’ve handed it over").click()
    expect(page.locator("tr", has_text=NEW).get_by_text("invited", exact=True)).to_be_visible()
    return link


def enroll(browser):
    """Scans the QR code, enters the first code, and returns the app and the recovery codes."""
    page = browser.page
    assert page.locator(".qr svg").bounding_box()["width"] > 150
    app = pyotp.parse_uri(page.get_by_role("link", name="Open it in an app").get_attribute("href"))
    assert app.issuer == "Countersign" and app.name == NEW
    key = page.locator("code[data-copy]").inner_text().replace(" ", "")
    assert key == app.secret
    page.get_by_label("Code", exact=True).fill(app.now())
    browser.press("Turn on authenticator")
    codes = page.locator("pre").inner_text().split()
    assert len(set(codes)) == 10
    page.get_by_role("link", name="I’ve saved these codes").click()
    return app, codes


def reset(owner):
    page = owner.page
    page.goto("/administrators")
    page.get_by_role("link", name="Nina New").click()
    page.get_by_role("link", name="Reset second factor…").click()
    page.get_by_label("To continue").fill("somebody else")
    owner.press("Reset second factor")
    expect(page.locator("#confirmation-error")).to_be_visible()
    page.get_by_label("To continue").fill(NEW)
    owner.press("Reset second factor")
    expect(page.locator("#note-error")).to_be_visible()
    page.get_by_label("Reason").fill("Lost the phone")
    owner.press("Reset second factor")
    assert "was reset" in owner.status


def remove(owner):
    page = owner.page
    page.goto("/administrators")
    page.get_by_role("link", name="Nina New").click()
    page.get_by_role("link", name="Remove administrator…").click()
    page.get_by_label("To continue").fill(NEW)
    owner.press("Remove administrator")
    assert "no longer an administrator" in owner.status


def test_a_form_is_recovered_after_its_session_expired(server, chromium):
    """The last activity is moved into the past instead of waiting an hour."""
    browser = Browser(chromium, server, True)
    browser.enter_password("ada@example.com")
    browser.page.goto("/projects/new")
    browser.page.get_by_label("Name", exact=True).fill("Typed long ago")
    browser.page.get_by_label("Project ID").fill("typed-long-ago")
    execute(server.data, "UPDATE console_session SET last_seen_at = last_seen_at - 3700000000")
    browser.press("Create project")
    assert "recover what you entered" in browser.status
    browser.page.get_by_label("Email").fill("ada@example.com")
    browser.page.get_by_label("Password").fill(PASSWORD)
    browser.press("Sign in")
    assert browser.page.get_by_role("heading", level=1).inner_text() == "Your form was saved"
    browser.press("Submit form")
    assert browser.path == "/projects/typed-long-ago"


def test_commands_reset_a_password_and_a_second_factor(server):
    words = ["--data", server.data, "--email", "ada@example.com"]
    pages = Pages(server.url)
    pages.sign_in()
    page = pages.get("/account/totp")
    app = pyotp.parse_uri(
        re.search(r'href="(otpauth:[^"]+)"', page.text).group(1).replace("&amp;", "&"))
    done = pages.http.post("/account/totp", headers={"Origin": server.url}, data={
        "csrf": re.search(r'name="csrf" value="([^"]+)"', page.text).group(1),
        "ticket": re.search(r'name="ticket" value="([^"]+)"', page.text).group(1),
        "code": app.now()})
    assert "Your second factor is on." in done.text
    assert "\tsecond factor\n" in run("admin", "list", "--data", server.data).stdout

    assert run("admin", "reset-totp", *words).returncode == 0
    assert pages.get("/").headers["location"].startswith("/sign-in")
    assert "\tno second factor\n" in run("admin", "list", "--data", server.data).stdout
    assert run("admin", "reset-totp", *words).returncode == 78

    result = run("admin", "reset-password", *words, input="another pass phrase\n")
    assert result.returncode == 0 and "another pass phrase" not in result.stdout + result.stderr
    assert Pages(server.url).sign_in().status_code == 422
    assert pages.sign_in(password="another pass phrase").status_code == 303
    assert run("admin", "reset-password", *words, input="short\n").returncode == 78
    assert run("admin", "reset-password", *words, input="").returncode == 64
    unknown = ["--data", server.data, "--email", "nobody@example.com"]
    for command in ("reset-password", "reset-totp"):
        result = run("admin", command, *unknown, input="a long pass phrase\n")
        assert result.returncode == 78 and "No administrator" in result.stderr
        assert run("admin", command, "--data", server.data, input="x\n").returncode == 64
    log = pages.get("/audit").text
    assert "command line" in log


def test_a_password_in_another_encoding_is_refused(server):
    create = ["admin", "create", "--role", "auditor", "--email", "nina@example.com"]
    reset = ["admin", "reset-password", "--email", "ada@example.com"]
    for command in (create, reset):
        words = [*command, "--data", server.data]
        refused = subprocess.run(
            [PROGRAM, *words], input="mot de passe oublié\n".encode("latin-1"),
            env=environment(words=words), capture_output=True, timeout=60)
        assert refused.returncode == 64 and b"isn't valid UTF-8" in refused.stderr, refused.stderr
    assert "nina@example.com" not in run("admin", "list", "--data", server.data).stdout
    assert Pages(server.url).sign_in().status_code == 303
    accepted = run(*reset, "--data", server.data, input="mot de passe oublié\r\n")
    assert accepted.returncode == 0, accepted.stderr
    assert Pages(server.url).sign_in(password="mot de passe oublié").status_code == 303
