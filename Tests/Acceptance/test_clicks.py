"""The cost of common tasks, starting from the home page: clicks, fields, and pages."""

import re

import pytest
from playwright.sync_api import expect

from support.counting import Cost, Hand
from support.agents import set_rules
from support.program import LONG_AGO, reauthenticate


@pytest.fixture
def hand(demo, chromium):
    """Signs in a person, or the first person with a role, at the home page."""
    contexts = []

    def make(who, start="/"):
        someone = demo.person(who) if isinstance(who, str) else who
        context = demo.context(chromium, someone)
        contexts.append((context, someone))
        return Hand(context.new_page()).start(start)

    yield make
    for context, someone in contexts:
        demo.copy_cookies(context, someone)
        context.close()


def costs(hand, clicks, fields, pages):
    cost = hand.end()
    assert cost.within(Cost(clicks, fields, pages)), cost


def link(hand, address, within="main"):
    """Returns the links whose URL contains a text; to a page of a project, only those to itself."""
    match = "$=" if re.match(r"(/projects)?/[\w-]+/(review|tenants|policy)$", address) else "*="
    return hand.page.locator(f"{within} a[href{match}'{address}']")


def status(hand):
    return hand.page.locator("[role=status]").first.inner_text()


def confirm(hand, reason=None):
    """Saves a policy; weakening it requires a reason."""
    if reason and hand.page.locator("#note").count():
        hand.type(hand.page.locator("#note"), reason)
    return hand.click(hand.page.locator("form[action$='/policy/changes'] button:not([formaction], [type=button])"))


def people(demo, scope, filter="totp"):
    """Returns the users of a pool as pairs of uid and email."""
    text = demo.browse(demo.owner).get(f"{scope}/users?factor={filter}").text
    return re.findall(rf'href="{scope}/users/(\w{{28}})"[^>]*><bdi>([^<]+@[^<]+)<', text)


def person(demo, tenant, filter="totp"):
    """Returns the uid and email of a user of a tenant."""
    return people(demo, tenant, filter)[0]


def tenant_of(demo, name, project="harbour-bank"):
    return next(link for link in demo.tenants(project) if f"/{name}-" in link)


# MARK: Administrators


def test_a1_turn_totp_on(hand):
    me = hand("policy")
    me.click(link(me, "/lumen-school/policy?change=on"))
    confirm(me)
    assert "on" in status(me)
    costs(me, 2, 0, 1)


def test_a2_change_the_window(hand):
    me = hand("policy")
    me.click(link(me, "/harbour-bank/policy"))
    expect(me.page.locator(".cells > label")).to_have_count(21)
    # The odds of a guess are shown next to the cells.
    assert "A guess succeeds" in me.page.locator(".outcomes").inner_text()
    me.choose("intervals-2")
    me.click(me.page.locator("form[action$='/policy'] button.primary"))
    assert me.page.locator("#note").count() == 1
    confirm(me, "Clocks of older phones are off.")
    assert "2" in status(me)
    costs(me, 3, 1, 2)


def test_a3_set_a_custom_policy_for_a_tenant(hand, demo):
    me = hand("policy")
    me.click(link(me, "/projects/harbour-bank/tenants"))
    me.click(link(me, f"{tenant_of(demo, 'archive')}/policy?change=on"))
    confirm(me)
    assert status(me)
    costs(me, 3, 0, 2)


def test_a4_copy_the_project_policy(hand):
    me = hand("policy")
    me.click(link(me, "change=project"))
    confirm(me, "One policy for all tenants.")
    assert status(me)
    costs(me, 2, 1, 1)


def test_a5_list_tenants_that_differ_from_the_project(hand):
    me = hand("policy")
    me.click(link(me, "review?show=differs"))
    expect(me.page.locator("main tbody tr").first).to_be_attached()
    costs(me, 1, 0, 1)


def test_a6_make_mfa_mandatory_from_a_date(hand, demo):
    me = hand("policy")
    me.click(link(me, "/meridian-care/policy"))
    me.choose("pattern-mandatory")
    me.type(me.page.locator("input[type=date]"), "2030-01-15")
    me.click(me.page.locator("form[action$='/policy'] button.primary"))
    # The review shows who is affected.
    expect(me.page.get_by_role("heading", name="Who is affected")).to_have_count(1)
    confirm(me)
    assert status(me)
    costs(me, 3, 1, 2)


def test_a7_simulate_a_users_sign_in(hand, demo):
    _, email = person(demo, tenant_of(demo, "retail"))
    me = hand("owner")
    me.click(link(me, "/what-if", "body"))
    me.type(me.page.locator("main input[type=text], main input[type=search], main input[type=email]"), email)
    me.click(me.page.locator("main form button"))
    assert email in me.page.locator("main").inner_text()
    expect(me.page.get_by_text(re.compile("code", re.I)).first).to_be_attached()
    costs(me, 2, 1, 1)


def test_a8_create_a_tenant(hand):
    me = hand("policy")
    me.click(link(me, "/projects/lumen-school/tenants/new"))
    me.type(me.page.get_by_label("Name", exact=True), "alumni")
    me.click(me.page.get_by_role("button", name="Create tenant"))
    assert me.page.locator("h1").inner_text() == "alumni"
    costs(me, 2, 1, 1)


# MARK: Support


def find_user(me, text):
    me.search(text)
    expect(me.page).to_have_url(re.compile(r"/users/\w{28}$"))
    return me


def open_from_list(me, tenant, uid):
    """Opens a user from the list of users, where the support of one pool starts."""
    me.start(f"{tenant}/users?factor=totp")
    return me.click(link(me, f"/users/{uid}"))


def own_code(me, person):
    """Enters the agent's own code, required for a removal."""
    return me.type(me.page.locator("input[autocomplete=one-time-code]"), person.next_code())


@pytest.mark.parametrize("what", ["address", "uid", "half-an-address"])
def test_s1_find_the_caller(hand, demo, what):
    uid, email = person(demo, tenant_of(demo, "business"))
    text = {"address": email, "uid": uid, "half-an-address": email[2:-4]}[what]
    me = hand("support")
    if what == "half-an-address":
        # The part of the address matches only this user.
        hits = demo.browse(demo.owner).get("/users", params={"q": text}).text
        assert len(re.findall(r'class="who clamp"', hits)) == 1
    find_user(me, text)
    expect(me.page).to_have_url(re.compile(re.escape(uid) + "$"))
    costs(me, 0, 1, 1)


def test_s2_see_factors_last_use_and_lock(hand, demo):
    uid, email = person(demo, tenant_of(demo, "retail"), "locked")
    me = find_user(hand("support"), email)
    factor = me.page.locator("section", has=me.page.get_by_role("heading", name="Second factors"))
    row = factor.locator("tbody tr").first.inner_text()
    assert "TOTP" in row and re.search(r"\d|ago|just now", factor.locator(
        "[data-label='Last used']").first.inner_text())
    # The state of the code lock, and its end.
    diagnosis = me.page.get_by_role("region", name="Diagnosis").inner_text()
    assert re.search("Codes are (blocked until|locked after) ", diagnosis)
    for heading in ("Sessions", "Messages", "Notes", "History"):
        expect(me.page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    costs(me, 0, 1, 1)


@pytest.mark.parametrize("way", ["found", "with-a-code"])
def test_s3_remove_a_lost_device(hand, demo, way):
    tenant = tenant_of(demo, "staff")
    uid, email = person(demo, tenant)
    me = hand("support")
    if way == "found":
        find_user(me, email)
    else:
        reauthenticate(demo.server.data, LONG_AGO)
        open_from_list(me, tenant, uid)
    me.click(me.page.get_by_role("link", name="Remove factor…"))
    me.select("reason", "lost")
    if way == "with-a-code":
        own_code(me, demo.person("support"))
    me.click(me.page.get_by_role("button", name="Remove factor"))
    assert "session" in status(me)
    costs(me, 3, 2, 2)


@pytest.mark.parametrize("way", ["found", "with-a-code"])
def test_s4_remove_every_factor(hand, demo, way):
    tenant = tenant_of(demo, "teachers", "lumen-school")
    uid, email = person(demo, tenant)
    me = hand("support")
    if way == "found":
        find_user(me, email)
    else:
        reauthenticate(demo.server.data, LONG_AGO)
        open_from_list(me, tenant, uid)
    me.click(me.page.get_by_role("link", name="Remove all factors…"))
    me.select("reason", "lost")
    if way == "with-a-code":
        own_code(me, demo.person("support"))
    me.click(me.page.locator("main form button.destroy"))
    assert "Another administrator can undo it until" in status(me)
    expect(me.page.get_by_role("link", name="Remove factor…")).to_have_count(0)
    costs(me, 3, 2, 2)


def test_s5_generate_a_temporary_code(hand, demo):
    tenant = tenant_of(demo, "business")
    set_rules(demo.browse(demo.owner), tenant, temporary_codes="on")
    uid, _ = person(demo, tenant)
    me = hand("support")
    reauthenticate(demo.server.data)
    open_from_list(me, tenant, uid)
    me.click(me.page.get_by_role("link", name="Generate temporary code…"))
    me.select("reason", "lost")
    me.click(me.page.get_by_role("button", name="Generate code"))
    code = me.page.get_by_label("code", exact=True).inner_text()
    letters = me.page.locator("dl.figures dd").all_inner_texts()
    assert len(letters) == 8 and "".join(letters) == code.replace("-", "")
    costs(me, 3, 1, 2)
    # The code is shown once.
    me.page.reload()
    assert me.page.locator("dl.figures").count() == 0 and code not in me.page.content()


@pytest.mark.parametrize("way", ["found", "with-a-code"])
def test_s6_suspend_a_factor_until_tomorrow(hand, demo, way):
    if way == "found":
        tenant, who = tenant_of(demo, "business"), demo.person("support")
    else:
        tenant = tenant_of(demo, "clinic-north", "meridian-care")
        who = demo.person("support", "clinic-north")
    uid, email = person(demo, tenant)
    me = hand(who)
    if way == "found":
        find_user(me, email)
    else:
        reauthenticate(demo.server.data, LONG_AGO)
        open_from_list(me, tenant, uid)
    me.click(me.page.get_by_role("link", name="Suspend factor…"))
    # “End of tomorrow” is preselected.
    me.select("reason", "lost")
    if way == "with-a-code":
        own_code(me, who)
    me.click(me.page.get_by_role("button", name="Suspend factor"))
    assert re.search(r"Suspended factor .* until", status(me))
    expect(me.page.get_by_text("suspended").first).to_be_attached()
    costs(me, 3, 2, 2)


def test_s7_unlock_codes(hand, demo):
    tenant = tenant_of(demo, "retail")
    uid, _ = person(demo, tenant, "locked")
    me = hand("support")
    reauthenticate(demo.server.data)
    me.start(f"{tenant}/users/{uid}")
    me.click(me.page.get_by_role("link", name="Unlock codes…"))
    me.select("reason", "locked")
    me.click(me.page.get_by_role("button", name="Unlock codes"))
    assert "unlocked" in status(me)
    costs(me, 2, 1, 1)


def test_s8_explain_why_codes_are_rejected(hand, demo):
    tenant = tenant_of(demo, "staff")
    owner = demo.browse(demo.owner)
    email = next(email for uid, email in people(demo, tenant)
                 if "clock about" in owner.get(f"{tenant}/users/{uid}").text)
    me = find_user(hand("support"), email)
    # One sentence with advice for the caller, its evidence, and the recent code attempts.
    diagnosis = me.page.get_by_role("region", name="Diagnosis").inner_text()
    assert re.search(r"about [\d\w ]+ (slow|fast)\. Ask the caller to set the phone’s date and time"
                     " to automatic", diagnosis)
    assert re.search(r"Last \d+ codes: [\d to]+ intervals? (late|early)", diagnosis)
    expect(me.page.locator("main .chip", has_text="clock about")).to_be_visible()
    codes = me.page.locator("section[aria-labelledby=codes]")
    assert re.search(r"\d intervals? (late|early)", codes.locator("tbody").inner_text())
    expect(me.page.locator("main svg.c[role=img]")).to_be_visible()
    costs(me, 0, 1, 1)


def test_s9_end_all_sessions(hand, demo):
    tenant = tenant_of(demo, "retail")
    uid, _ = person(demo, tenant)
    me = hand("support")
    reauthenticate(demo.server.data)
    me.start(f"{tenant}/users/{uid}")
    me.click(me.page.get_by_role("link", name="End all sessions…"))
    me.select("reason", "left")
    me.click(me.page.get_by_role("button", name="End all sessions"))
    assert "ended" in status(me)
    costs(me, 2, 1, 1)


def test_s10_remove_factors_of_forty_users_with_approval(hand, demo):
    emails = [email for _, email in people(demo, "/projects/harbour-bank")][:40]
    assert len(set(emails)) == 40
    me = hand("support")
    reauthenticate(demo.server.data)
    me.click(link(me, "/projects/harbour-bank/users?factor=none"))
    me.click(me.page.locator("main summary", has_text="in bulk"))
    me.type(me.page.locator("#list"), "\n".join(emails))
    me.click(me.page.get_by_role("button", name="Preview"))
    assert "Remove the second factors of 40 users?" == me.page.locator("h1").inner_text()
    me.choose("reason")
    # Over the hourly action limit, so a second administrator has to approve.
    me.click(me.page.locator("main form button.destroy"))
    assert "pending approval" in status(me)
    costs(me, 4, 1, 2)

    other = hand("owner")
    other.click(link(other, "/approvals"))
    assert "40 users" in other.page.locator("main").inner_text()
    other.click(other.page.get_by_role("link", name="Remove factors of 40 users"))
    assert demo.person("support").name in other.page.locator("main").inner_text()
    other.click(other.page.get_by_role("button", name="Approve and run"))
    assert "has started" in status(other)
    costs(other, 3, 0, 2)
    other.page.get_by_text("done", exact=True).wait_for()
    assert "40" in other.page.locator("dl.figures").inner_text()
    expect(other.page.get_by_role("link", name="Removed (40)")).to_have_count(1)


# MARK: Compliance


def test_c1_see_the_enrollment_rate(hand):
    me = hand("auditor")
    row = me.page.locator("tr", has_text="harbour-bank")
    assert re.search(r"\d+ ?%", row.inner_text())
    costs(me, 0, 0, 0)


def test_c2_list_users_without_a_second_factor(hand):
    me = hand("auditor")
    me.click(link(me, "/users?factor=none"))
    expect(me.page.locator("main tbody tr").first).to_be_attached()
    expect(me.page).to_have_url(re.compile(re.escape("factor=none") + "$"))
    costs(me, 1, 0, 1)


def test_c3_see_the_enrollment_rate_of_every_tenant(hand):
    me = hand("auditor")
    me.click(link(me, "/harbour-bank/review"))
    rates = [re.search(r"\d+ ?%", row.inner_text())
             for row in me.page.locator("main tbody tr").all()]
    assert len(rates) >= 5 and all(rates)
    costs(me, 1, 0, 1)


def test_c4_read_the_policy_of_a_tenant(hand):
    me = hand("auditor")
    me.click(link(me, "/harbour-bank/review"))
    row = me.page.locator("tr", has_text="retail")
    assert row.locator("svg").count() >= 1 and "mandatory at sign-up" in row.inner_text().lower()
    costs(me, 1, 0, 1)


def test_c6_see_who_changed_a_policy_and_how(hand, demo):
    me = hand("auditor", f"{tenant_of(demo, 'retail')}/policy")
    if not me.page.locator("main", has_text="→").count():
        me.click(link(me, "/audit"))
    text = me.page.locator("main").inner_text()
    assert "→" in text and re.search("Priya Raman|Olga Lindqvist", text)
    costs(me, 1, 0, 1)
