"""The policy page: its controls come first, and it says what isn't saved yet."""

import re

import pytest
from playwright.sync_api import expect

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


@pytest.fixture
def open_page(demo, chromium):
    """Opens the policy of a tenant of Harbour Bank, as a person with their own browser settings."""
    contexts = []

    def make(tenant="retail", who=None, viewport=WIDE, **settings):
        context = demo.context(chromium, who or demo.owner, viewport=viewport, **settings)
        contexts.append(context)
        page = context.new_page()
        page.goto(next(link for link in demo.tenants("harbour-bank") if f"/{tenant}-" in link) + "/policy")
        return page

    yield make
    for context in contexts:
        context.close()


def bottom(page, selector):
    box = page.locator(selector).first.bounding_box()
    return box["y"] + box["height"]


@pytest.mark.parametrize("viewport, limit", [(WIDE, 600), (NARROW, 844)], ids=["wide", "narrow"])
def test_the_switch_and_the_intervals_are_on_the_first_screen(open_page, viewport, limit):
    page = open_page(viewport=viewport)
    assert "TOTP is on, ±1 interval" in page.locator("#controls h2").inner_text()
    assert bottom(page, "label[for=totp]") <= limit
    assert bottom(page, ".stepper:visible") <= limit


def test_the_page_opens_short(open_page):
    page = open_page()
    assert page.evaluate("document.documentElement.scrollHeight") <= 1_700
    words = re.findall(r"\w[\w’.,%±–-]*", page.locator("main").inner_text())
    options = page.locator("main option").all_inner_texts()
    hidden = sum(len(re.findall(r"\w[\w’.,%±–-]*", option)) for option in options)
    assert len(words) - hidden <= 400, len(words) - hidden
    assert all(not part.get_attribute("open") for part in page.locator("main details").all())


def test_too_few_codes_are_one_sentence(open_page):
    page = open_page("archive")
    assert "too few to compare windows" in page.locator("#window").inner_text()
    expect(page.locator("#window .cells")).to_have_count(0)
    expect(page.locator(".stepper:visible")).to_have_count(1)


def test_heading_bars_and_cells_follow_the_window_that_is_tried(open_page):
    page = open_page()

    def look():
        return page.locator(".questions").inner_text(), page.locator(".bars .near.d2").first.evaluate(
            "(bar) => getComputedStyle(bar).fill"), page.locator(".cells .d3").first.evaluate(
            "(cell) => getComputedStyle(cell, '::before').backgroundColor")
    before = look()
    assert before[0].startswith("Why ±1? It rejects")
    page.locator(".cells label[for=intervals-3]").last.click()
    expect(page.locator("#intervals-3")).to_be_checked()
    after = look()
    assert after[0].startswith("Why ±3?")
    assert before[1] != after[1] and before[2] != after[2]
    expect(page.locator(".savebar output")).to_have_text(
        "1 unsaved change: adjacent intervals ±1 → ±3")


def test_readers_see_facts(open_page, demo):
    page = open_page(who=demo.person("auditor"))
    facts = page.locator("#controls dl.facts").inner_text()
    assert "Adjacent intervals" in facts and "Mandatory at sign-up" in facts
    expect(page.locator("main form, .savebar, .controls")).to_have_count(0)
    assert "Restore a version" not in page.content()


def test_the_first_card_prints_as_facts(open_page):
    page = open_page()
    expect(page.locator("#controls dl.facts")).not_to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("#controls dl.facts")).to_be_visible()
    expect(page.locator(".controls")).not_to_be_visible()
