"""Pages that no link leads to: what a form answers, and what a stranger sees."""

from playwright.sync_api import expect

from .support_states import SUPPORT


def sign_in(page, demo):
    page.goto("/sign-in?again=1")


def not_found(page, demo):
    page.goto("/nothing/here")


def wrong_form(page, demo):
    """A form sent empty: a summary of what is wrong, and words beside the fields."""
    page.goto("/projects/new")
    page.locator("main form button").first.click()
    expect(page.locator("[role=alert]").first).to_be_attached()


def policy_check(page, demo):
    """Old and new beside each other, before anything is saved."""
    tenant = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    page.goto(f"{tenant}/policy")
    page.locator("label[for=window-own]").click()
    page.locator("#intervals").fill("4")
    page.locator("label[for=pattern-account]").click()
    page.locator("form[action$='/policy'] button.primary").click()
    expect(page.locator("form[action$='/policy/changes'] button:not([formaction])")).to_have_count(1)


def open_menus(page, demo):
    """The menus of the bar, all open."""
    page.goto(demo.tenants("harbour-bank")[0])
    page.evaluate("document.querySelectorAll('details').forEach((menu) => { menu.open = true })")


def nothing_found(page, demo):
    page.goto("/projects/harbour-bank/users?q=nobody-is-called-so")


# Those that somebody who is signed in can reach.
SIGNED_IN = {
    "a page that is not there": not_found, "a wrong form": wrong_form,
    "a policy to check": policy_check, "open menus": open_menus, "nothing found": nothing_found,
    **SUPPORT,
}
