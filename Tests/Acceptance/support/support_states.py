"""Pages of support as the demo shows them, and those that only a form or a mail leads to."""

import html
import re

from playwright.sync_api import expect

from .program import prove
from .rest import Api, make_token, ok

STRICT, OPEN, OTHER, BUSY = "private-clients", "retail", "teachers", "clinic-south"
PROJECTS = {STRICT: "harbour-bank", OPEN: "harbour-bank", OTHER: "lumen-school",
            BUSY: "meridian-care"}


def tenant(demo, name):
    """The address of a pool."""
    return next(link for link in demo.tenants(PROJECTS[name]) if f"/{name}-" in link)


def once(demo, name, find):
    """What `find` gives, sought once in the life of a demo."""
    kept = demo.__dict__.setdefault("kept", {})
    if name not in kept:
        kept[name] = find()
    return kept[name]


def subject(demo, pool, action):
    """The page of the user to whom support of a pool did something last, as its log says."""
    def find():
        address = tenant(demo, pool)
        log = demo.browse(demo.owner).get(f"{address}/audit", params={"action": action}).text
        uid = re.search(r"kind=account&amp;object=([\w-]+)", log).group(1)
        return f"{address}/users/{uid}"
    return once(demo, (pool, action), find)


def linked(page, words):
    """Follows the first link of the page with these words."""
    page.get_by_role("link", name=words).first.click()


# MARK: What has happened to users


def user(pool, action):
    return lambda page, demo: page.goto(subject(demo, pool, action))


def locked_users(page, demo):
    page.goto(f"{tenant(demo, OPEN)}/users?state=locked")


def locked_user(page, demo):
    """One whose codes are closed."""
    locked_users(page, demo)
    page.locator("tr", has=page.locator(".chip.bad")).locator("a.who").first.click()


def question(pool, action, words):
    """A page that asks, from the user's own."""
    def state(page, demo):
        page.goto(subject(demo, pool, action))
        linked(page, words)
        expect(page.locator("#reason")).to_have_count(1)
    return state


def unlock(page, demo):
    locked_user(page, demo)
    linked(page, "Unlock codes…")


def nothing_filled_in(pool, action, words):
    """A question that was answered with nothing: a summary of what is missing."""
    def state(page, demo):
        question(pool, action, words)(page, demo)
        page.locator("main form .actions button").first.click()
        expect(page.locator("#reason-error")).to_have_count(1)
    return state


def all_missing(page, demo):
    """The same when the last own code is too old: reason, proof and code at once."""
    prove(demo.server.data, ago=3_600)
    nothing_filled_in(STRICT, "factor.suspend", "Remove…")(page, demo)
    for field in ("proof", "code"):
        expect(page.locator(f"#{field}-error")).to_have_count(1)
    prove(demo.server.data)


def release(page, demo):
    """An agent who did too much in an hour, as an owner is asked about them."""
    prove(demo.server.data, ago=3_600)
    page.goto("/")
    linked(page, "Unblock…")
    expect(page.get_by_role("button", name="Unblock agent")).to_have_count(1)
    prove(demo.server.data)


def seen_by(role, state):
    """What somebody else sees in the place of the owner."""
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


def held(page, demo):
    """An agent asks for more than the hour has."""
    page.goto(f"{tenant(demo, BUSY)}/users?factor=totp")
    page.locator("main tbody a.who").first.click()
    linked(page, "Remove…")
    expect(page.get_by_text("reached the hourly action limit")).to_have_count(1)


def refusal_with_code(page, demo):
    """A request that is refused without a sentence and without a code."""
    prove(demo.server.data, ago=3_600)
    approval_without_answer(page, demo)
    expect(page.locator("#refusal-code-error")).to_have_count(1)
    prove(demo.server.data)


def all_code_attempts(page, demo):
    """Every code of one whose clock is slow."""
    page.goto(subject(demo, OPEN, "account.note") + "/code-attempts")
    expect(page.locator("main tbody tr")).not_to_have_count(0)


def empty_note(page, demo):
    question(OPEN, "account.note", "Add note…")(page, demo)
    page.locator("#reason").select_option("locked")
    page.get_by_role("button", name="Save note").click()
    expect(page.locator("#note-error")).to_have_count(1)


# MARK: What is done


def answer(page, demo, reason="lost"):
    """Fills in what support of any pool asks for."""
    prove(demo.server.data)
    page.reload()
    page.locator("#reason").select_option(reason)
    page.locator("#note").fill("Called from the number on file.")
    for box in page.locator("input[name=proof]").all():
        box.check(force=True)


def temporary_code(page, demo):
    """A code that is shown once."""
    page.goto(subject(demo, STRICT, "factor.temporary-code"))
    linked(page, "Generate temporary code…")
    answer(page, demo)
    page.locator("main form .actions button").first.click()
    expect(page.get_by_text("be shown again")).to_have_count(1)


def temporary_code_gone(page, demo):
    page.goto(subject(demo, STRICT, "factor.temporary-code") + "/temporary-code/shown")


def undoable(page, demo):
    """What is said after a removal: what was done, and the way back."""
    pool = tenant(demo, OTHER)
    page.goto(f"{pool}/users?factor=totp")
    page.locator("main tbody a.who").first.click()
    linked(page, "Remove…")
    answer(page, demo)
    page.get_by_role("button", name="Remove factor").click()
    expect(page.locator("[role=status]")).to_have_count(1)


# MARK: What users see


def letter(demo, user, purpose):
    """The text of the newest mail for a purpose that the page of a user shows."""
    pages = demo.browse(demo.owner)
    found = re.search(rf'href="([^"]*/outbox/\d+)">[^<]*{purpose}', pages.get(user).text).group(1)
    return html.unescape(pages.post(f"{found}/text", {}, page=found).text)


def link_in(text, page):
    return re.search(rf"(/__/auth/{page}\?\S*)", text).group(1)


def enrollment(page, demo):
    """The page on which a user sets an app up, with the code that it is scanned by."""
    def send():
        sent = subject(demo, STRICT, "factor.remove")
        prove(demo.server.data)
        made = demo.browse(demo.owner).post(f"{sent}/enrollment-link", {
            "reason": "lost", "proof": proofs(demo)})
        assert made.status_code == 303, made.text
        return link_in(letter(demo, sent, "Enrollment link"), "enroll")
    page.goto(once(demo, "enrollment", send))
    expect(page.locator(".qr svg")).to_have_count(1)


def proofs(demo):
    """The lines that the strict pool asks its agents to tick."""
    text = demo.browse(demo.owner).get(f"{tenant(demo, STRICT)}/settings/support").text
    return html.unescape(re.search(
        r'<textarea id="identity-proof"[^>]*>([^<]*)<', text).group(1)).split("\n")


def wrong_enrollment_code(page, demo):
    enrollment(page, demo)
    page.locator("#code").fill("12")
    page.get_by_role("button", name="Finish setup").click()
    expect(page.locator("#code-error")).to_have_count(1)


def not_me(page, demo):
    page.goto(once(demo, "not me", lambda: link_in(
        letter(demo, subject(demo, STRICT, "factor.suspend"), "second factor suspended"), "not-me")))
    expect(page.get_by_role("button", name="This wasn’t me")).to_have_count(1)


def not_me_unknown(page, demo):
    page.goto("/__/auth/not-me?code=never-made")


def action(request):
    """The page that a link in a mail of the API leads to."""
    def state(page, demo):
        def send():
            api = Api(demo.url, "harbour-bank", demo.browse(demo.owner).api_key("harbour-bank"),
                      make_token(demo.server.data, "harbour-bank", "owner"),
                      tenant=tenant(demo, OPEN).rsplit("/", 1)[1])
            made = ok(api.admin("POST", "accounts:sendOobCode", {
                "requestType": request, "email": demo.user.email, "returnOobLink": True,
                "continueUrl": "http://localhost/welcome"}))
            return "/" + made["oobLink"].split("/", 3)[3]
        page.goto(once(demo, request, send))
        expect(page.locator("main form button")).to_have_count(1)
    return state


# MARK: Many at once


def no_list(page, demo):
    page.goto(f"{tenant(demo, OPEN)}/bulk-removals")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#list-error")).to_have_count(1)


def list_of(page, demo, pool, count):
    """A list of the pool's first users, and of lines that name nobody who can be acted on."""
    address = tenant(demo, pool)
    users = demo.browse(demo.owner).get(f"{address}/users").text
    found = re.findall(r'<span class="mono">(\w{28})<', users)[:count]
    page.goto(f"{address}/bulk-removals")
    page.locator("#list").fill("\n".join([
        *found, found[0], "nobody@example.com", "<script>alert(1)</script>", "\u202egnp.exe"]))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("[name=reason]").nth(3)).to_be_attached()


def draft(page, demo):
    list_of(page, demo, STRICT, 12)


def draft_of_nobody(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/bulk-removals")
    page.locator("#list").fill("nobody@example.com\nno.one@example.com")
    page.get_by_role("button", name="Preview").click()


def draft_unanswered(page, demo):
    list_of(page, demo, OPEN, 30)
    page.locator("main form .actions button").first.click()
    expect(page.locator("#reason-error")).to_have_count(1)


def waiting_list(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/bulk-removals")
    page.locator("tr", has_text="pending").locator("a.who").first.click()


def done_list(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/bulk-removals")
    page.locator("tr", has_text="done").locator("a.who").first.click()


def approval(page, demo):
    page.goto("/approvals")
    page.locator("main tbody a.who").first.click()
    expect(page.get_by_role("button", name="Reject request")).to_have_count(1)


def approval_without_answer(page, demo):
    approval(page, demo)
    page.get_by_role("button", name="Reject request").click()
    expect(page.locator("#answer-error")).to_have_count(1)


# MARK: Rules and mails


def wrong_rules(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/settings/support")
    for field in page.locator("input[inputmode=numeric]").all():
        field.fill("none")
    page.get_by_role("button", name="Save rules").click()
    expect(page.locator("[role=alert] li").nth(3)).to_be_attached()


def opened_letter(page, demo):
    page.goto(f"{tenant(demo, STRICT)}/outbox")
    page.locator("tr", has_text="pending").locator("a.who").first.click()
    page.get_by_role("button", name="Show text").click()
    expect(page.locator("pre.letter")).to_have_count(1)


SUPPORT = {
    "a user whose clock is slow": user(OPEN, "account.note"),
    "locked users": locked_users, "a locked user": locked_user,
    "a user with a removed factor": user(STRICT, "factor.remove"),
    "a user with a suspended factor": user(STRICT, "factor.suspend"),
    "a user with a temporary code": user(STRICT, "factor.temporary-code"),
    "a user who objected": user(STRICT, "factor.object"),
    "a protected user": user(STRICT, "account.protect"),
    "all code attempts of a user": all_code_attempts,
    "an empty note": empty_note,
    "write a note": question(OPEN, "account.note", "Add note…"),
    "take a note back": question(OPEN, "account.note", "Delete…"),
    "rename a factor": question(STRICT, "factor.suspend", "Rename…"),
    "rename a factor unanswered": nothing_filled_in(STRICT, "factor.suspend", "Rename…"),
    "remove a factor": question(STRICT, "factor.suspend", "Remove…"),
    "remove a factor unanswered": nothing_filled_in(STRICT, "factor.suspend", "Remove…"),
    "remove a factor with all missing": all_missing,
    "purge a removal": question(STRICT, "factor.remove", "Delete permanently…"),
    "release an agent": release,
    "an agent who is held": seen_by("support", held),
    "a request of one's own": seen_by("support", own_request),
    "end recovery codes": question(STRICT, "factor.suspend", "Revoke recovery codes…"),
    "undo a removal": question(STRICT, "factor.remove", "Restore…"),
    "suspend a factor": question(OPEN, "account.note", "Suspend…"),
    "end a suspension": question(STRICT, "factor.suspend", "End suspension…"),
    "unlock the codes": unlock,
    "make a temporary code": question(
        STRICT, "factor.suspend", "Generate temporary code…"),
    "a temporary code": temporary_code, "a temporary code that is gone": temporary_code_gone,
    "end a temporary code": question(
        STRICT, "factor.temporary-code", "Revoke temporary code…"),
    "send an enrollment link": question(STRICT, "factor.remove", "Send enrollment link…"),
    "allow changes again": question(STRICT, "factor.object", "Unlock changes…"),
    "removed and undoable": undoable,
    "set an app up by a link": enrollment, "a wrong code for an app": wrong_enrollment_code,
    "it was not me": not_me, "a link that was never made": not_me_unknown,
    "a new password by a link": action("PASSWORD_RESET"),
    "an address verified by a link": action("VERIFY_EMAIL"),
    "no list": no_list, "a list looked at": draft, "a list of nobody": draft_of_nobody,
    "a list unanswered": draft_unanswered, "a list that waits": waiting_list,
    "a list that is done": done_list,
    "an approval": approval, "an approval without answer": approval_without_answer,
    "an approval without answer and code": refusal_with_code,
    "wrong support rules": wrong_rules, "an opened letter": opened_letter,
}
