"""Support pages as the demo shows them, and those reached only from a form or an email."""

import html
import re

from playwright.sync_api import expect

from .program import forget_wrong_codes, reauthenticate
from .rest import Api, create_token, ok

STRICT, OPEN, OTHER, BUSY = "private-clients", "retail", "teachers", "clinic-south"
# The link to remove one factor, which names it.
REMOVE = re.compile("^Remove (?!all factors)")
PROJECTS = {STRICT: "harbour-bank", OPEN: "harbour-bank", OTHER: "lumen-school",
            BUSY: "meridian-care"}


def tenant(demo, name):
    """Returns the path of a tenant."""
    return next(link for link in demo.tenants(PROJECTS[name]) if f"/{name}-" in link)


def once(demo, name, find):
    """Returns the result of `find`, called once per demo."""
    kept = demo.__dict__.setdefault("kept", {})
    if name not in kept:
        kept[name] = find()
    return kept[name]


def subject(demo, pool, action):
    """Returns the page of the user that a support action last applied to, from the audit log."""
    def find():
        address = tenant(demo, pool)
        log = demo.browse(demo.owner).get(f"{address}/audit", params={"action": action}).text
        uid = re.search(r"kind=account&amp;object=([\w-]+)", log).group(1)
        return f"{address}/users/{uid}"
    return once(demo, (pool, action), find)


def follow_link(page, words):
    """Opens the page of the first link with this text, which a script would show in a dialog."""
    link = page.get_by_role("link", name=words, include_hidden=True).first  # also below "More"
    page.goto(link.get_attribute("href"))


# MARK: Users and their history


def user(pool, action):
    return lambda page, demo: page.goto(subject(demo, pool, action))


def locked_users(page, demo):
    page.goto(f"{tenant(demo, OPEN)}/users?state=locked")


def locked_user(page, demo):
    """Opens a user whose codes are locked."""
    locked_users(page, demo)
    page.locator("tr", has=page.locator(".chip.bad")).locator("a.who").first.click()


def confirmation(pool, action, words):
    """Opens a confirmation page from the user's page."""
    def state(page, demo):
        page.goto(subject(demo, pool, action))
        follow_link(page, words)
        expect(page.locator("#reason")).to_have_count(1)
    return state


def unlock(page, demo):
    locked_user(page, demo)
    follow_link(page, "Unlock codes…")


def form_left_empty(pool, action, words):
    """Submits a confirmation page empty: an error summary."""
    def state(page, demo):
        confirmation(pool, action, words)(page, demo)
        page.locator("main form .actions button").first.click()
        expect(page.locator("#reason-error")).to_have_count(1)
    return state


def every_field_missing(page, demo):
    """Does the same when re-authentication is due: reason, proof, and code are all missing."""
    reauthenticate(demo.server.data, ago=3_600)
    form_left_empty(STRICT, "factor.suspend", REMOVE)(page, demo)
    for field in ("proof", "code"):
        expect(page.locator(f"#{field}-error")).to_have_count(1)
    reauthenticate(demo.server.data)


def unblock(page, demo):
    """Opens the page on which an owner unblocks an agent who hit the hourly action limit."""
    reauthenticate(demo.server.data, ago=3_600)
    page.goto("/projects?attention=all")
    follow_link(page, "Unblock…")
    expect(page.get_by_role("button", name="Unblock agent")).to_have_count(1)
    reauthenticate(demo.server.data)


def seen_by(role, state):
    """Opens a state as another administrator."""
    def shown(page, demo):
        someone, context = demo.person(role), page.context
        own = context.cookies(demo.url)
        context.clear_cookies()
        context.add_cookies([
            {"name": cookie.name, "value": cookie.value, "url": demo.url}
            for cookie in demo.browse(someone).http.cookies.jar])
        try:
            state(page, demo)
        finally:
            context.clear_cookies()
            context.add_cookies(own)
    return shown


def own_request(page, demo):
    page.goto("/approvals")
    page.locator("main tbody a.who").first.click()
    expect(page.locator("h1")).to_have_count(1)
    expect(page.get_by_role("button", name="Reject request")).to_have_count(0)


def over_limit(page, demo):
    """Opens an action as an agent over the hourly action limit."""
    page.goto(f"{tenant(demo, BUSY)}/users?factor=totp")
    page.locator("main tbody a.who").first.click()
    follow_link(page, REMOVE)
    expect(page.get_by_text("reached the hourly action limit")).to_have_count(1)


def rejection_without_code(page, demo):
    """Rejects a request without a reason and without a code."""
    reauthenticate(demo.server.data, ago=3_600)
    rejection_without_reason(page, demo)
    expect(page.locator("#refusal-code-error")).to_have_count(1)
    reauthenticate(demo.server.data)


def all_code_attempts(page, demo):
    """Opens all code attempts of a user whose clock is slow."""
    page.goto(subject(demo, OPEN, "factor.rename") + "/code-attempts")
    expect(page.locator("main tbody tr")).not_to_have_count(0)


def empty_note(page, demo):
    confirmation(OPEN, "factor.rename", re.compile("^Suspend "))(page, demo)
    page.locator("#reason").select_option("other")
    page.get_by_role("button", name="Suspend factor").click()
    expect(page.locator("#note-error")).to_have_count(1)


# MARK: Completed actions


def fill_in(page, demo, reason="lost"):
    """Fills in the fields that the support rules of any pool require."""
    reauthenticate(demo.server.data)
    page.reload()
    page.locator("#reason").select_option(reason)
    page.locator(".note summary").click()
    page.locator("#note").fill("Called from the number on file.")
    for box in page.locator("input[name=proof]").all():
        box.check(force=True)


def temporary_code(page, demo):
    """Generates a temporary code, which is shown once."""
    page.goto(subject(demo, STRICT, "factor.temporary-code"))
    follow_link(page, "Temporary code…")
    fill_in(page, demo)
    page.locator("main form .actions button").first.click()
    expect(page.get_by_text("be shown again")).to_have_count(1)


def temporary_code_already_shown(page, demo):
    page.goto(subject(demo, STRICT, "factor.temporary-code") + "/temporary-code/shown")


def removal_status(page, demo):
    """Opens the status message after a removal, with the undo link."""
    pool = tenant(demo, OTHER)
    page.goto(f"{pool}/users?factor=totp")
    page.locator("main tbody a.who").first.click()
    follow_link(page, REMOVE)
    fill_in(page, demo)
    page.get_by_role("button", name="Remove factor").click()
    expect(page.locator("[role=status]")).to_have_count(1)


# MARK: What users see


def message_text(demo, user, purpose):
    """Returns the text of a user's newest message for a purpose."""
    pages = demo.browse(demo.owner)
    found = re.search(rf'href="([^"]*/messages/\d+)">[^<]*{purpose}', pages.get(f"{user}?show=emails").text).group(1)
    return html.unescape(pages.post(f"{found}/text", {}, page=found).text)


def link_in(text, page):
    return re.search(rf"(/__/auth/{page}\?\S*)", text).group(1)


def enrollment(page, demo):
    """Opens the page on which a user sets up an app by scanning a QR code."""
    def send():
        sent = subject(demo, STRICT, "factor.remove")
        reauthenticate(demo.server.data)
        created = demo.browse(demo.owner).post(f"{sent}/enrollment-link", {
            "reason": "lost", "proof": identity_checks(demo)})
        assert created.status_code == 303, created.text
        return link_in(message_text(demo, sent, "Enrollment link"), "enroll")
    page.goto(once(demo, "enrollment", send))
    forget_wrong_codes(demo.server.data)
    expect(page.locator(".qr svg")).to_have_count(1)


def identity_checks(demo):
    """Returns the identity checks of the strict pool."""
    text = demo.browse(demo.owner).get(f"{tenant(demo, STRICT)}/settings/support").text
    return html.unescape(re.search(
        r'<textarea id="identity-proof"[^>]*>([^<]*)<', text).group(1)).split("\n")


def incorrect_setup_code(page, demo):
    enrollment(page, demo)
    page.locator("#code").fill("12")
    page.get_by_role("button", name="Finish setup").click()
    expect(page.locator("#code-error")).to_have_count(1)


def not_me(page, demo):
    page.goto(once(demo, "not me", lambda: link_in(
        message_text(demo, subject(demo, STRICT, "factor.suspend"), "second factor suspended"),
        "not-me")))
    expect(page.get_by_role("button", name="This wasn’t me")).to_have_count(1)


def unknown_link(page, demo):
    page.goto("/__/auth/not-me?code=never-made")


def action(request):
    """Opens the page that a link in an API email leads to."""
    def state(page, demo):
        def send():
            api = Api(demo.url, "harbour-bank", demo.browse(demo.owner).api_key("harbour-bank"),
                      create_token(demo.server.data, "harbour-bank", "owner"),
                      tenant=tenant(demo, OPEN).rsplit("/", 1)[1])
            created = ok(api.admin("POST", "accounts:sendOobCode", {
                "requestType": request, "email": demo.user.email, "returnOobLink": True,
                "continueUrl": "http://localhost/welcome"}))
            return "/" + created["oobLink"].split("/", 3)[3]
        page.goto(once(demo, request, send))
        expect(page.locator("main form button")).to_have_count(1)
    return state


# MARK: Bulk removals


def empty_list(page, demo):
    page.goto(f"{tenant(demo, OPEN)}/bulk-removals")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#list-error")).to_have_count(1)


def preview_list(page, demo, pool, count):
    """Previews the pool's first users, and lines that match no eligible user."""
    address = tenant(demo, pool)
    users = demo.browse(demo.owner).get(f"{address}/users").text
    found = re.findall(r'<span class="mono">(\w{28})<', users)[:count]
    page.goto(f"{address}/bulk-removals")
    page.locator("#list").fill("\n".join([
        *found, found[0], "nobody@example.com", "<script>alert(1)</script>", "\u202egnp.exe"]))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[name=reason]").nth(3)).to_be_attached()


def draft(page, demo):
    preview_list(page, demo, STRICT, 12)


def draft_without_users(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/bulk-removals")
    page.locator("#list").fill("nobody@example.com\nno.one@example.com")
    page.get_by_role("button", name="Preview").click()


def draft_left_empty(page, demo):
    preview_list(page, demo, OPEN, 30)
    page.locator("main form .actions button").first.click()
    expect(page.locator("#reason-error")).to_have_count(1)


def pending_list(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/bulk-removals")
    page.locator("tr", has_text="pending").locator("a.who").first.click()


def completed_list(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/bulk-removals")
    page.locator("tr", has_text="done").locator("a.who").first.click()


def approval(page, demo):
    page.goto("/approvals")
    page.locator("main tbody a.who").first.click()
    expect(page.get_by_role("button", name="Reject request")).to_have_count(1)


def rejection_without_reason(page, demo):
    approval(page, demo)
    page.get_by_role("button", name="Reject request").click()
    expect(page.locator("#answer-error")).to_have_count(1)


# MARK: Rules and messages


def invalid_rules(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/settings/support")
    for field in page.locator("input[inputmode=numeric]").all():
        field.fill("none")
    page.get_by_role("button", name="Save rules").click()
    expect(page.locator("[role=alert] li").nth(3)).to_be_attached()


def opened_message(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/messages")
    page.locator("tr", has_text="pending").locator("a.who").first.click()
    page.get_by_role("button", name="Show text").click()
    expect(page.locator("pre.letter")).to_have_count(1)


SUPPORT = {
    "a user whose clock is slow": user(OPEN, "factor.rename"),
    "locked users": locked_users, "a locked user": locked_user,
    "a user with a removed factor": user(STRICT, "factor.remove"),
    "a user with a suspended factor": user(STRICT, "factor.suspend"),
    "a user with a temporary code": user(STRICT, "factor.temporary-code"),
    "a user who reported a change": user(STRICT, "factor.report"),
    "a protected user": user(STRICT, "account.protect"),
    "all code attempts of a user": all_code_attempts,
    "an empty note": empty_note,
    "rename a factor": confirmation(STRICT, "factor.suspend", re.compile("^Rename ")),
    "rename a factor, form left empty": form_left_empty(STRICT, "factor.suspend", re.compile("^Rename ")),
    "remove a factor": confirmation(STRICT, "factor.suspend", REMOVE),
    "remove a factor, form left empty": form_left_empty(STRICT, "factor.suspend", REMOVE),
    "remove a factor with every field missing": every_field_missing,
    "delete a removed factor permanently": confirmation(
        STRICT, "factor.remove", re.compile("permanently…$")),
    "unblock an agent": unblock,
    "a blocked agent": seen_by("support", over_limit),
    "one's own request": seen_by("support", own_request),
    "revoke recovery codes": confirmation(STRICT, "factor.suspend", "Revoke recovery codes…"),
    "undo a removal": confirmation(STRICT, "factor.remove", re.compile("^Restore ")),
    "suspend a factor": confirmation(OPEN, "factor.rename", re.compile("^Suspend ")),
    "end a suspension": confirmation(STRICT, "factor.suspend", re.compile("^End suspension ")),
    "unlock the codes": unlock,
    "generate a temporary code": confirmation(
        STRICT, "factor.suspend", "Temporary code…"),
    "a temporary code": temporary_code,
    "a temporary code already shown": temporary_code_already_shown,
    "revoke a temporary code": confirmation(
        STRICT, "factor.temporary-code", "Revoke temporary code…"),
    "send an enrollment link": confirmation(STRICT, "factor.remove", "Send enrollment link…"),
    "unlock changes": confirmation(STRICT, "factor.report", "Unlock changes…"),
    "a removal with undo": removal_status,
    "set up an app from a link": enrollment, "an incorrect setup code": incorrect_setup_code,
    "this wasn't me": not_me, "an unknown link": unknown_link,
    "a password reset link": action("PASSWORD_RESET"),
    "an email verification link": action("VERIFY_EMAIL"),
    "an empty list": empty_list, "a previewed list": draft,
    "a list without users": draft_without_users,
    "a list, form left empty": draft_left_empty, "a pending list": pending_list,
    "a completed list": completed_list,
    "an approval": approval, "a rejection without a reason": rejection_without_reason,
    "a rejection without a reason and code": rejection_without_code,
    "invalid support rules": invalid_rules, "an opened message": opened_message,
}
