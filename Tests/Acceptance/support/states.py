"""Pages without links to them: responses to forms, and pages for signed-out visitors."""

from playwright.sync_api import expect

from .support_states import SUPPORT


def sign_in(page, demo):
    page.goto("/sign-in?again=1")


def not_found(page, demo):
    page.goto("/nothing/here")


def wrong_form(page, demo):
    """Submits an empty form: an error summary, and messages next to the fields."""
    page.goto("/projects/new")
    page.locator("main form button").first.click()
    expect(page.locator("[role=alert]").first).to_be_attached()


def policy_check(page, demo):
    """Opens the review of a policy change, with old and new values side by side."""
    tenant = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    page.goto(f"{tenant}/policy")
    page.locator(".cells label[for=intervals-4]").last.click()
    page.locator("#pattern").select_option("account")
    page.locator("form[action$='/policy'] button.primary").click()
    expect(page.locator("form[action$='/policy/changes'] button:not([formaction], [type=button])")).to_have_count(1)


def open_menus(page, demo):
    """Opens all menus in the bar."""
    page.goto(demo.tenants("harbour-bank")[0] + "/policy/versions")
    page.evaluate("document.querySelectorAll('header details').forEach((menu) => { menu.open = true })")


def nothing_found(page, demo):
    page.goto("/projects/harbour-bank/users?q=nobody-is-called-so")


# States that a signed-in administrator can reach.
SIGNED_IN = {
    "page not found": not_found, "a form with errors": wrong_form,
    "a policy review": policy_check, "open menus": open_menus, "nothing found": nothing_found,
    **SUPPORT,
}
