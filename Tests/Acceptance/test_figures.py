"""Positions, rows, and entries of pages, which people notice before they read."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from support.faults import expect_none

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def open_page(demo, chromium):
    """Opens a page of the `retail` tenant for a role; `S` is the tenant's address."""
    contexts = []

    def make(role, address, viewport):
        context = demo.context(chromium, demo.person(role), viewport=viewport)
        contexts.append(context)
        page = context.new_page()
        tenant = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
        page.goto(address.replace("S", tenant, 1) if address.startswith("S") else address)
        return page

    yield make
    for context in contexts:
        context.close()


def top(page, selector):
    """The distance of an element from the top of the page."""
    return page.locator(selector).first.evaluate(
        "(element) => Math.round(element.getBoundingClientRect().top + scrollY)")


def tallest(page, selector):
    """The height of the tallest of the elements."""
    expect(page.locator(selector).first).to_be_visible()
    return page.locator(selector).evaluate_all(
        "(all) => Math.ceil(Math.max(...all.map((one) => one.getBoundingClientRect().height)))")


def beyond(page, selector):
    """How much wider the element's content is than the element, which hides it."""
    return page.locator(selector).first.evaluate("(one) => one.scrollWidth - one.clientWidth")


def covering(page, selector):
    """The height of the element's part that is on the first screen."""
    return page.locator(selector).evaluate(
        "(one) => Math.max(0, Math.ceil(innerHeight - one.getBoundingClientRect().top))")


def count(page, selector):
    return page.locator(f"{selector}:visible").count()


@dataclass(frozen=True)
class Figure:
    """What is measured on a page, and how much it may be at most."""

    role: str
    address: str
    viewport: dict
    measure: object
    at_most: int
    selector: str = ""

    def __str__(self):
        name = getattr(self.measure, "__name__", "figure")
        return f"{self.role}-{self.address}-{self.viewport['width']}-{name}"


FIGURES = [
    # The changes of the overview's figures are in one line.
    Figure("owner", "S", WIDE, tallest, 40, ".kpis dd:has(strong)"),
    # The filters are in one row, with “More filters” below.
    Figure("auditor", "S/audit", WIDE, tallest, 120, "form.filter"),
    Figure("auditor", "S/audit", WIDE, top, 420, "main thead"),
    Figure("auditor", "/review", WIDE, tallest, 72, "main table.dense tbody tr"),
    Figure("auditor", "/review", WIDE, beyond, 0, ".scroll:has(table.dense)"),
    # Nothing covers the controls while there is nothing to review.
    Figure("owner", "S/policy", PHONE, covering, 0, ".savebar"),
    Figure("owner", "S/activity", WIDE, tallest, 48, "main table.list tbody tr"),
    Figure("owner", "S", WIDE, count, 10, "nav.side a"),
    Figure("owner", "/projects/harbour-bank", WIDE, count, 10, "nav.side a"),
    Figure("owner", "/review", WIDE, count, 8, "nav.side a"),
    Figure("owner", "/projects", WIDE, count, 5, "#attention li"),
]


@pytest.mark.parametrize("figure", FIGURES, ids=str)
def test_a_page_keeps_to_its_figures(open_page, figure):
    page = open_page(figure.role, figure.address, figure.viewport)
    value = figure.measure(page, *[figure.selector] if figure.selector else [])
    assert value <= figure.at_most, f"{value} instead of {figure.at_most}"


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_labels_of_charts_are_outside_the_data(open_page, viewport):
    """No label touches another, and none is within the plot, where it would cover the data."""
    page = open_page("owner", "S", viewport)
    expect_none(page.locator(".plot svg.c").evaluate_all("""(charts) => charts.flatMap((chart) => {
      const faults = [];
      const lines = [...chart.querySelectorAll(".g")].map((line) => line.getBoundingClientRect().top);
      const [top, base] = [Math.min(...lines), Math.max(...lines)];
      const labels = [...chart.querySelectorAll("text")].map((text) =>
        [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
      labels.forEach(([text, box], index) => {
        if (lines.length && box.bottom > top + 1 && box.top < base - 1)
          faults.push(`${text} is on the data`);
        for (const [other, next] of labels.slice(index + 1))
          if (box.right > next.left && next.right > box.left && box.bottom > next.top
              && next.bottom > box.top) faults.push(`${text} is on ${other}`);
      });
      return faults;
    })"""))
