"""Forms of actions that open over the user's page."""

import re

import pytest
from playwright.sync_api import expect

from support.program import reauthenticate
from support.support_states import STRICT, tenant


@pytest.fixture(scope="module")
def demo(own_demo):
    return own_demo


@pytest.fixture
def page(demo, chromium):
    context = demo.context(chromium, demo.owner, viewport={"width": 390, "height": 844})
    page = context.new_page()
    text = demo.browse(demo.owner).get("/projects/harbour-bank/users?factor=totp").text
    page.goto(re.search(r"/projects/harbour-bank/users/\w{28}", text)[0])
    yield page
    demo.copy_cookies(context, demo.owner)
    context.close()


def link(page, name=re.compile("^Remove (?!all factors)")):
    return page.get_by_role("link", name=name).first


def test_errors_are_shown_in_the_form_and_escape_closes_it(page):
    address, dialog = page.url, page.locator("dialog[open]")
    link(page).click()
    expect(dialog.locator("h1")).to_be_focused()
    dialog.get_by_role("button", name="Remove factor").click()
    summary = dialog.get_by_role("alert")
    expect(summary).to_be_focused()
    summary.get_by_role("link").first.click()
    expect(dialog.locator("#reason")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(link(page)).to_be_focused()
    assert page.url.split("#")[0] == address


def test_cancel_closes_the_form(page):
    link(page).click()
    page.locator("dialog[open]").get_by_role("link", name="Cancel").click()
    expect(page.locator("dialog")).to_have_count(0)


def test_an_action_leads_to_the_page_with_its_result(page, demo):
    reauthenticate(demo.server.data)
    page.locator("main summary", has_text=re.compile("^More$")).click()
    link(page, re.compile("^Rename ")).click()
    page.locator("#name").fill("Second phone")
    page.locator("#reason").select_option("asked")
    page.get_by_role("button", name="Rename factor").click()
    expect(page.locator("[role=status]")).to_contain_text("Renamed factor")
    expect(page.locator("dialog")).to_have_count(0)


def test_the_link_still_leads_to_the_page_of_the_form(page):
    with page.context.expect_page() as opened:
        link(page).click(modifiers=["Control"])
    other = opened.value
    expect(other.locator("main form[data-action]")).to_have_count(1)
    assert other.url.endswith("/removal")
    expect(page.locator("dialog")).to_have_count(0)


def intercept(page, respond):
    """Responds to the form in place of the server, and returns the addresses it's submitted to."""
    sent = []

    def answer(route):
        if route.request.method == "POST":
            sent.append(route.request.url)
            respond(route)
        else:
            route.continue_()

    page.route("**/removal", answer)
    return sent


def test_a_failed_request_is_not_repeated(page):
    sent = intercept(page, lambda route: route.abort())
    link(page).click()
    page.locator("#reason").select_option("lost")
    page.locator(".note summary").click()
    page.locator("#note").fill("Typed before the network failed")
    user = page.url
    page.get_by_role("button", name="Remove factor").click()
    expect(page.locator("dialog [role=alert]")).to_contain_text("The server’s response didn’t arrive")
    expect(page.locator("#note")).to_have_value("Typed before the network failed")
    assert page.url == user and len(sent) == 1


def test_an_error_page_is_shown_above_the_form_and_not_instead_of_it(page, demo):
    body = demo.browse(demo.owner).get("/nowhere").text
    sent = intercept(page, lambda route: route.fulfill(
        status=503, content_type="text/html; charset=utf-8", body=body))
    link(page).click()
    page.locator("#reason").select_option("lost")
    page.locator(".note summary").click()
    page.locator("#note").fill("Typed before the server failed")
    for presses in (1, 2):
        page.get_by_role("button", name="Remove factor").click()
        expect(page.locator("dialog [role=alert]")).to_have_text(
            "This page doesn’t exist, or you don’t have access to it.")
        expect(page.locator("#note")).to_have_value("Typed before the server failed")
        assert len(sent) == presses


def test_a_caller_code_that_cannot_be_sent_leaves_the_focus_in_the_form(page, demo):
    pool = tenant(demo, STRICT)
    text = demo.browse(demo.owner).get(f"{pool}/users?factor=totp").text
    page.goto(re.search(rf"{re.escape(pool)}/users/\w{{28}}", text)[0])
    link(page).click()
    dialog = page.locator("dialog[open]")
    # The last of them is one too many.
    for role in [*["status"] * 5, "alert"]:
        dialog.locator("button[formaction$=caller-code]").click()
        expect(dialog.locator(f"[role={role}]")).to_have_count(1)
        expect(dialog.locator("h1")).to_be_focused()


def test_a_download_leaves_no_errors_of_an_earlier_attempt(page):
    page.goto(page.url + "/data")
    page.get_by_role("button", name="Export user data").click()
    expect(page.locator("[aria-labelledby=errors]")).to_have_count(1)
    page.locator("#reason").select_option("data-request")
    with page.expect_download():
        page.get_by_role("button", name="Export user data").click()
    expect(page.locator("[aria-labelledby=errors], .error")).to_have_count(0)


def test_an_expired_session_leads_to_sign_in(demo, chromium):
    context = demo.context(chromium, demo.owner)
    page = context.new_page()
    text = demo.browse(demo.owner).get("/projects/harbour-bank/users?factor=totp").text
    page.goto(re.search(r"/projects/harbour-bank/users/\w{28}", text)[0])
    link(page).click()
    page.locator("#reason").select_option("lost")
    context.clear_cookies()
    page.get_by_role("button", name="Remove factor").click()
    expect(page).to_have_url(re.compile("/sign-in"))
    context.close()
