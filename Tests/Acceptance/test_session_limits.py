"""The limits of administrators' sessions, and the warning before they end."""

import re

import pytest
from playwright.sync_api import expect

from support.program import execute, reauthenticate

MINUTE = 60_000


@pytest.fixture(scope="module")
def demo(own_demo):
    return own_demo


@pytest.fixture
def page(demo, chromium):
    context = demo.context(chromium, demo.owner)
    page = context.new_page()
    # The page's timers and clock are driven by the test; the server's clock isn't.
    page.clock.install()
    page.goto("/projects/new")
    yield page
    if context.request.get("/account", max_redirects=0).status == 200:
        demo.copy_cookies(context, demo.owner)
    else:
        forget(demo)
    context.close()


def forget(demo):
    """Makes the next test sign in again."""
    demo._browsers.pop(demo.owner, None)


def warning(page):
    return page.locator("dialog.session[open]")


def age_sessions(demo, seconds):
    """Makes every session look as if it hadn't been used for that long."""
    execute(demo.server.data, "UPDATE console_session SET last_seen_at = last_seen_at - ?",
            seconds * 1_000_000)


def test_a_warning_comes_two_minutes_before_the_end_and_one_press_extends(page):
    page.locator("#name").fill("Typed before the warning")
    expect(page.locator("#name")).to_be_focused()
    page.clock.fast_forward(57 * MINUTE)
    expect(warning(page)).to_have_count(0)
    page.clock.fast_forward(MINUTE + 5_000)
    expect(warning(page)).to_contain_text("Your session is about to end")
    stay = warning(page).get_by_role("button", name="Stay signed in")
    expect(stay).to_be_focused()
    with page.expect_response(re.compile("/account/session-extension")) as extended:
        page.keyboard.press("Enter")
    assert extended.value.status == 200
    expect(warning(page)).to_have_count(0)
    expect(page.locator("#name")).to_be_focused()
    expect(page.locator("#name")).to_have_value("Typed before the warning")
    # It's as long again.
    page.clock.fast_forward(57 * MINUTE)
    expect(warning(page)).to_have_count(0)
    page.clock.fast_forward(MINUTE + 5_000)
    expect(warning(page)).to_have_count(1)


def test_another_tab_extends_the_session_of_all(page):
    page.clock.fast_forward(58 * MINUTE + 5_000)
    expect(warning(page)).to_have_count(1)
    later = page.evaluate("Date.now() + 3600000")
    other = page.context.new_page()
    other.goto("/account")
    other.evaluate("end => localStorage.setItem('countersign-session-end', String(end))", later)
    page.clock.run_for(2_000)
    expect(warning(page)).to_have_count(0)


def test_after_the_end_a_form_is_kept_while_signing_in_again(page, demo):
    page.locator("#name").fill("Typed before the end")
    page.locator("#id").fill("typed-before-the-end")
    age_sessions(demo, 3_700)
    page.clock.fast_forward(61 * MINUTE)
    expect(warning(page)).to_contain_text("Your session has ended")
    expect(warning(page)).to_contain_text("10 minutes")
    warning(page).get_by_role("button", name="Close").click()
    expect(page.locator("#name")).to_have_value("Typed before the end")
    page.locator("main form").get_by_role("button").first.click()
    page.locator("#email").fill(demo.owner.email)
    page.locator("#password").fill(demo.owner.password)
    page.locator("main form button").first.click()
    page.locator("#code").fill(demo.owner.next_code())
    page.locator("main form button").first.click()
    page.get_by_role("button", name="Submit form").click()
    expect(page.locator("main")).to_contain_text("typed-before-the-end")


def test_an_extension_that_comes_too_late_says_so(page, demo):
    page.clock.fast_forward(58 * MINUTE + 5_000)
    age_sessions(demo, 3_700)
    warning(page).get_by_role("button", name="Stay signed in").click()
    expect(warning(page)).to_contain_text("Your session has ended")


def test_the_page_says_when_the_session_ends_without_javascript(demo, chromium):
    context = demo.context(chromium, demo.owner, java_script_enabled=False)
    page = context.new_page()
    page.goto("/account")
    expect(page.locator("main")).to_contain_text("A session ends after 1 h of inactivity")
    context.close()


def test_new_limits_apply_to_open_sessions(demo, chromium):
    reauthenticate(demo.server.data)
    context = demo.context(chromium, demo.owner)
    page = context.new_page()
    page.goto("/instance-settings")
    page.get_by_role("link", name="Change settings…").click()
    page.get_by_label("Idle timeout (minutes)").fill("5")
    page.get_by_label("Maximum session length (hours)").fill("24")
    page.get_by_role("button", name="Save settings").click()
    expect(page.locator("[role=status]")).to_contain_text("Settings changed.")
    expect(page.locator("meta[name=session]")).to_have_attribute("data-idle", re.compile(r"^(2\d\d|300)$"))
    page.goto("/account")
    expect(page.locator("table").first).to_contain_text("current session")
    age_sessions(demo, 290)
    page.goto("/account")
    expect(page.locator("h1")).to_contain_text("Your account")
    age_sessions(demo, 310)
    page.goto("/account")
    expect(page).to_have_url(re.compile("/sign-in"))
    forget(demo)
    context.close()
