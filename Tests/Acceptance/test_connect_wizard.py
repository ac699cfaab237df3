"""Connecting a project of Identity Platform in the console, with a browser: against a double of Google."""

import pytest
from playwright.sync_api import expect

from support.connected import wait_for_read
from support.google import READ, Google
from support.google_answers import PROJECT, authenticator, totp, user
from support.pages import Pages
from support.program import Server, reauthenticate

REMINDER = "firebaseauth.users.create"


@pytest.fixture(scope="module")
def google(tmp_path_factory):
    """A project with 30 users and a tenant, and a service account that may do too much."""
    with Google(tmp_path_factory.mktemp("google")) as google:
        google.account = google.add_account(permissions=[*READ, REMINDER])
        google.key = google.add_key(google.account)
        google.mfa = totp(0)
        google.add_users(user("anna", factors=[authenticator()]), *[user(f"user-{number:02}") for number in range(29)])
        google.add_tenant("shop-ab001", totp(3))
        yield google


@pytest.fixture
def page(chromium, google, tmp_path):
    """An owner's page, who has just confirmed their identity; `page.server` is the server."""
    with Server(tmp_path / "data", *google.flags) as server:
        owner = Pages(server.url)
        owner.set_up(server.setup_code)
        reauthenticate(server.data)
        context = chromium.new_context(base_url=server.url)
        context.add_cookies([
            {"name": cookie.name, "value": cookie.value, "url": server.url} for cookie in owner.http.cookies.jar])
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.server, page.errors = server, []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        yield page
        assert page.errors == []
        context.close()


def press(page, name, role="button"):
    page.locator("main").get_by_role(role, name=name, exact=True).click()


def test_a_project_at_google_is_connected_and_read(google, page, tmp_path):
    key = tmp_path / "countersign-key.json"
    key.write_text(google.key)
    page.goto("/projects/new")
    press(page, "Connect a project", "link")
    page.get_by_label("In Google").check()
    page.get_by_label("Project ID there").fill(PROJECT)
    press(page, "Continue")
    expect(page.locator("main")).to_contain_text(f"--role=projects/{PROJECT}/roles/countersignRead")
    assert page.locator("pre").count() == 5
    press(page, "Continue", "link")

    # The script fills the field from the file, which isn't sent itself.
    page.get_by_label("Key file", exact=True).set_input_files(key)
    expect(page.get_by_label("Key file (JSON) or token")).to_have_value(google.key)
    with page.expect_request(lambda request: request.method == "POST") as sent:
        press(page, "Encrypt and check")
    assert "remote-credential" in sent.value.post_data and "countersign-key.json" not in sent.value.post_data
    expect(page.get_by_role("heading", name="All checks passed")).to_be_visible()
    main = page.locator("main")
    expect(main).to_contain_text(f"--remove-permissions={REMINDER}")
    expect(main).to_contain_text("30 users")
    assert google.changes == [] and "BEGIN PRIVATE KEY" not in page.content()
    press(page, "Continue", "link")
    page.get_by_label("Name in the console").fill("Alder Transit")
    page.get_by_label("Reason").fill("Agreed with its owners")
    press(page, "Connect project")
    page.wait_for_url(f"**/projects/{PROJECT}/settings/connection")
    assert wait_for_read(page.server, PROJECT) == "working"
    page.goto(f"/projects/{PROJECT}/settings/connection")
    expect(page.locator("main")).to_contain_text("30 users")

    # A user's page asks Google first.
    asked = len(google.calls("lookup"))
    google.users["anna"]["displayName"] = "Anna the Second"
    page.goto(f"/projects/{PROJECT}/users/anna")
    expect(page.locator("h1")).to_contain_text("Anna the Second")
    expect(page.locator("body")).to_contain_text("s ago")
    assert len(google.calls("lookup")) == asked + 1

    # Pausing asks nothing, resuming a reason, and disconnecting deletes the copy.
    page.goto(f"/projects/{PROJECT}/settings/connection")
    press(page, "Pause")
    expect(page.locator("main")).to_contain_text("Connection paused.")
    press(page, "Resume…", "link")
    page.get_by_label("Reason").fill("Looked at")
    press(page, "Resume connection")
    expect(page.locator("main")).to_contain_text("working")
    press(page, "Disconnect project…", "link")
    page.get_by_label("Reason").fill("The contract ended")
    press(page, "Disconnect project")
    page.wait_for_url("**/projects")
    expect(page.locator("main")).to_contain_text("Project disconnected.")
    assert google.changes == [] and "BEGIN PRIVATE KEY" not in page.server.text


def test_the_first_failed_check_says_what_to_do(google, page):
    google.fail("config", (403, {"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}}))
    try:
        page.goto("/projects/new/connection")
        page.get_by_label("Project ID there").fill(PROJECT)
        press(page, "Continue")
        press(page, "Continue", "link")
        page.get_by_label("Key file (JSON) or token").fill("{}")
        press(page, "Encrypt and check")
        expect(page.locator("main")).to_contain_text("There’s a problem")
        page.get_by_label("Key file (JSON) or token").fill(google.key)
        press(page, "Encrypt and check")
        expect(page.get_by_role("heading", name="A check failed")).to_be_visible()
        expect(page.locator("main")).to_contain_text("The service account lacks firebaseauth.configs.get.")
        assert page.get_by_role("link", name="Continue", exact=True).count() == 0
        google.mend()
        press(page, "Check again")
        expect(page.get_by_role("heading", name="All checks passed")).to_be_visible()
    finally:
        google.mend()
