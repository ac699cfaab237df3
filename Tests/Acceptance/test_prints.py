"""Pages that people print: each is printed to PDF in Chromium, and the file is inspected."""

import io
import re
import unicodedata

import pypdf
import pytest

from support.agents import exempt

BANK = "/projects/harbour-bank"

# Fewer characters than this are at most a heading.
ONLY_A_HEADING = 250

# The operators that paint a path.
PAINTS = {b"f", b"F", b"f*", b"S", b"s", b"B", b"B*", b"b", b"b*"}

# The shapes and the words of the charts that the printed page shows.
CHARTS = """() => {
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility() && box.width + box.height > 0;
  };
  const all = (selector) => [...document.querySelectorAll(`main svg ${selector}`)].filter(shown);
  return {
    shapes: all(":is(path, rect, circle, line, polyline, polygon)").length,
    words: all("text").map((text) => text.textContent),
  };
}"""


def plain(text):
    """Returns a text without ligatures, isolating characters, and spaces, which a reader of PDF
    guesses from the distances of letters."""
    text = unicodedata.normalize("NFKC", re.sub("[\u2066-\u2069]", "", text))
    return "".join(text.split())


class Print:
    """A printed page."""

    def __init__(self, page, paper="A4"):
        page.emulate_media(media="print")
        self.title = plain(page.locator("h1").inner_text())
        self.charts = page.evaluate(CHARTS)
        # What leads to other pages, and isn't said in the page's content too.
        self.content = plain(page.locator("main").text_content())
        self.navigation = {
            plain(text) for text in page.locator(
                "header.bar a, header.bar button, header.bar summary, a.skip").all_text_contents()}
        reader = pypdf.PdfReader(io.BytesIO(page.pdf(format=paper)))
        self.pages = [plain(sheet.extract_text()) for sheet in reader.pages]
        self.painted = sum(
            operator in PAINTS for sheet in reader.pages
            for _, operator in sheet.get_contents().operations)
        self.text = "".join(self.pages)


@pytest.fixture(scope="module")
def demo(own_demo):
    return own_demo


@pytest.fixture(scope="module")
def paths(demo):
    owner = demo.browse(demo.owner)
    exempt(owner, BANK)
    tenant = next(path for path in demo.tenants("harbour-bank") if "/retail-" in path)
    listed = owner.get(f"{tenant}/users?factor=locked").text
    user = re.search(rf'href="({tenant}/users/\w{{28}})"', listed)[1]
    return {"tenant": tenant, "user": user, "bank": BANK}


@pytest.mark.parametrize("address, facts, has_charts", [
    ("{tenant}", ["retail", "Users with a second factor", "Accepted", "Outside the window"], True),
    ("{tenant}/policy", ["retail", "TOTP is on", "Enrollment pattern", "Compare all 11 windows", "Recommended", "±1", "±10"],
     True),
    ("{bank}/review", ["Harbour Bank", "5 tenants", "Sign-off", "retail", "staff", "fingerprint", "Before"],
     True),
    ("/review", ["Harbour Bank", "Lumen School", "Meridian Care", "Exemptions"], True),
    ("{bank}/review/sign-off", ["Next review due", "What is signed off"], False),
    ("{bank}/review/evidence", ["Harbour Bank", "SHA-256", "retail", "Waits for a new phone."], True),
    ("/audit", ["Changes across this instance", "Olga Lindqvist", "On this page: 50 entries"], False),
    ("{bank}/audit", ["Changes in Harbour Bank"], False),
    ("{user}", ["TOTP", "Timeline", "Second factors", "Harbour Bank / retail"], True),
    ("/administrators", ["Olga Lindqvist", "owner", "priya@example.com", "tessa@example.com"], False),
    ("/reports/removals", ["Removals", "Stolen or compromised"], True),
    ("{bank}/reports/enrollment", ["Enrolled"], True),
    ("{bank}/reports/exemptions", ["Waits for a new phone."], False),
    ("/exemptions", ["Waits for a new phone."], False),
    ("{tenant}/reports/locked", ["Locked", "retail", "User"], False),
    ("{tenant}/reports/factors?age=unused-90",
     ["retail", "User", "Second factors: Unused for 90 days", "On this page: 50 of "], False),
    ("{tenant}/policy/comparison?with=harbour-bank", ["Harbour Bank", "retail", "Adjacent intervals"],
     True),
], ids=["overview", "policy", "review", "reviews", "sign-off", "evidence", "audit", "audit-of-a-pool",
        "user", "administrators", "removals", "enrollment", "exemptions-of-a-project",
        "exemptions", "locked", "factors", "comparison"])
def test_a_page_prints_whole_and_without_navigation(
        demo, chromium, paths, address, facts, has_charts):
    context = demo.context(chromium, demo.owner)
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.goto(address.format(**paths))
    printed = Print(page)
    context.close()

    # A table starts below the title rather than on a separate page.
    first = printed.pages[0]
    assert len(first) >= ONLY_A_HEADING or len(printed.pages) == 1, first
    assert all(len(sheet) > 20 for sheet in printed.pages), printed.pages
    assert printed.title in first
    missing = [fact for fact in facts if plain(fact) not in printed.text]
    assert not missing, (missing, printed.text[:2_000])

    entries = {text for text in printed.navigation if text not in printed.content}
    assert len(entries) >= 5, printed.navigation
    shown = [text for text in entries if text in printed.text]
    assert not shown, shown

    lost = [word for word in printed.charts["words"] if plain(word) not in printed.text]
    assert not lost, lost
    assert (printed.charts["shapes"] > 0) == has_charts
    assert printed.painted >= printed.charts["shapes"]
