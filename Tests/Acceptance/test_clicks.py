"""What common tasks cost, from the console's home: clicks, fields and pages, counted as one acts."""

import re

import pytest

from support.counting import Cost, Hand
from support.program import prove


@pytest.fixture
def hand(demo, chromium):
    """Makes somebody of a role, at the home, and checks what the task has cost in the end."""
    contexts = []

    def make(role, start="/"):
        context = demo.context(chromium, demo.person(role))
        contexts.append(context)
        return Hand(context.new_page()).start(start)

    yield make
    for context in contexts:
        context.close()


def costs(hand, clicks, fields, pages):
    cost = hand.end()
    assert cost.within(Cost(clicks, fields, pages)), cost


def link(hand, address, within="main"):
    """The first link of a page whose address has something in it."""
    return hand.page.locator(f"{within} a[href*='{address}']")


def said(hand):
    return hand.page.locator("[role=status]").first.inner_text()


def confirm(hand):
    return hand.click(hand.page.locator("button[name=step][value=confirm]"))


def person(demo, tenant, filter="totp"):
    """A user of a tenant, and their e-mail address."""
    pages = demo.browse(demo.owner)
    text = pages.get(f"{tenant}/users?factor={filter}").text
    uid, email = re.search(rf'href="{tenant}/users/(\w{{28}})"[^>]*><bdi>([^<]+@[^<]+)<', text).groups()
    return uid, email


def tenant_of(demo, name, project="harbour-bank"):
    return next(link for link in demo.tenants(project) if f"/{name}-" in link)


# MARK: Administrators


def test_a1_switch_totp_on(hand):
    me = hand("policy")
    me.click(link(me, "/lumen-school/policy?change=on"))
    confirm(me)
    assert "on" in said(me)
    costs(me, 2, 0, 1)


def test_a2_change_the_window(hand):
    me = hand("policy")
    me.click(link(me, "/harbour-bank/policy"))
    assert me.page.locator("svg.strip.large").count() == 1
    # How likely a guess is stands beside the field.
    assert me.page.locator("#window-odds").inner_text()
    me.type(me.page.locator("#intervals"), "2")
    me.click(me.page.locator("button[name=step].primary"))
    assert "2" in said(me)
    costs(me, 2, 1, 1)


def test_a3_a_policy_of_its_own_for_one_tenant(hand, demo):
    me = hand("policy")
    me.click(link(me, "/projects/harbour-bank/tenants"))
    me.click(link(me, f"{tenant_of(demo, 'archive')}/policy?change=on"))
    confirm(me)
    assert said(me)
    costs(me, 3, 0, 2)


def test_a4_back_to_the_projects_policy(hand):
    me = hand("policy")
    me.click(link(me, "change=project"))
    confirm(me)
    assert said(me)
    costs(me, 2, 0, 1)


def test_a5_the_tenants_that_differ(hand):
    me = hand("policy")
    me.click(link(me, "review?show=differs"))
    assert me.page.locator("main tbody tr").count() >= 1
    costs(me, 1, 0, 1)


def test_a6_mandatory_from_a_day_on(hand, demo):
    me = hand("policy")
    me.click(link(me, "/meridian-care/policy"))
    me.choose("pattern-mandatory")
    me.type(me.page.locator("input[type=date]"), "2030-01-15")
    me.click(me.page.locator("button[name=step].primary"))
    # Whom it is about stands on the way.
    assert me.page.get_by_role("heading", name="Who is hit").count() == 1
    confirm(me)
    assert said(me)
    costs(me, 3, 1, 2)


def test_a7_what_happens_to_a_user(hand, demo):
    _, email = person(demo, tenant_of(demo, "retail"))
    me = hand("owner")
    me.click(link(me, "/what-if", "body"))
    me.type(me.page.locator("main input[type=text], main input[type=search], main input[type=email]"), email)
    me.click(me.page.locator("main form button"))
    assert email in me.page.locator("main").inner_text()
    assert me.page.get_by_text(re.compile("code", re.I)).count() >= 1
    costs(me, 2, 1, 1)


def test_a8_make_a_tenant(hand):
    me = hand("policy")
    me.click(link(me, "/projects/lumen-school/tenants/new"))
    me.type(me.page.get_by_label("Name", exact=True), "alumni")
    me.click(me.page.get_by_role("button", name="Create the tenant"))
    assert me.page.locator("h1").inner_text() == "alumni"
    costs(me, 2, 1, 1)


# MARK: Support


def find_user(me, email):
    me.search(email)
    assert re.search(r"/users/\w{28}$", me.page.url)
    return me


def test_s1_s2_find_the_caller_with_factors_last_use_and_locks(hand, demo):
    _, email = person(demo, tenant_of(demo, "business"))
    me = find_user(hand("support"), email)
    text = me.page.locator("main").inner_text()
    assert email in text and "TOTP" in text and "Last used" in text
    assert re.search("lock|wrong codes|blocked", text, re.I)
    costs(me, 1, 1, 1)


def own_code(me, demo, role="support"):
    """Their own code, where one is asked for before something is taken away."""
    field = me.page.locator("input[autocomplete=one-time-code]")
    if field.count():
        me.type(field, demo.person(role).next_code())


def test_s3_remove_a_lost_device(hand, demo):
    _, email = person(demo, tenant_of(demo, "staff"))
    me = find_user(hand("support"), email)
    me.click(me.page.get_by_role("link", name="Remove…"))
    me.select("reason", "lost")
    own_code(me, demo)
    me.click(me.page.get_by_role("button", name="Remove the factor"))
    assert "session" in said(me)
    costs(me, 3, 2, 2)


def test_s4_remove_every_factor(hand, demo):
    _, email = person(demo, tenant_of(demo, "teachers", "lumen-school"))
    me = find_user(hand("support"), email)
    me.click(me.page.locator("main a", has_text=re.compile("(all|every).*…", re.I)))
    me.select("reason", "lost")
    own_code(me, demo)
    me.click(me.page.locator("main form button.destroy"))
    assert "Another administrator can undo it until" in said(me)
    assert me.page.get_by_role("link", name="Remove…").count() == 0
    costs(me, 3, 2, 2)


def test_s6_lost_and_back_tomorrow(hand, demo):
    _, email = person(demo, tenant_of(demo, "business"))
    me = find_user(hand("support"), email)
    me.click(me.page.get_by_role("link", name="Suspend…"))
    # The end of tomorrow is chosen already.
    me.select("reason", "lost")
    own_code(me, demo)
    me.click(me.page.get_by_role("button", name="Suspend the factor"))
    assert re.search(r"Suspended the factor .* until", said(me))
    assert me.page.get_by_text("suspended").count() >= 1
    costs(me, 3, 2, 2)


def test_s7_unlock_after_wrong_codes(hand, demo):
    tenant = tenant_of(demo, "retail")
    uid, _ = person(demo, tenant, "locked")
    me = hand("support", f"{tenant}/users/{uid}")
    me.click(me.page.get_by_role("link", name="Unlock the codes…"))
    me.select("reason", "locked")
    me.click(me.page.get_by_role("button", name="Unlock the codes"))
    assert "looked at again" in said(me)
    costs(me, 2, 1, 1)


def test_s9_end_sessions(hand, demo):
    tenant = tenant_of(demo, "retail")
    uid, _ = person(demo, tenant)
    me = hand("support", f"{tenant}/users/{uid}")
    me.click(me.page.get_by_role("link", name="End all sessions…"))
    me.select("reason", "left")
    me.click(me.page.get_by_role("button", name="End all sessions"))
    assert "ended" in said(me)
    costs(me, 2, 1, 1)


def test_s10_forty_lost_phones_and_a_second_pair_of_eyes(hand, demo):
    text = demo.browse(demo.owner).get("/projects/harbour-bank/users?factor=totp&sort=name").text
    emails = re.findall(r'/users/\w{28}"[^>]*><bdi>([^<]+@[^<]+)<', text)[:40]
    assert len(set(emails)) == 40
    prove(demo.server.data)
    me = hand("support")
    me.click(link(me, "/projects/harbour-bank/users?factor=none"))
    me.click(me.page.locator("main summary"))
    me.type(me.page.locator("#list"), "\n".join(emails))
    me.click(me.page.get_by_role("button", name="Look at the list"))
    assert "Remove the second factors of 40 users?" == me.page.locator("h1").inner_text()
    me.choose("reason")
    # More than an agent may do in an hour: somebody else approves it.
    me.click(me.page.locator("main form button.destroy"))
    assert "waits for a second administrator" in said(me)
    costs(me, 4, 1, 2)

    other = hand("owner")
    other.click(link(other, "/approvals"))
    assert "40 users" in other.page.locator("main").inner_text()
    other.click(link(other, "/approvals/"))
    assert demo.person("support").name in other.page.locator("main").inner_text()
    other.click(other.page.get_by_role("button", name="Approve and begin"))
    assert "has begun" in said(other)
    costs(other, 3, 0, 2)
    other.page.get_by_text("done", exact=True).wait_for()
    assert "40" in other.page.locator("dl.figures").inner_text()
    assert other.page.get_by_role("link", name="Removed (40)").count() == 1


# MARK: Compliance


def test_c1_the_rate_of_enrolment_today(hand):
    me = hand("auditor")
    row = me.page.locator("tr", has_text="harbour-bank")
    assert re.search(r"\d+ ?%", row.inner_text())
    costs(me, 0, 0, 0)


def test_c2_who_has_none(hand):
    me = hand("auditor")
    me.click(link(me, "/users?factor=none"))
    assert me.page.locator("main tbody tr").count() >= 1
    assert me.page.url.endswith("factor=none")
    costs(me, 1, 0, 1)


def test_c3_the_rate_of_every_tenant(hand):
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


def test_c6_who_changed_it_from_what_to_what(hand, demo):
    me = hand("auditor", f"{tenant_of(demo, 'retail')}/policy")
    if not me.page.locator("main", has_text="→").count():
        me.click(link(me, "/audit"))
    text = me.page.locator("main").inner_text()
    assert "→" in text and re.search("Priya Raman|Olga Lindqvist", text)
    costs(me, 1, 0, 1)
