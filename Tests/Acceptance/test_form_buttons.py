"""The button that confirms is on the screen in every dialog and on every form page."""

import re
from html import unescape
from pathlib import Path

import pytest

from support.agents import exempt, set_rules
from support.faults import expect_none
from support.pages import Pages
from support.program import LONG_AGO, execute, reauthenticate
from support.rest import create_administrator
from support.support_states import OPEN, OTHER, STRICT, approval, draft, subject, tenant
from support.waiting import until

SOURCES = Path(__file__).parents[2] / "Sources" / "Console"
BANK = "/projects/harbour-bank"
SCREEN = {"width": 1366, "height": 768}

# Forms that no page of the demo leads to; all of them have the same template.
UNREACHED = {
    "RemoveSignInProvider": "no sign-in provider",
    "RemoveProvider": "no identity provider",
    "ConnectProject": "no project that's being connected",
    "ChangeConnection": "no connected project",
    "ChangeTextMessages": "no connected project",
}


def forms():
    """Returns the pattern of the address of every form action in the sources by its name."""
    project, below = "/projects/[^/]+", "/tenants/[^/]+"
    kinds = {"Path": "", "ProjectPath": project, "TenantPath": project + below,
             "PoolPath": f"{project}(?:{below})?"}
    found = {}
    for file in SOURCES.rglob("*.swift"):
        for name, body in re.findall(
                r"^struct (\w+): (?!ConsolePage)(.*?)^}", file.read_text(), re.M | re.S):
            path = re.search(r"static let path = (\w+)\(\s*(.*?)\)", body, re.S)
            if path is None or "static let action = ConsoleAction" not in body:
                continue
            kind, parts = path.groups()
            place = kinds[kind.rstrip("0123456789")]
            steps = re.findall(r'"[^"]+"|\bnil\b', parts.split("parameters:")[0])
            found[name] = re.compile(place + "".join(
                "/[^/]+" if step == "nil" else "/" + step.strip('"') for step in steps) + "$")
    return found


def links(pages, address):
    text = pages.get(address).text
    return {unescape(link).split("#")[0] for link in re.findall(r'href="(/[^"]*)"', text)}


def places(demo):
    """Returns pages that lead to forms: of two pools and the instance, and of users in all states."""
    strict = tenant(demo, STRICT)
    lists = [f"{tenant(demo, name)}/users?{query}" for name in (STRICT, OPEN)
             for query in ("factor=none", "factor=totp", "state=disabled", "state=locked",
                           "state=unverified", "factor=exempt")]
    pages = demo.browse(demo.owner)
    users = [re.search(r'href="([^"]+/users/\w{28})"', pages.get(address).text)
             for address in [*lists, f"{BANK}/users?factor=exempt"]]
    return ["/projects", "/projects?attention=all", "/audit", "/administrators",
            "/instance-settings", *sorted(
                link for link in links(pages, "/administrators")
                if re.fullmatch(r"/administrators/[\w-]{20,}", link)),
            f"{BANK}/tenants", f"{BANK}/settings", f"{strict}/settings", f"{BANK}/settings/keys",
            f"{BANK}/settings/tokens", f"{BANK}/settings/custom-token-keys", f"{strict}/users", f"{strict}/settings/tokens",
            *(subject(demo, STRICT, action) for action in (
                "factor.remove", "factor.suspend", "factor.temporary-code", "factor.report",
                "account.protect")),
            *(user[1] for user in users if user)]


@pytest.fixture(scope="module")
def demo(own_demo):
    pages = own_demo.browse(own_demo.owner)
    exempt(pages, BANK)
    for name in (STRICT, OPEN):
        set_rules(pages, tenant(own_demo, name), resynchronization="on", temporary_codes="on",
                  recovery_codes="on", caller_verification="required")
    execute(own_demo.server.data, "UPDATE factor SET clock_offset = -3 WHERE kind = 'totp'"
            " AND account_key IN (SELECT account_key FROM factor WHERE kind = 'totp' LIMIT 2000)")
    return own_demo


@pytest.fixture(scope="module")
def reached(demo):
    """Returns a page that leads to each form, and the form's address, by the form's name."""
    pages, found = demo.browse(demo.owner), {}
    for place in places(demo):
        for link in links(pages, place):
            for name, address in forms().items():
                if (name not in found and address.fullmatch(link.split("?")[0])
                        and '<form class="card' in pages.get(link).text):
                    found[name] = (place, link)
    return found


def test_every_form_is_reached_from_a_page(reached):
    assert set(forms()) - set(reached) == set(UNREACHED)


BOTTOM = """(decide) => {
  const button = [...decide.querySelectorAll(".row > button")].at(-1);
  if (!button) return "no button";
  const box = button.getBoundingClientRect();
  if (box.bottom > innerHeight || box.top < 0) return Math.round(box.bottom - innerHeight);
  const hit = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return button.contains(hit) ? 0 : "covered by " + hit.className;
}"""


def bottom(page):
    """Returns how far below the screen the button ends, or what covers it; 0 if it's all visible."""
    bar = page.locator("form .decide")
    return bar.last.evaluate(BOTTOM) if bar.count() else "no button"


def fill(page):
    """Makes every field of the form visible that a choice shows."""
    for choice in ("#reason", "#until"):
        options = page.locator(f"{choice} option:is([value=other], [value=custom])")
        if options.count():
            page.locator(choice).select_option(options.first.get_attribute("value"))
    page.evaluate("scrollTo(0, 0)")


def send_caller_codes(demo, users):
    """Sends each user a code, for which forms have a field from then on."""
    pages = demo.browse(demo.owner)
    reauthenticate(demo.server.data)
    for user in users:
        pages.post(f"{user}/caller-code", {"return": user}, user)


def test_the_button_of_every_form_is_on_the_screen(demo, chromium, reached):
    """With the own code due, the caller's code and the checks required, and the note open."""
    context = demo.context(chromium, demo.owner, viewport=SCREEN)
    page, faults, asked = context.new_page(), [], 0
    send_caller_codes(
        demo, {place for place, _ in reached.values() if re.search(r"/users/\w{28}$", place)})
    reauthenticate(demo.server.data, LONG_AGO)
    for name, (place, address) in reached.items():
        page.goto(address)
        fill(page)
        asked += page.locator("#caller-code").count()
        faults += [(name, "page", found) for found in [bottom(page)] if found]
        if not re.search(r"/users/\w{28}$", place):
            continue
        page.goto(place)
        link = page.locator(f"[data-dialog] a[href='{address}']")
        if not link.count():
            continue
        if link.first.evaluate("(link) => Boolean(link.closest('details:not([open])'))"):
            page.locator("section[aria-label=Actions] summary").click()
        link.first.click()
        page.locator("dialog[open] form, form[data-download]").or_(
            page.locator("main > form")).first.wait_for()
        fill(page)
        faults += [(name, "dialog", found) for found in [bottom(page)] if found]
    demo.copy_cookies(context, demo.owner)
    context.close()
    expect_none(faults)
    assert asked > 0


def undo(page, demo):
    """Opens the page on which another administrator undoes a bulk removal."""
    pool = tenant(demo, OTHER)
    create_administrator(demo.server.data, "eve@example.com", "owner", name="Eve")
    other = Pages(demo.url)
    assert other.sign_in("eve@example.com").status_code == 303
    reauthenticate(demo.server.data)
    users = re.findall(
        r'<span class="mono">(\w{28})<', other.get(f"{pool}/users?factor=totp").text)[:3]
    job = other.post(f"{pool}/bulk-removals", {"list": "\n".join(users)}).headers["location"]
    proofs = re.findall(r'name="proof" value="([^"]*)"', other.get(job).text)
    answer = other.post(job, {"reason": "lost", "proof": [unescape(proof) for proof in proofs]})
    assert answer.status_code == 303, re.findall(r'error">([^<]+)', answer.text)
    pages = demo.browse(demo.owner)
    until(lambda: f'href="{job}/undo"' in pages.get(job).text, "the removal is done", 60)
    page.goto(f"{job}/undo")


@pytest.mark.parametrize("state", [draft, undo, approval])
def test_the_button_of_pages_about_several_users_is_on_the_screen(demo, chromium, state):
    context = demo.context(chromium, demo.owner, viewport=SCREEN)
    page = context.new_page()
    reauthenticate(demo.server.data)
    state(page, demo)
    reauthenticate(demo.server.data, LONG_AGO)
    page.goto(page.url)
    fill(page)
    first = page.locator("form .decide").first
    found = first.evaluate(BOTTOM)
    has_code = first.locator("input[name=code]").count()
    demo.copy_cookies(context, demo.owner)
    context.close()
    assert (found, has_code) == (0, 1)
