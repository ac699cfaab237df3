"""Counts the presses, typed fields, and pages that a task takes."""

import re
from dataclasses import dataclass

from playwright.sync_api import expect


@dataclass(frozen=True)
class Cost:
    presses: int
    fields: int
    pages: int

    def __str__(self):
        return f"{self.presses}/{self.fields}/{self.pages}"

    def within(self, budget):
        return (self.presses <= budget.presses and self.fields <= budget.fields
                and self.pages <= budget.pages)


# Milliseconds to wait for what a press leads to, also on a busy machine.
PATIENCE = 30_000


class Hand:
    """A person at the console, whose every action is counted.

    A press is one on a link, button, menu, radio button, or checkbox; selecting from a list takes
    two. Typing is no press, and neither is the Enter key that ends a search; each field typed into
    is counted. Every page opened is counted, with the one that shows the result, but not the one
    where the task begins. A downloaded file is no page.
    """

    PRESSED = ("A", "BUTTON", "SUMMARY", "LABEL")

    def __init__(self, page, scripts=True):
        self.page = page
        self.scripts = scripts
        self.cost = Cost(0, 0, 0)
        page.set_default_timeout(PATIENCE)
        page.on("request", self._opened)

    def _count(self, presses=0, fields=0, pages=0):
        cost = self.cost
        self.cost = Cost(cost.presses + presses, cost.fields + fields, cost.pages + pages)

    def _opened(self, request):
        # A redirect is followed by the browser, not by the person.
        if request.is_navigation_request() and request.redirected_from is None:
            self._count(pages=1)

    def start(self, path="/"):
        """Opens the page where the task begins."""
        self.page.goto(path)
        self.cost = Cost(0, 0, 0)
        return self

    def press(self, locator):
        element = locator.first
        tag = element.evaluate("(element) => element.tagName")
        assert tag in self.PRESSED, f"a {tag} can't be pressed"
        self._count(presses=1)
        element.click()
        self.page.wait_for_load_state()
        return self

    def link(self, address):
        """Follows the first link of the page's content or frame whose URL contains a text; to a
        page of a project, only a link to itself."""
        links = f"a[href*='{address}']"
        if re.match(r"(/projects)?/[\w-]+/(review|tenants|policy)$", address):
            links = f":is(a[href$='{address}'], a[href*='{address}?view='])"
        found = self.page.locator(f"main {links}")
        return self.press(found if found.count() else self.page.locator(f"header {links}"))

    def button(self, name):
        return self.press(self.page.get_by_role("button", name=name, exact=True))

    def tick(self, id):
        """Picks a radio button or checkbox by its label."""
        self.press(self.page.locator(f"label[for={id}]:visible"))
        expect(self.page.locator(f"#{id}:visible")).to_be_checked(timeout=PATIENCE)
        return self

    def select(self, id, value):
        """Opens a list and selects an entry."""
        self._count(presses=2)
        self.page.locator(f"#{id}:visible").select_option(value)
        return self

    def type(self, id, text):
        self._count(fields=1)
        self.page.locator(f"#{id}:visible").fill(text)
        return self

    def search(self, text):
        """Searches for a user with the field that every page has, and that has the focus where work
        begins; with scripts, “/” leads there."""
        self._count(fields=1)
        field = self.page.locator("#find")
        if field.get_attribute("autofocus") is not None:
            expect(field).to_be_focused(timeout=PATIENCE)
        elif self.scripts:
            self.page.keyboard.press("/")
            expect(field).to_be_focused(timeout=PATIENCE)
        else:
            field.focus()
        self.page.keyboard.type(text)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        return self

    def download(self, locator):
        """Presses a link to a file, and returns the file's path."""
        before = self.cost.pages
        with self.page.expect_download() as download:
            self.press(locator)
        path = download.value.path()
        self._count(pages=before - self.cost.pages)
        return path

    def sees(self, text, within="main"):
        """Waits until part of the page shows a text or a match of a pattern."""
        expect(self.page.locator(within).first).to_contain_text(text, timeout=PATIENCE)
        return self

    def is_told(self, text):
        """Waits for the message that tells the result."""
        told = self.page.locator("[role=status]", has_text=text)
        expect(told.first).to_be_visible(timeout=PATIENCE)
        return self
