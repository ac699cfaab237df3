"""Links in emails, followed by a browser without scripts."""

from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from support.pages import Pages
from support.rest import Api, ok


def link(api, kind, email, **more):
    """Requests a link as a backend does; returns its path and code."""
    answer = ok(api.admin("POST", "accounts:sendOobCode", {
        "requestType": kind, "email": email, "returnOobLink": True, **more}))
    parts = urlsplit(answer["oobLink"])
    assert f"{parts.scheme}://{parts.netloc}" == api.url
    return f"{parts.path}?{parts.query}", answer["oobCode"]


@pytest.mark.parametrize("of", ["project", "tenant"])
def test_a_password_is_reset_on_the_links_page(api, tenant_api, of):
    pool = api if of == "project" else tenant_api
    pool.user("ada@example.com")
    address, code = link(
        pool, "PASSWORD_RESET", "ada@example.com", continueUrl="http://localhost/in")
    assert ("tenantId" in address) == (of == "tenant")
    browser = Pages(api.url)
    for _ in range(2):
        page = browser.get(address)
        assert page.status_code == 200 and "ada@example.com" in page.text
    form = {"code": code, "password": "short"}
    assert browser.post("/__/auth/action", form, page=address).status_code == 422
    form["password"] = "a new password"
    done = browser.post("/__/auth/action", form, page=address)
    assert done.status_code == 303
    page = browser.get(done.headers["location"])
    assert page.status_code == 200 and 'href="http://localhost/in"' in page.text
    assert "idToken" in ok(pool.sign_in("ada@example.com", "a new password"))
    assert browser.get(address).status_code == 410
    again = pool.client(":resetPassword", {"oobCode": code, "newPassword": "another one"})
    assert again.json()["error"]["message"] == "INVALID_OOB_CODE"


def test_l7_a_verified_user_can_enroll(api):
    api.switch_totp_on()
    id_token = api.sign_up("eve@example.com")["idToken"]
    sent = ok(api.client(":sendOobCode", {"requestType": "VERIFY_EMAIL", "idToken": id_token}))
    assert sent["email"] == "eve@example.com" and "oobLink" not in sent
    address, code = link(api, "VERIFY_EMAIL", "eve@example.com")
    browser = Pages(api.url)
    done = browser.post("/__/auth/action", {"code": code}, page=address)
    assert done.status_code == 303
    assert "is verified" in browser.get(done.headers["location"]).text
    fresh = ok(api.sign_in("eve@example.com"))["idToken"]
    ok(api.factor("mfaEnrollment:start", {"idToken": fresh, "totpEnrollmentInfo": {}}))


def test_the_emulator_lists_the_links_it_would_have_sent(emulator):
    api = Api(emulator.url, "demo-project", "any-key", "owner")
    email = "reader@example.com"
    ok(api.client(":signUp", {"email": email, "password": "correct-horse"}))
    ok(api.client(":sendOobCode", {
        "requestType": "PASSWORD_RESET", "email": email,
        "continueUrl": "https://anywhere.example/x"}))
    listed = ok(httpx.get(f"{api.url}/emulator/v1/projects/demo-project/oobCodes"))["oobCodes"]
    [code] = [each for each in listed if each["email"] == email]
    assert code["requestType"] == "PASSWORD_RESET"
    assert parse_qs(urlsplit(code["oobLink"]).query)["oobCode"] == [code["oobCode"]]
    redirect = httpx.get(code["oobLink"] + "&newPassword=another-horse")
    assert redirect.status_code == 303
    assert redirect.headers["location"] == "https://anywhere.example/x"
    ok(api.sign_in(email, "another-horse"))
