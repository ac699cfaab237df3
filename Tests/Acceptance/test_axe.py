"""Checks every kind of page with axe-core, against the automatable rules of WCAG 2.2 AA."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from support.faults import expect_none
from support.states import SIGNED_IN

RULES = {"runOnly": {"type": "tag", "values": [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}, "resultTypes": ["violations"]}
COLORS = {"runOnly": {"type": "rule", "values": [
    "color-contrast", "link-in-text-block"]}, "resultTypes": ["violations"]}
SIZES = {"runOnly": {"type": "rule", "values": ["target-size"]}, "resultTypes": ["violations"]}


def violations(page, rules):
    """Returns axe's violations on the open page, in a readable form."""
    if page.evaluate("!window.axe"):
        page.evaluate(Axe().axe_script)
    # What passes is ten times as much.
    found = page.evaluate("(rules) => axe.run(rules).then((results) => results.violations)", rules)
    return [(page.url, rule["id"], node["target"], node["failureSummary"])
            for rule in found for node in rule["nodes"][:2]]


# What decides on an element's colors: its classes, and those of the two around it.
LOOKS = """() => {
  const look = (element) => element ? `${element.tagName}.${element.className?.baseVal ?? element.className}` : "";
  return [...new Set([...document.querySelectorAll("body *")].map((element) =>
    [element, element.parentElement, element.parentElement?.parentElement].map(look).join(" < ")))];
}"""
seen = set()


def check(page, faults):
    """The color scheme changes only colors, so dark pages are checked if they look new."""
    page.emulate_media(color_scheme="light")
    faults += [("light", *fault) for fault in violations(page, RULES)]
    looks = set(page.evaluate(LOOKS))
    if looks <= seen:
        return
    seen.update(looks)
    page.emulate_media(color_scheme="dark")
    faults += [("dark", *fault) for fault in violations(page, COLORS)]


def owner_page(demo, browser):
    # axe is injected as a script, which the console's content security policy blocks. Colors in the
    # middle of a transition would be measured wrong.
    context = demo.context(browser, demo.owner, bypass_csp=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def page(demo, chromium):
    yield from owner_page(demo, chromium)


@pytest.fixture(scope="module")
def page_with_noto(demo, chromium_with_noto):
    yield from owner_page(demo, chromium_with_noto)


def test_axe_checks_the_rules_of_wcag_22(page):
    page.goto("/")
    page.set_content("<html lang='en'><title>t</title><button style='width:9px;height:9px'>"
                     "</button><button style='width:9px;height:9px'>b</button>")
    assert "button-name" in {fault[1] for fault in violations(page, RULES)}
    assert "target-size" in {fault[1] for fault in violations(page, RULES)}


def test_every_kind_of_page_is_accessible(page, covering_kinds):
    faults = []
    for path in covering_kinds.values():
        page.goto(path)
        check(page, faults)
    expect_none(faults)


@pytest.mark.parametrize("state", SIGNED_IN)
def test_every_state_of_a_page_is_accessible(page, demo, state):
    faults = []
    SIGNED_IN[state](page, demo)
    check(page, faults)
    expect_none(faults)


def test_links_and_buttons_are_large_enough_with_taller_letters_too(
        page_with_noto, demo, covering_kinds):
    faults = []
    for path in covering_kinds.values():
        page_with_noto.goto(path)
        faults += violations(page_with_noto, SIZES)
    for state in SIGNED_IN.values():
        state(page_with_noto, demo)
        faults += violations(page_with_noto, SIZES)
    expect_none(faults)


def test_sign_in_is_accessible(demo, chromium):
    faults = []
    context = chromium.new_context(
        base_url=demo.url, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/sign-in")
    check(page, faults)
    page.get_by_label("Email").fill("nobody@example.com")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("[role=alert]")).to_have_count(1)
    check(page, faults)
    context.close()
    expect_none(faults)


def test_the_page_for_a_missing_permission_is_accessible(demo, chromium):
    faults = []
    context = demo.context(
        chromium, demo.person("policy"), bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/projects/harbour-bank/users")
    expect(page.locator("h1")).to_have_count(1)
    check(page, faults)
    context.close()
    expect_none(faults)
