"""The common tasks, from the home page, each within its budget of presses, fields, and pages."""

import csv
import re
from dataclasses import dataclass
from typing import Callable

import pytest
from playwright.sync_api import expect

from support.agents import exempt, set_rules
from support.counting import Cost, Hand
from support.demo import Demo
from support.program import LONG_AGO, forget_own_codes, query, reauthenticate, run
from support.waiting import until

BANK = "/projects/harbour-bank"
# The link to remove one factor, which names it.
REMOVE = re.compile("^Remove (?!all factors)")


@pytest.fixture(scope="module", params=[True, False], ids=["with-scripts", "without-scripts"])
def scripts(request):
    return request.param


@pytest.fixture(scope="module")
def demo(scripts, tmp_path_factory):
    """A demo of its own for each way, since the tasks change it."""
    with Demo(tmp_path_factory.mktemp("demo")) as demo:
        yield demo


@pytest.fixture
def hand(demo, chromium, scripts):
    """Signs in a person, or the first person with a role, at the home page."""
    contexts = []

    def make(who):
        someone = demo.person(who) if isinstance(who, str) else who
        context = demo.context(chromium, someone, java_script_enabled=scripts)
        contexts.append((context, someone))
        return Hand(context.new_page(), scripts).start()

    yield make
    for context, someone in contexts:
        demo.copy_cookies(context, someone)
        context.close()


def tenant_of(demo, name, project="harbour-bank"):
    return next(link for link in demo.tenants(project) if f"/{name}-" in link)


def people(demo, pool, filter="totp"):
    """Returns the users of a pool as pairs of uid and email."""
    text = demo.browse(demo.owner).get(f"{pool}/users?factor={filter}").text
    return re.findall(rf'href="{pool}/users/(\w{{28}})"[^>]*><bdi>([^<]+@[^<]+)<', text)


def save(me, reason=None):
    """Saves a policy; weakening it requires a reason."""
    if reason:
        me.type("note", reason)
    return me.press(me.page.locator(
        "form[action$='/policy/changes'] button:not([formaction], [type=button])"))


def lock_codes(demo):
    """Signs the demo's user in, unless locked already, and enters incorrect codes until locked."""
    set_rules(demo.browse(demo.owner), tenant_of(demo, "retail"), code_cap="5")
    demo.sign_in_user()(demo.user.totp.now())
    enter = demo.sign_in_user()
    for _ in range(5):
        assert enter(demo.user.totp.at(0)).status_code == 400


def find(me, text):
    me.search(text)
    expect(me.page).to_have_url(re.compile(r"/users/\w{28}$"))
    return me


def act_on_user(me, demo, pool, filter, *action, **more):
    """Does one support action to the first user of a list."""
    return act_on(me, demo, people(demo, pool, filter)[0][1], *action, **more)


def act_on(me, demo, email, link, reason, button, who="support"):
    """Finds a user and does one support action, with a reason and the agent's own code."""
    find(me, email)
    action = me.page.get_by_role("link", name=link)
    if not action.count():
        me.press(me.page.locator("main summary", has_text=re.compile("^More$")))
    me.press(action)
    me.select("reason", reason)
    me.type("code", demo.person(who).totp.now())
    return me.button(button)


# MARK: Administrators


def turn_totp_on(me, demo):
    me.link("/lumen-school/policy?change=on")
    save(me).is_told(re.compile(r"\bon\b"))


def change_the_window(me, demo):
    """Widens it, which needs a reason; the odds of a guess are shown next to each window."""
    me.link("/harbour-bank/policy")
    expect(me.page.locator(".cells > label")).to_have_count(21)
    me.press(me.page.locator(".cells label[for=intervals-2]").last)
    assert "Odds of guessing one" in me.page.locator(".intervals .hint:visible").inner_text()
    me.button("Review changes")
    save(me, "Clocks of older phones are off.").is_told("2")


def set_a_policy_for_one_tenant(me, demo):
    """Turns on TOTP with the project's window."""
    text = demo.browse(demo.owner).get(f"{BANK}/policy").text
    window = re.search(r'data-name="intervals"[^>]* data-stored="(\d+)"', text)[1]
    me.link(f"{BANK}/tenants")
    me.link(f"{tenant_of(demo, 'archive')}/policy?change=on")
    expect(me.page.locator(f"#intervals-{window}")).to_be_checked()
    save(me).is_told(re.compile("."))


def turn_totp_on_with_another_window(me, demo):
    me.link("/projects/lumen-school/tenants")
    me.link(f"{tenant_of(demo, 'parents', 'lumen-school')}/policy?change=on")
    me.press(me.page.locator(".cells label[for=intervals-1]").last)
    save(me).is_told(re.compile("."))


def revert_to_the_project(me, demo):
    """That of a tenant with a smaller window, so that a reason is needed."""
    me.link(f"{BANK}/tenants").link("view=policy")
    me.link(f"{tenant_of(demo, 'retail')}/policy?change=project")
    save(me, "One policy for all tenants.").is_told(re.compile("."))


def list_tenants_that_differ(me, demo):
    """Those of every project."""
    me.press(me.page.locator("nav.side a[href='/review']")).link("/review?show=differs")
    expect(me.page.locator("main tbody tr").first).to_be_attached()


def make_mfa_mandatory_from_a_date(me, demo):
    me.link("/meridian-care/policy").select("pattern", "mandatory").type("from", "2030-01-15")
    me.button("Review changes")
    expect(me.page.get_by_role("heading", name="Who is affected")).to_have_count(1)
    save(me).is_told(re.compile("."))


def simulate_a_sign_in(me, demo):
    _, email = people(demo, tenant_of(demo, "retail"))[0]
    me.press(me.page.locator("nav.side a[href='/users']"))
    me.press(me.page.locator("nav.tabs a[href='/sign-in-simulator']"))
    me.type("q", email).button("Run test")
    me.sees(email).sees(re.compile("code", re.I))


def create_a_tenant(me, demo):
    me.link("/projects/lumen-school/tenants/new").type("name", "alumni").button("Create tenant")
    me.sees("alumni", "h1")


def create_a_tenant_with_totp(me, demo):
    """With the policy of its project."""
    me.link("/projects/harbour-bank/tenants/new").type("name", "advisers").tick("policy")
    me.button("Create tenant")
    me.sees("advisers", "h1").is_told("Tenant created with the policy of Harbour Bank.")


def add_a_support_agent_of_one_tenant(me, demo):
    me.link("/administrators").link("/administrators/new")
    me.type("email", "new.agent@example.com").type("name", "New Agent").select("role", "support")
    tenant = tenant_of(demo, "retail").rsplit("/", 1)[1]
    place = me.page.locator(f"#place option[value*='{tenant}']").get_attribute("value")
    me.select("place", place).button("Create invite link")
    me.sees("/invitation")


def export_and_compare_policies(me, demo):
    """The file of every policy; a command compares the policies with an exported file."""
    me.link("/harbour-bank/review")
    file = me.download(me.page.locator("main a[href$='/review.csv']"))
    with open(file, newline="", encoding="utf-8-sig") as lines:
        assert len(list(csv.reader(lines))) >= 1 + 5
    exported = run("policy", "export", "--data", demo.server.data)
    assert exported.returncode == 0, exported.stderr
    path = demo.server.data.parent / "policies.json"
    path.write_text(exported.stdout)
    assert run("policy", "diff", path, "--data", demo.server.data).returncode == 0


# MARK: Support


def find_the_caller(me, demo):
    uid, email = people(demo, tenant_of(demo, "business"))[0]
    find(me, email)
    expect(me.page).to_have_url(re.compile(re.escape(uid) + "$"))


def see_factors_last_use_and_lock(me, demo):
    find(me, demo.user.email)
    factors = me.page.locator("section", has=me.page.get_by_role("heading", name="Second factors"))
    assert "TOTP" in factors.locator("tbody tr").first.inner_text()
    assert re.search(r"\d|ago|just now", factors.locator("[data-label='Last used']").first.inner_text())
    diagnosis = me.page.get_by_role("region", name="Diagnosis").inner_text()
    assert "Codes are locked after " in diagnosis
    for heading in ("Timeline", "Account details"):
        expect(me.page.get_by_role("heading", name=heading, exact=True)).to_be_visible()


def remove_a_lost_device(me, demo):
    act_on_user(me, demo, tenant_of(demo, "staff"), "totp", REMOVE, "lost",
                "Remove factor").is_told("session")


def remove_every_factor(me, demo):
    act_on_user(me, demo, tenant_of(demo, "teachers", "lumen-school"), "totp",
                "Remove all factors…", "lost", "Remove all factors")
    me.is_told("Another administrator can undo it until")
    expect(me.page.get_by_role("link", name=REMOVE)).to_have_count(0)


def generate_a_temporary_code(me, demo):
    act_on_user(me, demo, tenant_of(demo, "business"), "totp", "Temporary code…", "lost",
                "Generate code")
    code = me.page.get_by_label("code", exact=True).inner_text()
    letters = me.page.locator("dl.figures dd").all_inner_texts()
    assert len(letters) == 8 and "".join(letters) == code.replace("-", "")


def suspend_a_factor_until_tomorrow(me, demo):
    """The end of tomorrow is preselected."""
    act_on_user(me, demo, tenant_of(demo, "business"), "totp",
                re.compile("^Suspend "), "lost", "Suspend factor")
    me.is_told(re.compile("Suspended factor .* through"))


def unlock_codes(me, demo):
    act_on(me, demo, demo.user.email, "Unlock codes…", "locked", "Unlock codes").is_told("unlocked")


def unlock_codes_from_the_report(me, demo):
    """The report says why they're locked and since when, and links to the form."""
    me.start(tenant_of(demo, "retail") + "/reports/locked")
    row = me.page.locator("main tbody tr", has_text=demo.user.email)
    expect(row).to_contain_text("5 incorrect codes")
    me.press(row.get_by_role("link", name="Unlock codes…"))
    me.type("code", demo.person("support").totp.now())
    me.button("Unlock codes").is_told("unlocked")


def explain_why_codes_are_rejected(me, demo):
    """One sentence with advice for the caller, its evidence, and the recent code attempts."""
    # Whether others have a slow clock depends on when the demo is created.
    [(email,)] = query(demo.server.data, """
        SELECT a.email FROM factor f JOIN account a USING (account_key)
        WHERE f.display_name = 'Old phone'""")
    find(me, email)
    diagnosis = me.page.get_by_role("region", name="Diagnosis").inner_text()
    assert re.search(r"about [\w\s]+ (slow|fast)\s+Tell the caller\s+Turn on automatic date and time",
                     diagnosis)
    assert re.search(r"Last \d+ codes, intervals (late|early): [\d to]+", diagnosis)
    expect(me.page.locator("main .chip", has_text="clock about")).to_be_visible()
    timeline = me.page.get_by_role("region", name="Timeline")
    assert re.search(r"\d intervals? (late|early)", timeline.locator("ol").inner_text())
    expect(me.page.locator("main svg.c[role=img]").first).to_be_visible()


def end_all_sessions(me, demo):
    act_on_user(me, demo, tenant_of(demo, "retail"), "totp", "End all sessions…", "left",
                "End all sessions").is_told("ended")


def request_the_removal_of_forty(me, demo):
    """Over the hourly action limit, so a second administrator has to approve."""
    emails = [email for _, email in people(demo, BANK)][:40]
    assert len(set(emails)) == 40
    me.press(me.page.locator("nav.side a[href='/projects']")).link(f"{BANK}/users?factor=none")
    me.press(me.page.locator("main summary", has_text="in bulk"))
    me.type("list", "\n".join(emails)).button("Preview")
    me.sees("Remove second factors from 40 users?", "h1")
    me.tick("reason").type("code", demo.person("support").totp.now())
    me.button("Request approval").is_told("pending approval")


def approve_the_removal_of_forty(me, demo):
    me.link("/approvals").sees("40 users")
    me.press(me.page.get_by_role("link", name="Remove factors from 40 users"))
    me.sees(demo.person("support").name)
    me.type("code", demo.owner.totp.now()).button("Approve and run").is_told("has started")


def start_a_campaign_for_a_tenant(me, demo):
    """From the report of enrollment by tenant; over the threshold, so an administrator approves."""
    me.start(f"{BANK}/reports/enrollment")
    row = me.page.locator("main tbody tr", has=me.page.locator(
        f"a[href*='{tenant_of(demo, 'retail')}/']"))
    me.press(me.page.get_by_role("link", name="With tenants"))
    me.press(row.get_by_role("link", name="Send links…")).button("Send links…")
    me.sees("users get a link").type("code", demo.owner.totp.now())
    me.press(me.page.locator(".savebar button.primary"))
    me.is_told(re.compile("pending approval|being sent"))


# MARK: Compliance


def see_the_enrollment_rate(me, demo):
    row = me.page.locator("main tr", has_text="Harbour Bank users outside tenants")
    assert re.search(r"\d+ ?%", row.inner_text())


def list_users_without_a_second_factor(me, demo):
    me.press(me.page.locator("nav.side a[href='/projects']")).link("/users?factor=none")
    expect(me.page.locator("main tbody tr").first).to_be_attached()
    expect(me.page).to_have_url(re.compile(re.escape("factor=none") + "$"))


def policies(me):
    """The review's table of policies, which follows that of what has changed since the sign-off."""
    return me.page.locator("main table.list").last


def see_the_rate_of_every_tenant(me, demo):
    me.link("/harbour-bank/review")
    # A pool without users has no rate.
    rates = [re.search(r"\d+ ?%", row.inner_text()) for row in policies(me).locator(
        "tbody tr", has_not=me.page.locator("[data-label=Enrolled]", has_text="–")).all()]
    assert len(rates) >= 6 and all(rates)


def read_the_policy_of_a_tenant(me, demo):
    me.link("/harbour-bank/review")
    row = policies(me).locator("tr", has_text="retail")
    assert row.locator("svg").count() >= 1 and "mandatory at sign-up" in row.inner_text().lower()


def compare_two_pools(me, demo):
    me.link("/harbour-bank/review").link(f"{tenant_of(demo, 'staff')}/policy/comparison?with=")
    assert me.page.locator("main tr.differs").count() >= 1


def compare_with_a_past_day(me, demo):
    me.link("/harbour-bank/policy")
    me.press(me.page.locator("summary", has_text="Versions")).link("/policy/comparison")
    day = me.page.locator("#on").get_attribute("max")
    me.type("on", day).button("Compare")
    assert me.page.locator("main table tbody tr").count() >= 4


def see_who_changed_a_policy_and_how(me, demo):
    me.link("/harbour-bank/policy")
    me.press(me.page.locator("summary", has_text="Versions"))
    text = me.page.locator("main").inner_text()
    assert "→" in text and re.search("Priya Raman|Olga Lindqvist", text)


def list_removals_with_their_reason(me, demo):
    """Those of all projects in 90 days, by reason and agent."""
    me.press(me.page.locator("nav.side a[href='/reports']")).link("/reports/removals")
    expect(me.page.locator("nav.seg a[aria-current]", has_text="90 days")).to_be_visible()
    counts = me.page.locator("main table.list tbody")
    assert re.search(r"lost.*\d", counts.inner_text(), re.I | re.S)
    assert demo.person("support").name in counts.inner_text()


def prove_that_the_log_is_intact(me, demo):
    """The page says how far the server has verified the log; the command verifies all of it."""
    me.press(me.page.locator("nav.side a[href='/reports']"))
    me.press(me.page.locator("nav.tabs a[href='/audit']"))
    me.sees(re.compile(r"Verified through .* \(entry [\d,]+\)"))
    result = run("audit", "verify", "--data", demo.server.data)
    assert result.returncode == 0 and "Proven: " in result.stdout, result.stderr


def sign_off_three_reviews(me, demo):
    """One after another; each leads to the next."""
    expect(me.page.locator("main a[href$='/review?queue=1']")).to_have_count(4)
    me.press(me.page.locator("main a.primary"))
    for _ in range(3):
        me.link("/review/sign-off")
        me.press(me.page.locator("main form button.primary"))
        me.is_told("Review signed off.")
    me.sees("Every project is signed off.")


def sign_off_the_review(me, demo):
    me.link("/harbour-bank/review").link("/review/sign-off")
    me.type("note", "Checked with the branch managers.")
    me.press(me.page.locator("main form button.primary"))
    me.is_told(re.compile("."))


def list_exemptions(me, demo):
    """All of them, each with its end."""
    me.press(me.page.locator("nav.side a[href='/review']"))
    me.sees("Waits for a new phone.").sees(re.compile(r"\d{4}"))


# MARK: Budgets


@dataclass(frozen=True)
class Task:
    """A task, who does it, and at most what it may cost.

    `asks_for_code` tells that the last own code of the person is older than the re-authentication
    interval, as in the middle of a shift; everyone else has just signed in.
    """

    number: str
    steps: Callable
    who: str
    budget: Cost
    asks_for_code: bool = False

    def __str__(self):
        return f"{self.number}-{self.steps.__name__.replace('_', '-')}"


def administrator(number, steps, *budget, **more):
    return Task(number, steps, "policy", Cost(*budget), **more)


def agent(number, steps, *budget, asks_for_code=True, **more):
    return Task(number, steps, "support", Cost(*budget), asks_for_code, **more)


def auditor(number, steps, *budget, **more):
    return Task(number, steps, "auditor", Cost(*budget), **more)


TASKS = [
    # Presses, fields, pages: a policy has a review page, and a weaker one a reason.
    administrator("A1", turn_totp_on, 2, 0, 2),
    administrator("A2", change_the_window, 4, 1, 3),
    administrator("A3", set_a_policy_for_one_tenant, 3, 0, 3),
    administrator("A3", turn_totp_on_with_another_window, 4, 0, 3),
    administrator("A4", revert_to_the_project, 4, 1, 4),
    administrator("A5", list_tenants_that_differ, 2, 0, 2),
    administrator("A6", make_mfa_mandatory_from_a_date, 5, 1, 3),
    Task("A7", simulate_a_sign_in, "owner", Cost(3, 1, 3)),
    administrator("A8", create_a_tenant, 2, 1, 2),
    administrator("A8", create_a_tenant_with_totp, 3, 1, 2),
    # Two presses each for the role and the tenant.
    Task("A9", add_a_support_agent_of_one_tenant, "owner", Cost(7, 2, 3)),
    administrator("A10", export_and_compare_policies, 2, 0, 1),
    # The caller's address, two presses for the reason, and the agent's own code.
    agent("S1", find_the_caller, 0, 1, 1),
    agent("S2", see_factors_last_use_and_lock, 0, 1, 1),
    agent("S3", remove_a_lost_device, 4, 2, 3),
    agent("S4", remove_every_factor, 4, 2, 3),
    agent("S5", generate_a_temporary_code, 4, 2, 3),
    agent("S6", suspend_a_factor_until_tomorrow, 4, 2, 3),
    agent("S7", unlock_codes, 4, 2, 3),
    # The link knows the reason.
    agent("S7", unlock_codes_from_the_report, 3, 1, 2),
    agent("S8", explain_why_codes_are_rejected, 0, 1, 1),
    agent("S9", end_all_sessions, 5, 2, 3),
    agent("S10", request_the_removal_of_forty, 6, 2, 4),
    Task("S10", approve_the_removal_of_forty, "owner", Cost(3, 1, 3), asks_for_code=True),
    Task("S11", start_a_campaign_for_a_tenant, "owner", Cost(4, 1, 4), asks_for_code=True),
    auditor("C1", see_the_enrollment_rate, 0, 0, 0),
    auditor("C2", list_users_without_a_second_factor, 2, 0, 2),
    auditor("C3", see_the_rate_of_every_tenant, 1, 0, 1),
    auditor("C4", read_the_policy_of_a_tenant, 1, 0, 1),
    auditor("C5", compare_two_pools, 2, 0, 2),
    auditor("C5", compare_with_a_past_day, 4, 1, 3),
    auditor("C6", see_who_changed_a_policy_and_how, 2, 0, 1),
    auditor("C7", list_removals_with_their_reason, 2, 0, 2),
    auditor("C8", prove_that_the_log_is_intact, 2, 0, 2),
    auditor("C9", sign_off_three_reviews, 7, 0, 7),
    auditor("C9", sign_off_the_review, 3, 1, 3),
    auditor("C10", list_exemptions, 1, 0, 1),
]


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_a_task_costs_at_most_its_budget(hand, demo, task):
    if task.steps is generate_a_temporary_code:
        set_rules(demo.browse(demo.owner), tenant_of(demo, "business"), temporary_codes="on")
    elif task.steps is list_exemptions:
        exempt(demo.browse(demo.owner), BANK)
    elif task.steps in (see_factors_last_use_and_lock, unlock_codes,
                        unlock_codes_from_the_report):
        lock_codes(demo)
    elif task.steps is prove_that_the_log_is_intact:
        audit = demo.browse(demo.owner)
        until(lambda: "Verified through" in audit.get("/audit").text, "the log is verified", 120)
    me = hand(task.who)
    if task.asks_for_code:
        reauthenticate(demo.server.data, LONG_AGO)
        forget_own_codes(demo.server.data)
    task.steps(me, demo)
    assert me.cost.within(task.budget), f"{me.cost} instead of {task.budget}"


def test_an_own_code_adds_one_field_and_nothing_else(hand, demo):
    me = hand("policy")
    reauthenticate(demo.server.data, LONG_AGO)
    forget_own_codes(demo.server.data)
    me.link(f"{BANK}/policy").press(me.page.locator(".cells label[for=intervals-3]").last)
    me.button("Review changes")
    me.type("code", demo.person("policy").totp.now())
    save(me, "Clocks of older phones are off.").is_told("3")
    assert me.cost.within(Cost(4, 2, 3)), me.cost


@pytest.mark.parametrize("part", ["uid", "half-an-address"])
def test_a_caller_is_found_by(hand, demo, part):
    uid, email = people(demo, tenant_of(demo, "business"))[0]
    text = uid if part == "uid" else email[2:-4]
    if part == "half-an-address":
        # The part of the address matches only this user.
        hits = demo.browse(demo.owner).get("/users", params={"q": text}).text
        assert len(re.findall(r'class="who clamp"', hits)) == 1
    me = find(hand("support"), text)
    expect(me.page).to_have_url(re.compile(re.escape(uid) + "$"))
    assert me.cost.within(Cost(0, 1, 1)), me.cost


def test_a_temporary_code_is_shown_once(hand, demo):
    tenant = tenant_of(demo, "business")
    set_rules(demo.browse(demo.owner), tenant, temporary_codes="on")
    me = hand("support")
    reauthenticate(demo.server.data, LONG_AGO)
    forget_own_codes(demo.server.data)
    generate_a_temporary_code(me, demo)
    code = me.page.get_by_label("code", exact=True).inner_text()
    me.page.reload()
    assert me.page.locator("dl.figures").count() == 0 and code not in me.page.content()
