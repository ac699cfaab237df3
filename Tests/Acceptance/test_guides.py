"""The guides as a reader follows them, with and without a session; REST calls run as printed."""

import html
import json
import re
import subprocess
import time

import httpx
import pyotp
import pytest
from playwright.sync_api import expect

from support.pages import Pages
from support.program import Server
from support.rest import Api, claims, create_token, ok

GUIDES = ["mandatory", "skippable", "account", "step-up"]

# The members of responses whose values replace the guides' placeholders.
MEMBERS = {
    "localId": "UID", "idToken": "ID_TOKEN", "id_token": "ID_TOKEN",
    "refreshToken": "REFRESH_TOKEN", "refresh_token": "REFRESH_TOKEN",
    "sessionInfo": "SESSION_INFO", "mfaPendingCredential": "PENDING_CREDENTIAL",
    "mfaEnrollmentId": "ENROLLMENT_ID", "sharedSecretKey": "SECRET", "oobCode": "OOB_CODE",
}


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    """An emulator whose console is set up."""
    with Server(tmp_path_factory.mktemp("emulated"), profile="emulator") as server:
        pages = Pages(server.url).set_up(server.setup_code)
        yield Api(server.url, "demo-project", "any-key", "owner"), pages


@pytest.fixture(params=["project", "tenant", "emulator"])
def pool(request, standalone, owner):
    """A user pool with TOTP on, its owner's pages, and the token that the guides require."""
    if request.param == "emulator":
        api, pages = request.getfixturevalue("emulated")
        api.switch_totp_on()
        return api, pages, "owner"
    api = request.getfixturevalue("api" if request.param == "project" else "tenant_api")
    api.switch_totp_on()
    token = create_token(standalone.data, api.project, "application", api.tenant)
    return api, owner, token


PLATFORMS = ["web", "kotlin", "java", "swift", "objc", "rest"]
PARTS = [f"/guides/{name}{tab}" for name in (*GUIDES, "common") for tab in ("", "/build", "/operate")]


def opened(pages, name, api):
    query = {"project": api.project, **({"tenant": api.tenant} if api.tenant else {})}
    page = pages.get(f"/guides/{name}", params=query)
    assert page.status_code == 200, page.text
    return page.text


def calls(page):
    samples = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.S)
    texts = [html.unescape(re.sub(r"<[^>]+>", "", each)) for each in samples]
    return [each for each in texts if each.startswith("curl ")]


def walkthrough(page):
    return calls(page[page.index('id="rest-api-walkthrough"'):])


class Reader:
    """A reader who replaces only the placeholders."""

    def __init__(self, email, token):
        self.words = {"EMAIL": email, "PASSWORD": "correct-horse", "TOKEN": token}
        self.step = 0

    def code(self):
        """Returns a code of the authenticator app, each one only once."""
        self.step = max(self.step + 1, int(time.time()) // 30)
        return pyotp.TOTP(self.words["SECRET"]).at(self.step * 30)

    def run(self, call):
        def value(word):
            return self.code() if word[0] == "CODE" else self.words[word[0]]
        known = "|".join([*self.words, *MEMBERS.values(), "CODE"])
        command = re.sub(rf"\b(?:{known})\b", value, call)
        result = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        answer = json.loads(result.stdout)
        assert "error" not in answer, f"{command}\n{result.stdout}"
        self.learn(answer)
        return answer

    def learn(self, answer):
        for member, value in answer.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    self.learn(each)
            if member in MEMBERS:
                self.words[MEMBERS[member]] = value


@pytest.mark.parametrize("name", GUIDES)
def test_the_calls_of_a_guide_work_in_order(pool, name):
    api, pages, token = pool
    email = f"{name}@example.com"
    reader = Reader(email, token)
    called = []
    for call in walkthrough(opened(pages, f"{name}/build", api)):
        method = re.search(r"(\w+:\w+|token)\?|(accounts:(?:update|sendOobCode))", call)
        method = method.group(1) or method.group(2)
        called.append(method)
        answer = reader.run(call)
        if method in ("mfaEnrollment:finalize", "mfaSignIn:finalize"):
            result = claims(answer["idToken"])["firebase"]
            assert result["sign_in_second_factor"] == "totp"
            assert result.get("tenant") == api.tenant
    order = ["mfaEnrollment:start", "mfaEnrollment:finalize", "mfaSignIn:finalize",
             "mfaEnrollment:withdraw"]
    assert [each for each in called if each in order] == order
    # The last call has removed the factor, so the password is enough.
    answer = ok(api.sign_in(email, "correct-horse"))
    assert "mfaPendingCredential" not in answer
    [user] = ok(api.client(":lookup", {"idToken": answer["idToken"]}))["users"]
    assert "mfaInfo" not in user


def test_the_call_that_turns_totp_on_works(pool):
    api, pages, _ = pool
    [call] = [each for each in calls(opened(pages, "common/build", api))
              if "POLICY_TOKEN" in each]
    result = subprocess.run(
        ["bash", "-c", call.replace("POLICY_TOKEN", api.token)], capture_output=True, text=True,
        timeout=60)
    answer = json.loads(result.stdout)
    [provider] = answer["mfaConfig" if api.tenant else "mfa"]["providerConfigs"]
    assert provider == {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 1}}


def test_one_platform_is_shown_at_a_time(chromium, owner, api):
    """The choice works without a reload, and the next page remembers it."""
    context = chromium.new_context()
    context.add_cookies([
        {"name": cookie.name, "value": cookie.value, "url": owner.url}
        for cookie in owner.http.cookies.jar])
    page = context.new_page()
    page.goto(f"{owner.url}/guides/common/build?project={api.project}")
    sample = page.locator("pre[aria-label='Sign in: iOS, Swift']")
    assert page.locator("pre[aria-label='Sign in: web']").is_visible() and not sample.is_visible()
    page.locator("label[for=platform-swift]").click()
    assert sample.is_visible() and not page.locator("pre[aria-label='Sign in: web']").is_visible()
    page.goto(f"{owner.url}/guides/mandatory/build")
    assert page.locator("#platform-swift").is_checked()
    assert page.locator("pre[aria-label='Gate: iOS, Swift']").is_visible()
    assert not page.locator("#rest-api-walkthrough").is_visible()
    context.close()


def test_the_errors_quoted_in_the_guides_are_the_servers(pool):
    """People search for the exact text of an error."""
    api, pages, _ = pool
    page = html.unescape("".join(
        opened(pages, f"common{tab}", api) for tab in ("", "/build", "/operate")))
    email = "unverified@example.com"
    start = {"idToken": api.sign_up(email)["idToken"], "totpEnrollmentInfo": {}}
    quoted = [api.factor("mfaEnrollment:start", start)]
    _, id_token = api.user("quoted@example.com")
    start = {"idToken": id_token, "totpEnrollmentInfo": {}}
    session = ok(api.factor("mfaEnrollment:start", start))["totpSessionInfo"]
    right = pyotp.TOTP(session["sharedSecretKey"]).now()
    info = {"sessionInfo": session["sessionInfo"], "verificationCode": right}
    quoted.append(api.factor("mfaEnrollment:finalize", {
        "idToken": id_token, "totpVerificationInfo": info}))
    done = {"idToken": id_token, "displayName": "Phone", "totpVerificationInfo": info}
    ok(api.factor("mfaEnrollment:finalize", done))
    quoted += [api.factor("mfaEnrollment:finalize", done), api.factor("mfaEnrollment:start", start)]
    first = ok(api.sign_in("quoted@example.com"))
    quoted += [api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": right}}) for _ in range(6)]
    texts = {answer.json()["error"]["message"] for answer in quoted}
    assert len(texts) == 6
    for text in texts:
        assert f"<code>{text}</code>" in page, text


@pytest.fixture
def visitor(chromium):
    """A page in a browser without a session."""
    context = chromium.new_context(viewport={"width": 320, "height": 700})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_guide_is_short_on_every_platform(visitor, standalone, part):
    """Counts the words of what is visible, code included."""
    visitor.goto(standalone.url + part)
    choices = visitor.locator(".platforms label")
    for platform in PLATFORMS if choices.count() else ["all"]:
        if platform != "all":
            visitor.locator(f"label[for=platform-{platform}]").click()
        words = len(visitor.locator("article").inner_text().split())
        assert 150 < words <= 1_500, platform


@pytest.mark.parametrize("part", PARTS)
def test_a_guide_fits_a_narrow_screen_and_has_copy_buttons(visitor, standalone, part):
    """Samples scroll by themselves, and each has a copy button."""
    visitor.goto(standalone.url + part)
    assert visitor.evaluate("document.documentElement.scrollWidth") <= 320
    samples = visitor.locator(".prose pre[data-copy]")
    assert visitor.locator(".prose .code > button.copy").count() == samples.count()


@pytest.mark.parametrize("profile", ["standalone", "emulator"])
def test_the_guides_can_be_read_before_the_console_is_set_up(tmp_path, profile):
    with Server(tmp_path / "data", profile=profile) as server:
        for path in ("/guides", *PARTS):
            answer = httpx.get(server.url + path)
            assert answer.status_code == 200, path
            if path.endswith("build"):
                assert "API_KEY" in answer.text, path


@pytest.mark.parametrize("works", [True, False], ids=["copied", "failed"])
def test_a_copy_button_announces_whether_it_copied(chromium, owner, api, works):
    context = chromium.new_context()
    context.add_cookies([
        {"name": cookie.name, "value": cookie.value, "url": owner.url}
        for cookie in owner.http.cookies.jar])
    page = context.new_page()
    result = "Promise.resolve()" if works else "Promise.reject(new Error())"
    page.add_init_script(f"navigator.clipboard.writeText = () => {result}")
    page.goto(f"{owner.url}/guides/common/build?project={api.project}")
    status, button = page.get_by_role("status"), page.locator("button.copy").first
    assert status.text_content() == ""
    button.click()
    for element in (status, button):
        expect(element).to_have_text("Copied" if works else "Couldn’t copy. Select the text.")
    if works:
        expect(button).to_have_text("Copy")
        expect(status).to_have_text("")
    context.close()


def test_the_list_of_guides_fits_a_narrow_screen(visitor, standalone):
    visitor.goto(f"{standalone.url}/guides")
    assert visitor.evaluate("document.documentElement.scrollWidth") <= 320
