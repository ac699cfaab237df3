"""Counts the clicks, fields, and pages that a task takes."""

from dataclasses import dataclass

from playwright.sync_api import expect


@dataclass
class Cost:
    clicks: int
    fields: int
    pages: int

    def within(self, goal):
        return (self.clicks <= goal.clicks and self.fields <= goal.fields
                and self.pages <= goal.pages)


class Hand:
    """A person at the console, whose every action is counted.

    Clicks are on links, buttons, and menus; fields are those typed into or selected from. Choosing
    a radio button is neither, as in the list of tasks that sets the goals. Pages are all pages
    opened, except the one that the last button led to.
    """

    def __init__(self, page):
        self.page = page
        self.cost = Cost(0, 0, 0)
        self._ended_with_a_button = False
        page.on("request", self._opened)

    def _opened(self, request):
        # A redirect is followed by the browser, not by the person.
        if request.is_navigation_request() and request.redirected_from is None:
            self.cost.pages += 1

    def start(self, path="/"):
        """Opens the page where the task begins, which isn't counted."""
        self.page.goto(path)
        self.cost = Cost(0, 0, 0)
        return self

    def click(self, locator):
        element = locator.first
        tag = element.evaluate("(element) => element.tagName")
        assert tag in ("A", "BUTTON", "SUMMARY"), f"a {tag} isn't clickable"
        self._ended_with_a_button = tag == "BUTTON"
        self.cost.clicks += 1
        element.click()
        self.page.wait_for_load_state()
        return self

    def choose(self, id):
        """Picks a radio button by its label."""
        self.page.locator(f"label[for={id}]").first.click()
        expect(self.page.locator(f"#{id}")).to_be_checked()
        return self

    def select(self, id, value):
        """Selects from a list, which counts as a field."""
        self.cost.fields += 1
        self.page.locator(f"#{id}").select_option(value)
        return self

    def type(self, locator, text):
        self.cost.fields += 1
        locator.first.fill(text)
        return self

    def search(self, text):
        """Searches with “/”, the text, and Enter."""
        self.page.keyboard.press("/")
        assert self.page.locator(":focus").get_attribute("type") == "search"
        self.cost.fields += 1
        self.page.keyboard.type(text)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self._ended_with_a_button = False
        return self

    def end(self):
        """Returns the cost of the task."""
        cost = self.cost
        return Cost(cost.clicks, cost.fields, cost.pages - self._ended_with_a_button)
