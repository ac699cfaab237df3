"""Every page that is edited in place: its sections, the bar that names the changes, and the way out."""

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from support.program import ROOT, reauthenticate

WIDE = {"width": 1440, "height": 900}


@dataclass(frozen=True)
class Page:
    """A page, one of its settings, what to enter, and what the bar then says of it."""

    name: str
    address: str
    setting: str
    value: str
    change: str
    sections: int = 1

    def __str__(self):
        return self.name


def free(text):
    """A text of any direction, as the bar isolates it."""
    return f"\u2068{text}\u2069"


# `P` is a project, and `S` one of its tenants. The policy's own page has its own tests.
PAGES = [
    Page("general", "P/settings", "factor-for-changes-off", "",
         "Require a second factor to change sign-in On → Off", 4),
    Page("general of a tenant", "S/settings", "name", "retail2",
         f"Name {free('retail')} → {free('retail2')}", 2),
    Page("name from right to left", "S/settings", "name", "متجر",
         f"Name {free('retail')} → {free('متجر')}", 2),
    Page("sign-in methods", "S/settings/sign-in-methods", "password-shortest", "12",
         f"Minimum password length {free(6)} → {free(12)}", 4),
    Page("support rules", "S/settings/support", "actions-per-hour", "37",
         f"Actions per hour {free(20)} → {free(37)}", 5),
    Page("playbook", "S/guidance/edit", "text", "Call back first.", "Text"),
    Page("identity provider", "P/settings/providers/new", "name", "Acme", f"Name – → {free('Acme')}", 2),
    Page("instance settings", "/instance-settings", "minutes", "20",
         f"Re-authentication interval {free(15)} → {free(20)}"),
    Page("sign-in provider", "/administrators/sign-in-provider", "client-secret", "s3cret", "Client secret", 2),
    Page("preferences", "/account/preferences", "theme-dark", "", "Theme Match system → Dark"),
]


@pytest.fixture
def open_page(demo, chromium):
    """Opens a page as the owner, whom no page asks for a code."""
    contexts = []

    def make(page, viewport=WIDE, **settings):
        context = demo.context(chromium, demo.owner, viewport=viewport, **settings)
        contexts.append(context)
        reauthenticate(demo.server.data)
        tab = context.new_page()
        tab.goto(address(demo, page.address))
        return tab

    yield make
    for context in contexts:
        context.close()


def address(demo, path):
    tenant = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    return re.sub("^S", tenant, re.sub("^P", "/projects/harbour-bank", path))


def change(tab, page):
    field = tab.locator(f"#{page.setting}")
    if page.value:
        field.fill(page.value)
    else:
        field.check()


def test_every_form_of_settings_is_in_the_list():
    """A page with the bar, or a button that saves, is one of these."""
    used = {str(path.relative_to(ROOT / "Templates")) for path in (ROOT / "Templates").rglob("*.mustache")
            if re.search(r"parts/savebar|<button[^>]*>\{\{%\}\}Save ", path.read_text())}
    assert used == {
        "policy/policy.mustache", "settings/settings.mustache", "support/settings.mustache",
        "guidance/edit.mustache", "providers/provider.mustache", "administrators/instance-settings.mustache",
        "sign-in-provider/settings.mustache", "account/preferences.mustache"}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_bar_names_a_change_and_its_row_says_what_was(open_page, page):
    tab = open_page(page)
    bar = tab.locator(".savebar output")
    expect(bar).to_have_text("No unsaved changes")
    expect(tab.locator(".setting.changed")).to_have_count(0)
    change(tab, page)
    expect(bar).to_have_text(f"1 unsaved change: {page.change}")
    row = tab.locator(".setting.changed")
    expect(row).to_have_count(1)
    if " → " in page.change:
        before = page.change.split(" → ")[0].rsplit(" ", 1)[1]
        expect(row.locator(".was")).to_contain_text(before)
    elif page.name == "sign-in provider":
        expect(row.locator(".was")).to_have_count(0)
    if page.sections > 1:
        expect(tab.locator(".index a", has_text="1 change")).to_have_count(1)
    assert "s3cret" not in bar.inner_text()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_leaving_asks_and_cancel_does_not(open_page, demo, page):
    tab = open_page(page)
    asked = []
    tab.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    change(tab, page)
    tab.goto("/account")
    assert asked == ["beforeunload"]
    tab.goto(address(demo, page.address))
    change(tab, page)
    tab.locator(".savebar a").click()
    tab.wait_for_load_state()
    assert asked == ["beforeunload"]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_without_scripts_it_is_a_form_with_save_and_cancel(open_page, page):
    tab = open_page(page, java_script_enabled=False)
    bar = tab.locator(".savebar")
    assert bar.locator("a").inner_text() == "Cancel"
    assert bar.locator("button.primary").is_visible()
    assert not bar.locator("output").is_visible()
    form = tab.locator("form:has(.savebar)")
    assert form.locator(f"#{page.setting}").count() == 1


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_fields_are_as_wide_as_what_is_typed(open_page, page):
    """Numbers have short fields, sections one measure, and the index stays beside them."""
    tab = open_page(page)
    widths = tab.locator(".settings .card.flush").evaluate_all(
        "(all) => all.map((one) => Math.round(one.getBoundingClientRect().width))")
    assert max(widths) <= 44 * 16, widths
    numbers = tab.locator(".setting input[inputmode=numeric], .setting input[inputmode=decimal]").evaluate_all(
        "(all) => all.map((one) => Math.round(one.getBoundingClientRect().width))")
    assert all(width <= 96 for width in numbers), numbers
    if page.sections > 1:
        links = tab.locator(".index a")
        assert links.count() >= page.sections
        tab.mouse.wheel(0, 600)
        top = tab.locator(".index").evaluate("(index) => index.getBoundingClientRect().top")
        assert top >= 0, top


def test_a_saved_change_is_saved_with_scripts_and_without(open_page, demo):
    page = Page("support rules", "S/settings/support", "actions-per-hour", "21", "")
    for value, settings in (("21", {}), ("20", {"java_script_enabled": False})):
        tab = open_page(page, **settings)
        tab.locator("#actions-per-hour").fill(value)
        tab.get_by_role("button", name="Save rules").click()
        expect(tab.get_by_role("status").first).to_contain_text("Support rules saved.")
        expect(tab.locator("#actions-per-hour")).to_have_value(value)


def test_an_error_keeps_what_was_entered_and_compares_it_with_what_is_stored(open_page):
    page = Page("support rules", "S/settings/support", "actions-per-hour", "x", "")
    tab = open_page(page)
    tab.locator("#actions-per-hour").fill("none")
    tab.get_by_role("button", name="Save rules").click()
    expect(tab.locator("#actions-per-hour-error")).to_be_visible()
    expect(tab.locator(".savebar output")).to_have_text(
        f"1 unsaved change: Actions per hour {free(20)} → {free('none')}")


def test_no_tab_of_a_tenant_leads_out_of_it(open_page, demo):
    tab = open_page(Page("general", "S/settings", "", "", ""))
    tenant = address(demo, "S")
    for path in ("", "/users", "/policy", "/settings", "/reports"):
        tab.goto(tenant + path)
        assert path != "/settings" or tab.locator("nav.tabs a").count() > 1
        for link in tab.locator("nav.tabs a").all():
            assert link.get_attribute("href").startswith(tenant), (path, link.inner_text())
