"""Phones as first and second factors, with the calls that the web SDK makes."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.rest import Api, claims, ok, refused

PROJECT = "demo-project"
numbers = itertools.count(1)


@pytest.fixture
def emulated(emulator):
    """The emulator's project with SMS codes turned on."""
    api = Api(emulator.url, PROJECT, "any-key", "owner")
    ok(api.admin("PATCH", "config", {
        "mfa": {"state": "ENABLED", "enabledProviders": ["PHONE_SMS"], "providerConfigs": [
            {"state": "ENABLED", "totpProviderConfig": {}}]}}, version="v2",
        params={"updateMask": "mfa"}))
    return api


def number():
    return f"+1202555{next(numbers):04}"


def code_of(api, session_info):
    """Returns the code that would have been sent, as tests read it from an emulator."""
    path = f"/emulator/v1/projects/{api.project}/verificationCodes"
    [code] = [one for one in ok(api.http.get(path))["verificationCodes"]
              if one["sessionInfo"] == session_info]
    return code["code"]


def enroll(api, id_token, phone, name="Mobile"):
    ok(api.http.get("/v2/recaptchaConfig", params={
        "key": api.key, "clientType": "CLIENT_TYPE_WEB", "version": "RECAPTCHA_ENTERPRISE"}))
    started = ok(api.factor("mfaEnrollment:start", {
        "idToken": id_token, "phoneEnrollmentInfo": {
            "phoneNumber": phone, "captchaResponse": "NO_RECAPTCHA",
            "clientType": "CLIENT_TYPE_WEB", "recaptchaVersion": "RECAPTCHA_ENTERPRISE"}}))
    info = started["phoneSessionInfo"]["sessionInfo"]
    return ok(api.factor("mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": name,
        "phoneVerificationInfo": {"sessionInfo": info, "code": code_of(api, info)}}))


def send(api, pending):
    hint = next(one for one in pending["mfaInfo"] if "phoneInfo" in one)
    sent = ok(api.factor("mfaSignIn:start", {
        "mfaPendingCredential": pending["mfaPendingCredential"],
        "mfaEnrollmentId": hint["mfaEnrollmentId"],
        "phoneSignInInfo": {"captchaResponse": "NO_RECAPTCHA"}}))
    return sent["phoneResponseInfo"]["sessionInfo"]


def test_a_phone_is_enrolled_used_and_unenrolled(emulated):
    phone, email = number(), f"phone{next(numbers)}@example.com"
    _, id_token = emulated.user(email)
    done = enroll(emulated, id_token, phone)
    assert "phoneAuthInfo" not in done
    assert claims(done["idToken"])["firebase"]["sign_in_second_factor"] == "phone"
    ok(emulated.client(":lookup", {"idToken": id_token}))
    pending = ok(emulated.sign_in(email))
    assert "idToken" not in pending
    [hint] = pending["mfaInfo"]
    assert hint["phoneInfo"] == "+*******" + phone[-4:]
    info = send(emulated, pending)
    final = {"mfaPendingCredential": pending["mfaPendingCredential"],
             "phoneVerificationInfo": {"sessionInfo": info, "code": code_of(emulated, info)}}
    signed_in = ok(emulated.factor("mfaSignIn:finalize", final))
    refused(emulated.factor("mfaSignIn:finalize", final), "INVALID_PENDING_TOKEN")
    # With an app as well: unenrolling the newest factor returns no tokens and ends the session.
    _, both = emulated.enroll(signed_in["idToken"])
    [user] = ok(emulated.client(":lookup", {"idToken": both["idToken"]}))["users"]
    assert [set(one) & {"totpInfo", "phoneInfo"} for one in user["mfaInfo"]] == [
        {"phoneInfo"}, {"totpInfo"}]
    ids = [one["mfaEnrollmentId"] for one in user["mfaInfo"]]
    assert ok(emulated.factor("mfaEnrollment:withdraw", {
        "idToken": both["idToken"], "mfaEnrollmentId": ids[1]})) == {}
    refused(emulated.client(":lookup", {"idToken": both["idToken"]}), "TOKEN_EXPIRED")
    pending = ok(emulated.sign_in(email))
    info = send(emulated, pending)
    again = ok(emulated.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": pending["mfaPendingCredential"],
        "phoneVerificationInfo": {"sessionInfo": info, "code": code_of(emulated, info)}}))
    last = ok(emulated.factor("mfaEnrollment:withdraw", {
        "idToken": again["idToken"], "mfaEnrollmentId": ids[0]}))
    assert "sign_in_second_factor" not in claims(last["idToken"])["firebase"]
    assert "idToken" in ok(emulated.sign_in(email))


def test_one_of_20_equal_concurrent_requests_succeeds(emulated):
    email = f"phone{next(numbers)}@example.com"
    _, id_token = emulated.user(email)
    enroll(emulated, id_token, number())
    pending = ok(emulated.sign_in(email))
    info = send(emulated, pending)
    body = {"mfaPendingCredential": pending["mfaPendingCredential"],
            "phoneVerificationInfo": {"sessionInfo": info, "code": code_of(emulated, info)}}

    def finalize(_):
        with httpx.Client(base_url=emulated.url, timeout=60) as http:
            return http.post(
                "/v2/accounts/mfaSignIn:finalize", params={"key": "k"}, json=body).status_code

    with ThreadPoolExecutor(20) as pool:
        assert sorted(pool.map(finalize, range(20))) == [200] + [400] * 19


def test_a_phone_number_signs_up_signs_in_and_is_linked(emulated):
    phone = number()

    def sign_in(**more):
        info = ok(emulated.client(":sendVerificationCode", {
            "phoneNumber": phone, "recaptchaToken": "ignored"}))["sessionInfo"]
        return emulated.client(":signInWithPhoneNumber", {
            "sessionInfo": info, "code": code_of(emulated, info), **more})

    first = ok(sign_in())
    assert first["isNewUser"] is True and first["phoneNumber"] == phone
    assert claims(first["idToken"])["firebase"]["sign_in_provider"] == "phone"
    assert ok(sign_in())["localId"] == first["localId"]
    _, id_token = emulated.user(f"phone{next(numbers)}@example.com")
    taken = ok(sign_in(idToken=id_token))
    assert "idToken" not in taken and taken["phoneNumber"] == phone
    proof = {"phoneNumber": phone, "temporaryProof": taken["temporaryProof"]}
    assert ok(emulated.client(":signInWithPhoneNumber", proof))["localId"] == first["localId"]
    refused(emulated.client(":signInWithPhoneNumber", proof), "INVALID_TEMPORARY_PROOF")
    [user] = ok(emulated.client(":lookup", {"idToken": first["idToken"]}))["users"]
    assert [one["providerId"] for one in user["providerUserInfo"]] == ["phone"]


def test_a_tenant_supports_phones_as_second_factor_only(emulated):
    created = ok(emulated.admin("POST", "tenants", {
        "displayName": "phones", "allowPasswordSignup": True,
        "mfaConfig": {"state": "ENABLED", "enabledProviders": ["PHONE_SMS"]}}, version="v2"))
    tenant = Api(
        emulated.url, PROJECT, "any-key", "owner", created["name"].split("/")[-1])
    _, id_token = tenant.user("ada@example.com")
    started = ok(tenant.factor("mfaEnrollment:start", {
        "idToken": id_token, "phoneEnrollmentInfo": {"phoneNumber": number()}}))
    path = f"/emulator/v1/projects/{PROJECT}/tenants/{tenant.tenant}/verificationCodes"
    [code] = ok(tenant.http.get(path))["verificationCodes"]
    assert code["sessionInfo"] == started["phoneSessionInfo"]["sessionInfo"]
    refused(
        tenant.client(":sendVerificationCode", {"phoneNumber": number()}),
        "UNSUPPORTED_TENANT_OPERATION")


def test_an_administrator_adds_and_removes_phones(api):
    uid, id_token = api.user("ada@example.com")
    api.switch_totp_on()
    _, done = api.enroll(id_token)
    ok(api.admin("POST", "accounts:update", {"localId": uid, "mfa": {"enrollments": [
        {"phoneInfo": "+12025550143", "displayName": "One", "enrolledAt": "2026-01-02T03:04:05Z"},
        {"phoneInfo": "+12025550144", "mfaEnrollmentId": "own-id"}]}}))
    [user] = ok(api.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"]
    assert [one.get("phoneInfo") for one in user["mfaInfo"]] == [
        None, "+12025550143", "+12025550144"]
    assert user["mfaInfo"][1]["enrolledAt"].startswith("2026-01-02T03:04:05.000")
    # No factor was removed, so the session continues; removing all ends it.
    ok(api.client(":lookup", {"idToken": done["idToken"]}))
    ok(api.admin("POST", "accounts:update", {"localId": uid, "mfa": {}}))
    refused(api.client(":lookup", {"idToken": done["idToken"]}), "TOKEN_EXPIRED")
