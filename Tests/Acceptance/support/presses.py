"""Presses in a browser."""

from playwright.sync_api import Locator


def wait_for_whole_pages():
    """Makes a click that leads to another page last until that page has been read to its end.

    Playwright's own lasts until the page has begun; what is read at once after it, such as a count
    or a text, would then be that of the part which has come.
    """
    press = Locator.click
    if hasattr(press, "waits"):
        return

    def click(self, **options):
        press(self, **options)
        if not self.page.is_closed():
            self.page.wait_for_load_state("domcontentloaded")

    click.waits = True
    Locator.click = click
