"""The list of a pool's users and the results of a search: selecting users, and what fits."""

import re

import pytest
from playwright.sync_api import expect

WIDTHS = (820, 1100, 1280, 1440)

# Emails that are cut, and boxes outside their card; `LONGER` makes words 30 percent longer first.
CUT = """() => [...document.querySelectorAll("main .who")].filter((who) =>
  who.scrollHeight > who.clientHeight + 1 || who.scrollWidth > who.clientWidth + 1)
  .map((who) => who.textContent)"""
OUTSIDE = """() => [...document.querySelectorAll("main .card")].flatMap((card) => {
  const { left, right } = card.getBoundingClientRect();
  return [...card.querySelectorAll("tbody :is(th, td, a, time, .chip)")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && (box.right > right + 1 || box.left < left - 1);
  }).map((element) => element.textContent);
})"""
LONGER = """() => {
  for (const element of document.querySelectorAll("main :is(thead th, .chip, td.soft, nav a, button)")) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replace(
      /[A-Za-z]{3,}/g, (word) => word + word.slice(0, Math.ceil(word.length * 0.3)));
  }
}"""


@pytest.fixture
def open_page(demo, chromium):
    """Opens pages in which a role is signed in; returns the page and the tenant's address."""
    contexts = []

    def make(role, width, **settings):
        context = demo.context(
            chromium, demo.person(role), viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        return context.new_page(), next(
            link for link in demo.tenants("harbour-bank") if "/retail-" in link)

    yield make
    for context in contexts:
        context.close()


@pytest.mark.parametrize("javascript", [True, False], ids=["with-scripts", "without-scripts"])
def test_users_are_selected_one_by_one_by_page_and_then_all(open_page, javascript):
    page, tenant = open_page("owner", 1280, java_script_enabled=javascript)
    page.goto(f"{tenant}/users?factor=totp")
    bar, boxes = page.locator(".selection"), page.locator("tbody [name=user]")
    expect(bar).to_be_hidden()
    boxes.nth(0).check()
    boxes.nth(2).check()
    expect(bar).to_be_visible()
    expect(bar.get_by_role("button")).to_have_text(
        ["Clear", "Remove factors…", "End sessions…", "Disable…", "CSV"])
    expect(bar).to_contain_text("selected")
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_be_hidden()
    boxes.nth(1).check()
    bar.get_by_role("button", name="Disable…").click()
    expect(page.locator("h1")).to_have_text("Disable 1 user?")

    page.goto(f"{tenant}/users?factor=totp")
    assert "Select all 1" not in page.locator("main").inner_text()
    page.get_by_role("link", name="Select all users on this page").click()
    assert all(box.is_checked() for box in boxes.all())
    page.get_by_role("link", name=re.compile(r"^Select all [\d,]+ users$")).click()
    expect(bar).to_contain_text(re.compile(r"All [\d,]+ users selected"))
    assert all(box.is_disabled() for box in boxes.all())
    bar.get_by_role("button", name="Remove factors…").click()
    expect(page.locator("h1")).to_contain_text("Remove second factors from")


@pytest.mark.parametrize("javascript", [True, False], ids=["with-scripts", "without-scripts"])
@pytest.mark.parametrize("address", ["S/users", "S/users?select=page", "/users?q=an"])
def test_emails_are_whole_and_nothing_is_outside_its_card(open_page, address, javascript):
    page, tenant = open_page("owner", 1440, java_script_enabled=javascript)
    page.goto(address.replace("S", tenant, 1) if address[0] == "S" else address)
    for longer in (False, True):
        if longer:
            page.evaluate(LONGER)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(CUT) == [], (width, longer)
            assert page.evaluate(OUTSIDE) == [], (width, longer)


def test_each_column_has_one_heading(open_page):
    page, tenant = open_page("owner", 1440)
    page.goto(f"{tenant}/users")
    headings = page.locator("main thead th")
    expect(headings).to_have_count(7)
    expect(headings.nth(5)).to_have_text("Last code")
    page.locator("thead summary").click()
    page.locator("thead .panel").get_by_role("link", name="Name").click()
    expect(page).to_have_url(re.compile(r"sort=name"))
    expect(headings.first).to_have_attribute("aria-sort", "ascending")
    page.goto("/users?q=an")
    expect(page.locator("main thead")).to_have_count(1)
