"""The console by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from support.program import Server, reauthenticate


@pytest.fixture(params=[True, False], ids=["with-scripts", "without-scripts"])
def page(request, standalone, chromium):
    context = chromium.new_context(base_url=standalone.url, java_script_enabled=request.param)
    yield context.new_page()
    context.close()


def focused(page):
    """Returns the focused element's ID, label, or text."""
    element = page.locator(":focus")
    if not element.count():
        return ""
    name = element.get_attribute("aria-label") or element.inner_text()
    return element.get_attribute("id") or " ".join(name.split())


def tab_to(page, what, presses=60):
    """Presses Tab until an element has the focus."""
    for _ in range(presses):
        page.keyboard.press("Tab")
        if focused(page) == what:
            return
    raise AssertionError(f"{presses} presses of Tab do not lead to {what}")


def sign_in(page):
    page.goto("/sign-in")
    tab_to(page, "email")
    page.keyboard.type("ada@example.com")
    page.keyboard.press("Tab")
    assert focused(page) == "password"
    page.keyboard.type("correct horse battery")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("heading", level=1).inner_text() == "Projects"


def test_an_administrator_signs_in_and_out(page):
    sign_in(page)
    assert focused(page) == "find", "work begins with a search"
    page.goto("/administrators")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to main content"
    tab_to(page, "Ada")
    page.keyboard.press("Enter")
    tab_to(page, "Sign out")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.goto("/")
    expect(page).to_have_url(re.compile("/sign-in"))


def test_a_policy_is_changed(page, api):
    sign_in(page)
    page.goto(f"/projects/{api.project}/policy")
    # The arrow keys select within a group of radio buttons, and start again after the last one.
    tab_to(page, "totp-off")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "totp"
    expect(page.locator("#totp")).to_be_checked()
    tab_to(page, "intervals-default")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "intervals-1"
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("heading", level=1).inner_text() == "Review changes"
    tab_to(page, page.locator(
        "form[action$='/policy/changes'] button:not([formaction], [type=button])").inner_text())
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"/projects/{api.project}/policy")
    expect(page.locator("#totp")).to_be_checked()
    expect(page.locator("#intervals-1")).to_be_checked()


def test_a_factor_is_removed(page, api, standalone):
    """Follows support's steps: find the user, choose the factor, give a reason."""
    api.switch_totp_on(1)
    uid, id_token = api.user(f"mallory@{api.project}.example")
    api.enroll(id_token, name="Mallory’s phone")
    sign_in(page)
    reauthenticate(standalone.data)
    page.goto(f"/projects/{api.project}")
    tab_to(page, "find")
    page.keyboard.type(f"mallory@{api.project}.example")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(re.escape(f"/users/{uid}") + "$"))
    tab_to(page, "Remove Mallory’s phone…")
    page.keyboard.press("Enter")
    page.locator("form[data-action]").wait_for()
    tab_to(page, "reason")
    page.keyboard.type("Lost")
    assert page.locator("#reason").input_value() == "lost"
    tab_to(page, "Note (required for “Other”)")
    page.keyboard.press("Enter")
    tab_to(page, "note")
    page.keyboard.type("Called from the number on file.")
    tab_to(page, "Remove factor")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "Mallory’s phone" in page.locator("[role=status]").inner_text()


def test_a_tenant_is_created(page, api):
    sign_in(page)
    page.goto(f"/projects/{api.project}/tenants")
    tab_to(page, "New tenant")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    tab_to(page, "name")
    page.keyboard.type("hospital")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("heading", level=1).inner_text() == "hospital"


@pytest.mark.parametrize("javascript", [True, False], ids=["with-scripts", "without-scripts"])
def test_the_setup_and_a_project_are_completed(chromium, tmp_path, javascript):
    with Server(tmp_path) as server:
        context = chromium.new_context(base_url=server.url, java_script_enabled=javascript)
        page = context.new_page()
        page.goto("/setup")
        for field, text in (
            ("code", server.setup_code), ("name", "Ada"), ("email", "ada@example.com"),
            ("password", "correct horse battery"),
        ):
            tab_to(page, field)
            page.keyboard.type(text)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.get_by_role("heading", level=1).inner_text() == "Projects"
        tab_to(page, "New project")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        tab_to(page, "name")
        page.keyboard.type("Acme")
        tab_to(page, "id")
        page.keyboard.type("acme-app")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(re.escape("/projects/acme-app") + "$"))
        assert page.get_by_role("heading", level=1).inner_text() == "Acme"
        context.close()


@pytest.mark.parametrize("page", [True], indirect=True, ids=["with-scripts"])
def test_keyboard_shortcuts_work_and_can_be_turned_off(page, api):
    sign_in(page)
    page.goto(f"/projects/{api.project}/users")
    page.keyboard.press("/")
    assert focused(page) == "find"
    # In a text field, the keys are text.
    page.keyboard.type("a/b?")
    assert page.locator("#find").input_value() == "a/b?"
    expect(page.locator("dialog")).to_have_count(0)
    page.locator("h1").click()
    page.keyboard.press("?")
    assert page.locator("dialog[open]").get_by_role("heading").inner_text() == "Keyboard shortcuts"
    page.keyboard.press("/")
    expect(page.locator("dialog[open]")).to_have_count(1)
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    # With a modifier, the key is the browser's.
    page.keyboard.press("Control+/")
    assert focused(page) != "find"
    menu = page.locator("details.account")
    menu.locator("summary").press("Enter")
    assert menu.get_attribute("open") is not None
    page.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    # The shortcuts can be turned off, and the browser remembers.
    menu.locator("summary").press("Enter")
    menu.get_by_role("button", name="Shortcuts").press("Enter")
    page.reload()
    page.keyboard.press("/")
    page.keyboard.press("?")
    assert focused(page) != "find" and page.locator("dialog").count() == 0
    # One with a modifier also works while typing.
    page.locator("#q").press("Control+k")
    assert focused(page) == "find"


@pytest.mark.parametrize("page", [True], indirect=True, ids=["with-scripts"])
def test_closing_the_list_of_shortcuts_leaves_the_errors(page, api):
    sign_in(page)
    page.goto(f"/projects/{api.project}/tenants/new")
    page.locator("main form button").first.click()
    expect(page.locator("#errors")).to_have_count(1)
    page.keyboard.press("?")
    page.locator("dialog[open]").get_by_role("button", name="Close").click()
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator("#errors")).to_have_count(1)
    expect(page.locator(".error")).to_have_count(1)


@pytest.mark.parametrize("page", [True], indirect=True, ids=["with-scripts"])
def test_typing_a_search_hides_no_rows(page, api):
    for name in ("ada", "bob", "eve"):
        api.sign_up(f"{name}@example.com")
    sign_in(page)
    page.goto(f"/projects/{api.project}/users")
    rows = page.locator("table.list tbody tr")
    expect(rows).to_have_count(3)
    page.locator("#q").press_sequentially("BOB exam")
    assert [row.is_visible() for row in rows.all()].count(True) == 3
    with page.expect_navigation():
        page.locator("#q").press("Enter")
    expect(rows).to_have_count(1)


def test_the_bar_of_the_policy_form_never_covers_the_focus(page, api):
    sign_in(page)
    page.goto(f"/projects/{api.project}/policy")
    covered = []
    for _ in range(70):
        page.keyboard.press("Tab")
        if page.evaluate("""() => {
            const element = document.activeElement, bar = document.querySelector(".savebar");
            return element.closest("main") && !bar.contains(element)
              && element.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
          }"""):
            covered.append(focused(page))
    assert not covered
