"""Passkeys of administrators, with Chromium's virtual authenticator."""

import json
import re

import pytest
from playwright.sync_api import expect

from support.pages import Pages
from support.program import Server, free_port, query, reset_sign_ins, run

PASSWORD = "correct horse battery"
EMAIL = "ada@example.com"


@pytest.fixture
def server(tmp_path):
    port = free_port()
    with Server(
            tmp_path / "data", "--public-url", f"http://localhost:{port}",
            listen=f"127.0.0.1:{port}") as server:
        pages = Pages(server.url, origin=f"http://localhost:{port}")
        pages.set_up(server.setup_code)
        pages.create_project("acme-app")
        yield server


class Browser:
    """An administrator's browser with a virtual authenticator."""

    def __init__(self, chromium, server):
        self.context = chromium.new_context(base_url=server.url)
        self.context.set_default_timeout(30_000)
        self.page = self.context.new_page()
        self.devtools = self.context.new_cdp_session(self.page)
        self.devtools.send("WebAuthn.enable")
        self.authenticator = self.devtools.send("WebAuthn.addVirtualAuthenticator", {"options": {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
            "hasUserVerification": True, "isUserVerified": True,
        }})["authenticatorId"]

    def send(self, command, **more):
        return self.devtools.send(
            f"WebAuthn.{command}", {"authenticatorId": self.authenticator, **more})

    def enter_password(self, email=EMAIL):
        self.page.goto("/sign-in")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.press("Sign in")

    def press(self, name):
        self.page.locator("main").get_by_role("button", name=name, exact=True).click()

    def add_passkey(self, name, algorithm=None):
        self.page.goto("/account")
        self.page.get_by_role("link", name="Add passkey").click()
        self.page.get_by_label("Name").fill(name)
        if algorithm:
            self.page.locator("[data-passkey]").evaluate(
                "(element, algorithm) => { element.dataset.algorithms = algorithm }", str(algorithm))
        self.press("Add passkey")
        expect(self.page.get_by_text(f"Passkey “{name}” added.")).to_be_visible()
        # Recovery codes come with the first passkey.
        self.page.goto("/account")

    def sign_in_with_passkey(self):
        self.page.goto("/sign-in")
        self.page.get_by_role("link", name="Sign in with a passkey").click()
        self.press("Use passkey")

    def sign_out(self):
        self.page.goto("/sign-out")
        self.press("Sign out")
        expect(self.page.get_by_text("You’re signed out.")).to_be_visible()

    def log_has(self, text):
        self.page.goto("/audit")
        found = self.page.locator("main").get_by_text(text).locator("visible=true")
        expect(found.first).to_be_visible()

    @property
    def path(self):
        return re.sub(r"^https?://[^/]+", "", self.page.url)


@pytest.mark.parametrize("algorithm, start", [
    (-7, "\\xa501020326"), (-8, "\\xa401010327")], ids=["ES256", "EdDSA"])
def test_v14_a_passkey_signs_in_alone_and_as_second_factor(server, chromium, algorithm, start):
    ada = Browser(chromium, server)
    ada.enter_password()
    ada.add_passkey("Laptop", algorithm)
    # The key's type and algorithm in COSE.
    [[key]] = query(server.data, "SELECT cose_key FROM passkey")
    assert key.startswith(start)
    page = ada.page
    row = page.locator("tr", has_text="Laptop")
    expect(row.get_by_text("Never")).to_be_visible()

    ada.sign_out()
    ada.sign_in_with_passkey()
    page.wait_for_url("**/projects")
    page.goto("/account")
    expect(row.get_by_text("Never")).to_have_count(0)

    ada.sign_out()
    ada.enter_password()
    assert ada.path == "/sign-in/code/passkey"
    ada.press("Use passkey")
    page.wait_for_url("**/projects")
    ada.log_has("Administrator signed in")

    # An authenticator without the passkey, and without a verified user.
    ada.sign_out()
    ada.send("setUserVerified", isUserVerified=False)
    ada.sign_in_with_passkey()
    expect(page.locator("#passkey")).to_be_visible()
    ada.send("setUserVerified", isUserVerified=True)
    ada.send("clearCredentials")
    ada.press("Use passkey")
    expect(page.locator("#passkey")).to_contain_text("No passkey was used")


def test_a_passkey_re_authenticates_for_an_action(server, chromium):
    ada = Browser(chromium, server)
    ada.enter_password()
    ada.add_passkey("Laptop")
    page = ada.page
    # Added, but not used in this session: the form leads to the passkey, and is kept meanwhile.
    page.goto("/audit/retention")
    page.get_by_label("Keep entries").select_option("730")
    ada.press("Use your passkey")
    page.wait_for_url("**/account/reauthentication/passkey?next=*")
    ada.press("Use passkey")
    page.wait_for_url("**/sign-in/answers?form=*")
    ada.press("Submit form")
    expect(page.get_by_label("Keep entries")).to_have_value("730")
    page.get_by_label("Reason").fill("Two years")
    ada.press("Change retention")
    page.wait_for_url("**/audit")
    ada.log_has("Administrator re-authenticated")

    page.goto("/account")
    page.get_by_role("link", name="Laptop").click()
    page.get_by_label("Name").fill("Work laptop")
    ada.press("Rename")
    expect(page.get_by_role("link", name="Work laptop")).to_be_visible()
    page.get_by_role("link", name="Work laptop").click()
    page.get_by_role("link", name="Remove passkey").click()
    ada.press("Remove passkey")
    # The role requires a second factor.
    expect(page.get_by_text("this is your only one")).to_be_visible()


def test_only_pages_of_passkeys_load_a_second_script(server, chromium):
    """With an empty cache, they take four requests instead of three, in addition to the tab's icon."""
    ada = Browser(chromium, server)
    ada.enter_password()
    ada.page.goto("/account")
    requests = []
    ada.devtools.send("Network.enable")
    ada.devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    ada.page.on("request", lambda request: requests.append(request.url))

    def files(path, has_passkeys):
        requests.clear()
        ada.page.goto(path)
        assert ada.path == path
        expect(ada.page.locator("[data-passkey]")).to_have_count(1 if has_passkeys else 0)
        # Browsers cache the files by their version.
        paths = [re.sub(r"^https?://[^/]+|\?v=.*", "", url) for url in requests]
        assert paths.pop(0) == path
        return sorted(path for path in paths if path != "/static/mark.svg")

    usual = ["/static/countersign.css", "/static/countersign.js"]
    assert files("/account/passkeys/new", True) == [*usual, "/static/passkey.js"]
    ada.add_passkey("Laptop")
    assert files("/account", False) == usual
    assert files("/account/reauthentication/passkey?next=%2Faudit%2Fretention", True) == [
        *usual, "/static/passkey.js"]
    ada.sign_out()
    assert files("/sign-in", False) == usual
    assert files("/sign-in/passkey", True) == [*usual, "/static/passkey.js"]


def test_v14_replayed_foreign_and_removed_passkeys_are_refused(server, chromium):
    ada = Browser(chromium, server)
    ada.enter_password()
    ada.add_passkey("Laptop")
    page = ada.page
    ada.sign_out()

    # A response is caught before it's sent, then sent twice.
    page.goto("/sign-in/passkey")
    page.evaluate("() => { HTMLFormElement.prototype.submit = function () { window.caught = "
                  "JSON.stringify(Object.fromEntries(new FormData(this))); }; }")
    ada.press("Use passkey")
    page.wait_for_function("window.caught")
    form = json.loads(page.evaluate("window.caught"))
    origin = server.url
    headers = {"Origin": origin}

    def send(form):
        return page.request.post("/sign-in/passkey", form=form, headers=headers, max_redirects=0)

    wrong = {**form, "ticket": form["ticket"][:-4] + "AAAA"}
    assert send(wrong).status == 422
    first = send(form)
    assert first.status == 303, first.text()
    page.context.clear_cookies(name="countersign-session")
    again = send(form)
    assert again.status == 422 and "The page expired" in again.text()

    # The client data has another origin than what the authenticator signed.
    ada.page.goto("/sign-in/passkey")
    page.evaluate("() => { HTMLFormElement.prototype.submit = function () { window.caught = "
                  "JSON.stringify(Object.fromEntries(new FormData(this))); }; }")
    ada.press("Use passkey")
    page.wait_for_function("window.caught")
    form = json.loads(page.evaluate("window.caught"))
    import base64
    text = base64.urlsafe_b64decode(form["client-data"] + "==").decode()
    text = text.replace(origin, "http://localhost.example:1")
    form["client-data"] = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    refused = send(form)
    assert refused.status == 422 and "wasn’t accepted" in refused.text()

    done = run("admin", "reset-totp", "--data", str(server.data), "--email", EMAIL)
    assert done.returncode == 0, done.stderr
    ada.sign_in_with_passkey()
    expect(page.get_by_text("This passkey wasn’t accepted.").first).to_be_visible()
    ada.enter_password()
    ada.log_has("Passkey rejected")


def test_c1_passkeys_can_be_required_of_owners(server, chromium):
    ada = Browser(chromium, server)
    ada.enter_password()
    ada.add_passkey("Laptop")
    page = ada.page
    ada.sign_out()
    ada.sign_in_with_passkey()
    page.wait_for_url("**/projects")
    page.goto("/instance-settings")
    page.get_by_role("link", name="Change requirement…").click()
    page.get_by_label("Reason").fill("Phishing")
    ada.press("Require passkeys")
    expect(page.get_by_text("Passkeys are now required.")).to_be_visible()

    # Another owner with a password only has to add a passkey before anything else, and to use it.
    made = run(
        "admin", "create", "--data", str(server.data), "--email", "olga@example.com", "--role",
        "owner", input="correct horse battery\n")
    assert made.returncode == 0, made.stderr
    reset_sign_ins(server.data)
    olga = Browser(chromium, server)
    olga.page.goto("/sign-in")
    olga.page.get_by_label("Email").fill("olga@example.com")
    olga.page.get_by_label("Password").fill(PASSWORD)
    olga.press("Sign in")
    olga.page.wait_for_url("**/account/passkeys/new")
    olga.page.goto("/administrators")
    assert olga.path == "/account/passkeys/new?next=%2Fadministrators"
    olga.page.get_by_label("Name").fill("Phone")
    olga.press("Add passkey")
    olga.page.wait_for_url("**/account/reauthentication/passkey**")
    olga.press("Use passkey")
    olga.page.wait_for_url("**/administrators")

    done = run("admin", "passkeys-optional", "--data", str(server.data))
    assert done.returncode == 0 and "no longer required" in done.stdout
    again = run("admin", "passkeys-optional", "--data", str(server.data))
    assert again.returncode == 0 and "weren't required" in again.stdout, again.stdout


def test_passkeys_need_javascript_and_a_hostname(tmp_path, chromium):
    with Server(tmp_path / "data") as server:
        pages = Pages(server.url)
        pages.set_up(server.setup_code)
        assert "Sign in with a passkey" not in Pages(server.url).get("/sign-in").text
        text = pages.get("/account/passkeys/new").text
        assert "Passkeys require HTTPS and a hostname" in text
        checked = run(
            "check-config", "--data", str(server.data), "--listen", "127.0.0.1:1")
        assert "can't use passkeys" in checked.stdout, checked.stdout

    port = free_port()
    with Server(
            tmp_path / "named", "--public-url", f"http://localhost:{port}",
            listen=f"127.0.0.1:{port}") as server:
        Pages(server.url, origin=server.url).set_up(server.setup_code)
        context = chromium.new_context(base_url=server.url, java_script_enabled=False)
        page = context.new_page()
        page.goto("/sign-in")
        page.get_by_role("link", name="Sign in with a passkey").click()
        expect(page.get_by_text("This page requires JavaScript.")).to_be_visible()
        page.get_by_role("button", name="Use passkey").click()
        expect(page.get_by_text("No passkey was received.").first).to_be_visible()
        page.get_by_role("link", name="Sign in with password").click()
        expect(page.get_by_label("Password")).to_be_visible()
