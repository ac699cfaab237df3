"""The console and REST read and write the same policy."""

import csv
import html
import io
import json
import re
import subprocess
from fractions import Fraction

import pytest
from playwright.sync_api import expect

from support.program import run
from support.rest import ok
from support.waiting import until


def fields(page):
    """Returns the policy form's fields as a browser would send them."""
    values = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name = re.search(r' name="(\w+)"', tag)
        value = re.search(r' value="([^"]*)"', tag)
        if name and (' type="radio"' not in tag or " checked" in tag) and " disabled" not in tag:
            values[name.group(1)] = value.group(1) if value else ""
    for name, options in re.findall(r'<select [^>]*name="(\w+)"[^>]*>(.*?)</select>', page, re.S):
        first = re.search(r' value="([^"]*)"', options)
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        values[name] = (chosen or first).group(1)
    return values


def selected(markup):
    """Returns the call for the selected values; the calls for others are hidden."""
    variant = re.search(r'<span class="variant [^"]*shown">(.*?)(?=<span class="variant|$)', markup, re.S)
    text = re.sub(r'<span class="o w\w+">.*?</span>', "", variant.group(1), flags=re.S)
    return re.sub(r"</?span[^>]*>", "", text)


def change(owner, address, **answers):
    form = fields(owner.get(address).text) | answers | {
        "note": "Asked for by the customer."}
    form.pop("q", None)
    answer = owner.http.post(address + "/changes", data=form, headers={"Origin": owner.origin})
    assert answer.status_code == 303, answer.text
    return owner.get(address).text


@pytest.fixture(params=["project", "tenant"])
def pool(request, api, tenant_api, owner):
    """A user pool: its policy's path, and functions to read and write it over REST."""
    of_tenant = request.param == "tenant"
    api = tenant_api if of_tenant else api
    path, member = ("", "mfaConfig") if of_tenant else ("config", "mfa")
    address = f"/projects/{api.project}" + (f"/tenants/{api.tenant}" if of_tenant else "")

    def read():
        return ok(api.admin("GET", path, version="v2")).get(member, {})

    def write(message, mask=member):
        return ok(api.admin(
            "PATCH", path, {member: message}, version="v2", params={"updateMask": mask}))

    return address + "/policy", read, write, member


def test_rest_reads_what_the_console_stores(pool, owner):
    address, read, _, _ = pool
    change(owner, address, totp="on", intervals="3", sms="on")
    assert read() == {
        "state": "ENABLED", "enabledProviders": ["PHONE_SMS"],
        "providerConfigs": [
            {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 3}}]}
    page = change(owner, address, sms="off")
    assert "SMS on → off" in page
    assert "enabledProviders" not in read() or read()["enabledProviders"] == []
    assert read()["state"] == "ENABLED"


def test_the_console_shows_what_rest_stores_and_keeps_the_date(pool, owner):
    address, _, write, member = pool
    change(owner, address, totp="on", pattern="mandatory", **{"from": "2030-01-15"})
    write({
        "state": "MANDATORY", "enabledProviders": ["PHONE_SMS"],
        "providerConfigs": [{"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 9}}]})
    page = owner.get(address).text
    seen = fields(page)
    assert (seen["sms"], seen["intervals"]) == ("on", "9")
    assert (seen["pattern"], seen["from"]) == ("mandatory", "2030-01-15")
    write({"state": "DISABLED"}, mask=f"{member}.state")
    seen = fields(owner.get(address).text)
    assert (seen["sms"], seen["from"]) == ("off", "2030-01-15")
    review = owner.get(re.match(r"/projects/[^/]+", address).group(0) + "/review").text
    assert "Mandatory from Jan 15, 2030" in review


def test_the_call_shown_on_the_page_writes_the_same_policy(pool, owner, api):
    address, read, write, _ = pool
    change(owner, address, totp="on", intervals="0", sms="on")
    call = re.search(r'aria-label="REST API">(.*?)</pre>', owner.get(address).text, re.S)
    call = selected(call.group(1))
    for mark, sign in (("&quot;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        call = call.replace(mark, sign)
    before = read()
    write({"state": "DISABLED"})
    assert read() != before
    result = subprocess.run(
        call.replace("curl", "curl -sS", 1), shell=True, env={"TOKEN": api.token, "PATH": "/usr/bin"},
        capture_output=True, text=True)
    assert "error" not in json.loads(result.stdout), result.stdout
    assert read() == before
    assert "No changes made." in owner.http.post(
        address, data=fields(owner.get(address).text),
        headers={"Origin": owner.origin}).text


def sent_by_node(sample):
    """Returns the message that the Admin SDK for Node.js sends for its sample; its mask has the
    message's members."""
    members = re.search(r"multiFactorConfig: (\{.*\n  \}),", html.unescape(sample), re.S).group(1)
    members = re.sub(r" //.*", "", members)
    members = re.sub(r"(\w+):", r'"\1":', members)
    message = json.loads(re.sub(r",(\s*[\]}])", r"\1", members))
    if "factorIds" in message:
        message["enabledProviders"] = ["PHONE_SMS" for _ in message.pop("factorIds")]
    return message


def test_the_admin_sdk_call_for_the_current_values_turns_totp_and_sms_off_again(pool, owner):
    address, read, write, member = pool
    write({})
    review = owner.http.post(
        address, data=fields(owner.get(address).text) | {"totp": "on", "sms": "on"},
        headers={"Origin": owner.origin}).text
    call = re.search(r'aria-label="Admin SDK, current values">(.*?)</pre>', review, re.S)
    message = sent_by_node(call.group(1))
    change(owner, address, totp="on", sms="on")
    assert {"enabledProviders", "providerConfigs"} < read().keys()
    write(message, mask=",".join(f"{member}.{name}" for name in message))
    assert read() == {"state": "DISABLED"}


@pytest.fixture
def page(chromium, owner):
    """A browser page in which the owner is signed in."""
    context = chromium.new_context(base_url=owner.url)
    context.add_cookies([
        {"name": cookie.name, "value": cookie.value, "url": owner.url}
        for cookie in owner.http.cookies.jar])
    yield context.new_page()
    context.close()


def test_a_change_of_only_the_window_is_reviewed_with_scripts(page, api):
    api.switch_totp_on(5)
    page.goto(f"/projects/{api.project}/policy")
    step(page, 2)
    assert "5 valid codes. Odds of guessing one" in page.locator(".intervals .hint:visible").inner_text()
    expect(page.locator(".savebar output")).to_have_text(
        "1 unsaved change: adjacent intervals ±5 → ±2")
    page.locator("summary", has_text="Apply from code").click()
    assert "{ adjacentIntervals: 2 }" in page.locator("pre[aria-label*=SDK]").inner_text()
    with page.expect_navigation():
        page.get_by_role("button", name="Review changes").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Review changes"
    with page.expect_navigation():
        page.locator("form[action$='/policy/changes'] button:not([formaction], [type=button])").click()
    assert page.locator("[role=status]").inner_text() == "Saved: adjacent intervals 5 → 2. Undo"
    expect(page.locator(".savebar output")).to_have_text("No unsaved changes")


def step(page, intervals):
    """Presses − until a number of intervals is selected."""
    while not page.locator(f"#intervals-{intervals}").is_checked():
        page.locator(".stepper:visible label").first.click()


def test_a_start_date_is_offered_for_the_mandatory_pattern_only(page, api):
    page.goto(f"/projects/{api.project}/policy")
    expect(page.locator("#from")).not_to_be_visible()
    page.locator("#pattern").select_option("mandatory")
    page.locator("#from").fill("2030-01-15")
    expect(page.locator(".savebar output")).to_have_text(
        "2 unsaved changes: enrollment pattern None → Mandatory at sign-up; "
        "start date – → \u20682030-01-15\u2069")
    page.locator("#pattern").select_option("account")
    expect(page.locator("#from")).not_to_be_visible()
    expect(page.locator(".savebar output")).to_contain_text("1 unsaved change:")
    with page.expect_navigation():
        page.locator("button.primary").click()
    expect(page.locator("tr", has_text="from the account page")).to_have_count(1)


@pytest.mark.parametrize("leaves", [True, False])
def test_leaving_with_unsaved_changes_warns(page, api, leaves):
    api.switch_totp_on(5)
    page.goto(f"/projects/{api.project}/policy")
    asked = []

    def answer(dialog):
        asked.append(dialog.type)
        dialog.accept() if leaves else dialog.dismiss()
    page.on("dialog", answer)
    step(page, 4)
    page.locator("nav.side a").first.click(no_wait_after=True)
    until(lambda: page.evaluate("1") and asked == ["beforeunload"], "the browser asks", 30)
    if leaves:
        expect(page).not_to_have_url(re.compile("/policy$"))
    else:
        expect(page).to_have_url(re.compile("/policy$"))


@pytest.mark.parametrize("stored, chosen", [(None, [1]), (3, [1]), (3, [1, 3]), (3, [])])
def test_the_window_in_the_review_of_turning_totp_on_can_be_changed(page, api, stored, chosen):
    """Also if it's stored from before TOTP was turned off."""
    if stored is not None:
        ok(api.admin("PATCH", "config", {"mfa": {"providerConfigs": [
            {"state": "DISABLED", "totpProviderConfig": {"adjacentIntervals": stored}}]}},
            version="v2", params={"updateMask": "mfa"}))
    page.goto(f"/projects/{api.project}/policy?change=on")
    expect(page.locator(f"#intervals-{'default' if stored is None else stored}")).to_be_checked()
    for number in chosen:
        page.locator(f".cells label[for=intervals-{number}]").last.click()
        expect(page.locator(f"#intervals-{number}")).to_be_checked()
    rows = [[cell.inner_text() for cell in row.locator("th, td").all()]
            for row in page.locator("table tbody tr:visible").all()]
    assert all(before != after for _, before, after in rows), rows
    with page.expect_navigation():
        page.locator("form[action$='/policy/changes'] button:not([formaction], [type=button])").click()
    # The review lists what is then reported.
    saved = page.locator("[role=status]").inner_text().removeprefix("Saved: ").split(" Undo")[0]
    listed = {f"{before} → {after}" for _, before, after in rows}
    assert len(rows) == saved.count("→") and all(change in saved for change in listed), (rows, saved)
    config = ok(api.admin("GET", "config", version="v2"))
    assert config["mfa"]["providerConfigs"][0]["totpProviderConfig"] == {
        "adjacentIntervals": [stored, *chosen][-1]}


def test_the_window_is_selected_without_scripts(chromium, owner, api):
    api.switch_totp_on(5)
    context = chromium.new_context(base_url=owner.url, java_script_enabled=False)
    context.add_cookies([
        {"name": cookie.name, "value": cookie.value, "url": owner.url}
        for cookie in owner.http.cookies.jar])
    page = context.new_page()
    page.goto(f"/projects/{api.project}/policy")
    for summary in page.locator("details.card > summary").all():
        summary.click()
    step(page, 3)
    assert "7 valid codes" in page.locator(".intervals .hint:visible").inner_text()
    assert not page.locator(".savebar output").is_visible()
    assert '{"adjacentIntervals": 3}' in page.locator("pre[aria-label^=REST]").inner_text()
    page.locator("label[for=intervals-default]:visible").click()
    assert "Google’s default, 5, applies" in page.locator(".intervals .hint:visible").inner_text()
    assert '"totpProviderConfig": {}' in page.locator("pre[aria-label^=REST]").inner_text()
    page.locator("label[for=totp-off]").click()
    assert '"state": "DISABLED"' in page.locator("pre[aria-label^=REST]").inner_text()
    page.locator("button.primary").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Review changes"
    context.close()


def test_the_evidence_is_a_file(owner, api):
    answer = owner.get(f"/projects/{api.project}/policy/evidence.csv?days=7")
    head, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert head[:2] == ["Adjacent intervals", "Valid codes"]
    assert [(int(row[0]), int(row[1]), row[2]) for row in rows] == [
        (number, 2 * number + 1, "7") for number in range(11)]
    # The odds, recalculated exactly.
    for row in rows:
        chance = 1 - (1 - Fraction(int(row[1]), 10**6)) ** 10
        assert abs(Fraction(row[8].rstrip("%")) / 100 - chance) < chance / 500


def test_policies_are_applied_from_a_file(standalone, api, tmp_path):
    """The file is the one that was exported, with another window."""
    api.switch_totp_on(5)

    def command(name, *more):
        return run("policy", name, *more, "--data", standalone.data)

    def window():
        message = ok(api.admin("GET", "config", version="v2"))["mfa"]
        return message["providerConfigs"][0]["totpProviderConfig"]["adjacentIntervals"]

    def file_of(intervals):
        file = json.loads(command("export", "--project", api.project).stdout)
        [pool] = [pool for pool in file["pools"] if not pool.get("tenant")]
        pool["totp"]["adjacentIntervals"] = intervals
        path = tmp_path / f"{intervals}.json"
        path.write_text(json.dumps(file))
        return path

    stricter = file_of(1)
    drifting = command("diff", stricter)
    assert drifting.returncode == 1 and "5" in drifting.stdout and "1" in drifting.stdout
    tried = command("apply", stricter, "--dry-run")
    assert (tried.returncode, tried.stdout) == (0, drifting.stdout)
    assert window() == 5 and command("diff", stricter).returncode == 1

    assert command("apply", stricter).returncode == 0
    assert window() == 1 and command("diff", stricter).returncode == 0

    weaker = file_of(8)
    tried = command("apply", weaker, "--dry-run")
    assert tried.returncode == 78 and "reason" in tried.stderr
    assert tried.stdout == command("diff", weaker).stdout != ""
    assert command("apply", weaker).returncode == 78 and window() == 1
    assert command("apply", weaker, "--reason", "Old phones.").returncode == 0
    assert window() == 8

    weaker.write_text("{")
    assert command("diff", weaker).returncode == 2
