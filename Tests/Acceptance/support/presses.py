"""Clicks in a browser."""

from playwright.sync_api import Locator


def wait_for_whole_pages():
    """Makes clicks that navigate, or open a form over the page, wait until it has loaded.

    Playwright's own click returns when the response starts. A count or a text read right after it
    would describe only the part that has arrived.
    """
    press = Locator.click
    if hasattr(press, "waits"):
        return

    def click(self, **options):
        press(self, **options)
        if not self.page.is_closed():
            self.page.locator("body[aria-busy]").wait_for(state="detached")
            self.page.wait_for_load_state("domcontentloaded")

    click.waits = True
    Locator.click = click
