"""The console without a mouse."""

import pytest


@pytest.fixture(params=[True, False], ids=["with-scripts", "without-scripts"])
def page(request, standalone, chromium):
    context = chromium.new_context(base_url=standalone.url, java_script_enabled=request.param)
    yield context.new_page()
    context.close()


def focused(page):
    """The focused element, as its id or its words."""
    element = page.locator(":focus")
    return (element.get_attribute("id") or element.inner_text().strip()) if element.count() else ""


def tab_to(page, what, presses=40):
    """Presses Tab until an element has the focus, as somebody who cannot point does."""
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


def test_sign_in_and_out(page):
    sign_in(page)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the page"
    tab_to(page, "Ada · owner")
    page.keyboard.press("Enter")
    tab_to(page, "Sign out")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith("/sign-in?signed-out=1") or "/sign-in" in page.url
    page.goto("/")
    assert "/sign-in" in page.url


def test_change_a_policy(page, api):
    sign_in(page)
    page.goto(f"/projects/{api.project}/policy")
    # Within a group of radio buttons the arrows choose.
    tab_to(page, "totp-off")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "totp" and page.locator("#totp").is_checked()
    tab_to(page, "window-default")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert focused(page) == "intervals"
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.get_by_role("heading", level=1).inner_text() == "Check the change"
    tab_to(page, page.locator("button[value=confirm]").inner_text())
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.goto(f"/projects/{api.project}/policy")
    assert page.locator("#totp").is_checked()
    assert page.locator("#intervals").input_value() == "1"
