"""Forms: errors are shown next to their fields, and input is preserved."""

import re

import httpx
import pytest

from support.agents import set_rules
from support.pages import Pages, error_of
from support.program import Server, reauthenticate
from support.rest import ok


def test_c1_the_setup_closes_once_there_is_an_owner(standalone):
    assert httpx.get(standalone.url + "/setup").status_code in (303, 404)


def test_a_failed_sign_in_keeps_the_email_but_not_the_password(standalone):
    answer = Pages(standalone.url).sign_in("ada@example.com", "hunter2-not-it")
    assert answer.status_code in (401, 403, 422)
    assert 'value="ada@example.com"' in answer.text
    assert "hunter2-not-it" not in answer.text


def test_known_and_unknown_emails_get_the_same_error(standalone):
    known = Pages(standalone.url).sign_in("ada@example.com", "not this one")
    unknown = Pages(standalone.url).sign_in("bob@example.com", "not this one")
    assert known.status_code == unknown.status_code

    def words(answer):
        return error_of(answer.text, "email"), error_of(answer.text, "password")
    assert words(known) == words(unknown) != (None, None)


def test_sign_in_attempts_are_throttled(standalone):
    pages = Pages(standalone.url)
    answers = [pages.sign_in("mallory@example.com", f"guess {n}") for n in range(10)]
    last = pages.sign_in("mallory@example.com", "one too many")
    assert all(answer.status_code == answers[0].status_code for answer in answers)
    assert last.status_code == 429 and int(last.headers["retry-after"]) > 0


def test_sign_in_redirects_only_within_the_console(standalone):
    for next in ("//evil.example/", "https://evil.example", "/\\evil.example", "/sign-out",
                 "/nowhere", "/guides\r\nX-Evil: 1"):
        answer = Pages(standalone.url).sign_in(next=next)
        assert answer.status_code == 303 and answer.headers["location"] == "/", next
    answer = Pages(standalone.url).sign_in(next="/guides/mandatory?a=b")
    assert answer.headers["location"] == "/guides/mandatory?a=b"


@pytest.mark.parametrize("id", ["ab", "1project", "Project", "a" * 31, "my_project", "x y z!!!"])
def test_an_invalid_project_id_is_refused(owner, id):
    answer = owner.post("/projects/new", {"id": id, "name": "A name of its own"})
    assert answer.status_code == 422
    assert error_of(answer.text, "id")
    assert 'value="A name of its own"' in answer.text


def test_a_project_id_in_use_is_refused(owner, api):
    answer = owner.post("/projects/new", {"id": api.project, "name": "Again"})
    assert answer.status_code == 422 and error_of(answer.text, "id")


@pytest.mark.parametrize("name", ["abc", "1abc", "a" * 21, "a b c d", "Zürich", ""])
def test_an_invalid_tenant_name_is_refused(owner, api, name):
    answer = owner.post(f"/projects/{api.project}/tenants/new", {"name": name})
    assert answer.status_code == 422 and error_of(answer.text, "name")
    assert f'value="{name}"' in answer.text


@pytest.mark.parametrize(
    "value", ["11", "-1", "5.5", "abc", "{}", "NUM_ADJ_INTERVALS", "", "5 5", "99999999999999999999"])
def test_an_invalid_window_is_refused_and_nothing_is_saved(owner, api, value):
    page = f"/projects/{api.project}/policy"
    version = version_of(owner, page)
    answer = owner.post(page, {
        "version": version, "totp": "on", "intervals": value,
        "sms": "off", "pattern": "account"})
    assert answer.status_code == 422
    assert error_of(answer.text, "intervals-default")
    assert '<option value="account" selected>' in answer.text
    assert version_of(owner, page) == version


def version_of(owner, page):
    text = owner.get(page).text
    return text.split('name="version" value="')[1].split('"')[0]


def test_markup_in_input_is_escaped(owner, api):
    value = "\"><script>alert(1)</script>&amp;"
    answer = owner.post("/projects/new", {"id": value, "name": value})
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;" in answer.text


def test_a_name_can_use_any_script(owner):
    name = "مشروع 项目 परियोजना"
    owner.create_project("unicode-names", name)
    assert name in owner.get("/projects/unicode-names").text


HOSTILE = {
    "invalid UTF-8": b"name=%FF%FE",
    "an incomplete escape": b"name=%4",
    "raw bytes": b"name=\xff\xfe\x00",
    "NUL": b"name=a%00b",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_invalid_form_body_is_refused(owner, api, body):
    path = f"/projects/{api.project}/tenants/new"
    token = owner.token_of(path).encode()
    answer = owner.http.post(
        path, content=b"csrf=" + token + b"&" + body,
        headers={"Origin": owner.url, "Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert ok(api.admin("GET", "tenants", version="v2")) == {}


def test_a_large_body_is_refused(owner, api):
    path = f"/projects/{api.project}/tenants/new"
    answer = owner.http.post(
        path, content=b"name=" + b"a" * 10_000_000,
        headers={"Origin": owner.url, "Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_a_json_body_is_refused(owner, api):
    answer = owner.http.post(
        f"/projects/{api.project}/tenants/new", json={"name": "acme"},
        headers={"Origin": owner.url})
    assert answer.status_code == 415
    assert owner.http.post(
        f"/projects/{api.project}/tenants/new", headers={"Origin": owner.url}).status_code == 403


def test_a_form_without_its_csrf_token_is_refused(owner, api):
    path = f"/projects/{api.project}/tenants/new"
    stranger = Pages(owner.url)
    stranger.sign_in()
    for token in ("", "0" * 32, stranger.token_of(path)):
        answer = owner.http.post(
            path, data={"csrf": token, "name": "acme"}, headers={"Origin": owner.url})
        assert answer.status_code == 403
    # Without `Origin` and `Sec-Fetch-Site`, the form is refused.
    answer = owner.http.post(path, data={"csrf": owner.token_of(path), "name": "acme"})
    assert answer.status_code == 403
    assert ok(api.admin("GET", "tenants", version="v2")) == {}


def test_a_conflicting_policy_change_is_reported(owner, api):
    page = f"/projects/{api.project}/policy"
    version = version_of(owner, page)
    api.switch_totp_on(3)
    answer = owner.post(page, {
        "version": version, "totp": "on", "intervals": "7",
        "sms": "off", "pattern": "none"})
    assert answer.status_code == 409
    assert "This policy changed while you were editing" in answer.text and 'value="7" checked' in answer.text
    config = ok(api.admin("GET", "config", version="v2"))
    assert config["mfa"]["providerConfigs"][0]["totpProviderConfig"] == {"adjacentIntervals": 3}


def test_stale_support_rules_are_shown_next_to_the_present_ones(owner, api):
    path = f"/projects/{api.project}/settings/support"
    reauthenticate(Server.folders[owner.url])
    opened = owner.hidden_fields(path)["settings-version"]
    set_rules(owner, f"/projects/{api.project}", approval_for_last_factor="on")
    form = {"code-cap": "10", "undo-hours": "24", "code-attempt-days": "90", "actions-per-hour": "20",
            "sign-in-goal": "99.9", "identity-proof": "", "caller-verification": "off"}
    for version in (opened, ""):
        answer = owner.post(path, {**form, "settings-version": version})
        assert answer.status_code == 409
        assert "These support rules changed while you were editing" in answer.text
        assert 'id="undo-hours"' in answer.text and 'value="24"' in answer.text
    # Sent again, the form of that answer is up to date.
    kept = owner.get(path).text
    assert re.search(r'<input type="radio" id="approval-for-last-factor"[^>]* checked', kept)
    present = re.search(r'name="settings-version" value="([^"]+)"', answer.text)[1]
    form |= {"settings-version": present, "approval-for-last-factor": "on", "tokens-remove-factors": "on"}
    assert owner.post(path, form).status_code == 303


def test_turning_totp_off_requires_the_tenants_name(owner, tenant_api):
    tenant_api.switch_totp_on(1)
    _, id_token = tenant_api.user("eve@example.com")
    tenant_api.enroll(id_token)
    page = f"/projects/{tenant_api.project}/tenants/{tenant_api.tenant}/policy"
    form = {"version": version_of(owner, page), "totp": "off", "intervals": "1",
            "sms": "off", "pattern": "none", "note": "TOTP moves to another server."}
    check = owner.post(page, form)
    assert check.status_code == 200 and "without a second factor" in check.text.replace("\n", " ")
    wrong = owner.post(page + "/changes", {**form, "confirmation": "another"}, page)
    assert wrong.status_code == 422 and error_of(wrong.text, "confirmation")
    assert "mfaPendingCredential" in ok(tenant_api.sign_in("eve@example.com"))
    right = owner.post(page + "/changes", {**form, "confirmation": "acme"}, page)
    assert right.status_code == 303
    assert "idToken" in ok(tenant_api.sign_in("eve@example.com"))
