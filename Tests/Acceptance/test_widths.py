"""No page is tuned for one width: at several, and with longer words, everything is whole and in its card."""

import pytest

from support.demo import Demo
from support.faults import expect_none
from support.site import crawl, kinds

WIDTHS = (1440, 1280, 1100, 820)

# What's outside the card that it's in, tables that scroll, and email addresses that are cut.
FAULTS = """() => {
  const faults = [], name = (element) =>
    `${element.tagName}.${element.getAttribute("class") ?? ""} ${element.textContent.trim().slice(0, 40)}`;
  const clipped = (element, end) => {
    for (let at = element.parentElement; at && at !== end; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== "visible") return true;
    return false;
  };
  for (const card of document.querySelectorAll("main :is(.card, .alerts, .kpis > div, .savebar)")) {
    const edge = card.getBoundingClientRect();
    for (const element of card.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      if (!box.width || !box.height || element.closest(".visually-hidden, svg svg, .panel, symbol")) continue;
      if (box.right > edge.right + 1 || box.left < edge.left - 1)
        if (element.checkVisibility() && !clipped(element, card)) faults.push(`outside: ${name(element)}`);
    }
  }
  // On a tablet, a table of longer words may scroll within its card.
  for (const scroll of innerWidth < 1280 ? [] : document.querySelectorAll(".scroll"))
    if (scroll.checkVisibility() && scroll.scrollWidth > scroll.clientWidth + 1 && !scroll.closest("details"))
      faults.push(`scrolls by ${scroll.scrollWidth - scroll.clientWidth}: ${name(scroll.querySelector("caption"))}`);
  for (const text of document.querySelectorAll("main bdi")) {
    if (!/^\\S+@\\S+$/.test(text.textContent.trim()) || !text.checkVisibility()
        || text.closest(".visually-hidden, .log")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const boxes = [...range.getClientRects()];
    for (let at = text.parentElement; at.tagName !== "MAIN"; at = at.parentElement) {
      const style = getComputedStyle(at), edge = at.getBoundingClientRect();
      if (style.overflowX === "visible" || /auto|scroll/.test(style.overflowX)) continue;
      if (boxes.some((box) => box.bottom > edge.bottom + 3 || box.right > edge.right + 1))
        faults.push(`cut: ${text.textContent}`);
    }
  }
  return faults;
}"""


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """The demo, whose texts are about 30% longer."""
    with Demo(tmp_path_factory.mktemp("longer"), "--pseudo-locale", "ltr") as demo:
        yield demo


def faults_of(page, paths):
    for name, path in sorted(paths.items()):
        page.goto(path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for fault in dict.fromkeys(page.evaluate(FAULTS)):
                yield name, width, fault


def opened(demo, chromium):
    context = demo.context(chromium, demo.owner, viewport={"width": 1280, "height": 900})
    return context, context.new_page()


@pytest.mark.timeout(900)
def test_everything_is_whole_and_in_its_card(demo, chromium, page_kinds):
    context, page = opened(demo, chromium)
    expect_none(faults_of(page, page_kinds))
    context.close()


@pytest.mark.timeout(900)
def test_longer_words_are_whole_and_in_their_card(longer, chromium):
    visits = crawl(longer.browse(longer.owner), examples=1, downloads=False)
    context, page = opened(longer, chromium)
    expect_none(faults_of(page, kinds(visits)))
    context.close()


# Makes each word of a table 30% longer, except names and dates.
LENGTHEN = """() => {
  const walker = document.createTreeWalker(document.querySelector("main table.dense"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.parentElement.closest("bdi, time"))
      text.data = text.data.replace(/[A-Za-z]{2,}/g, (word) => word + word.slice(0, Math.ceil(word.length * 0.3)));
  }
}"""


@pytest.mark.parametrize("words", ["demo", "longer"])
def test_rows_and_controls_stay_low(request, chromium, words):
    """On a laptop, also with words that are 30% longer; those of the pseudo-locale are up to 60%, and in brackets."""
    demo = request.getfixturevalue(words)
    context, page = opened(demo, chromium)
    page.goto("/review")
    for lengthen, most in ((None, 72), (LENGTHEN, 72)) if words == "demo" else ((None, 110),):
        if lengthen:
            page.evaluate(lengthen)
        rows = page.locator("main table.dense tbody tr").evaluate_all(
            "(rows) => rows.map((row) => Math.ceil(row.getBoundingClientRect().height))")
        assert rows and max(rows) <= most, rows
    page.goto(demo.tenants("harbour-bank")[0] + "/policy")
    tops = page.locator(".controls > .control").evaluate_all(
        "(all) => all.map((one) => Math.round(one.getBoundingClientRect().top))")
    assert len(tops) == 5 and len(set(tops)) <= 2, tops
    context.close()
