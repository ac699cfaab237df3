"""The lifecycle of a second factor over REST, step by step, in both profiles and kinds of pools."""

import time

import httpx
import jwt
import pyotp
import pytest
from cryptography.x509 import load_pem_x509_certificate

from support.pages import Pages
from support.program import Server
from support.rest import Api, claims, create_token, ok, refused
from support.waiting import room_in_interval

ACCOUNT = "securetoken@system.gserviceaccount.com"
HOST = "/identitytoolkit.googleapis.com"


@pytest.fixture(params=["", HOST], ids=["without-host-name", "with-host-name"])
def prefix(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["project", "tenant"])
def in_tenant(request):
    return request.param


def test_a_second_factors_lifecycle_works_standalone(standalone, api, owner, in_tenant, prefix):
    tenant = owner.create_tenant(api.project, "acme") if in_tenant else None
    pool = Api(api.url, api.project, api.key, api.token, tenant, prefix)
    walk(pool, verified_by_keys(pool))


def test_a_second_factors_lifecycle_works_in_the_emulator(emulator, in_tenant, prefix):
    """Any API key and the token `owner` work, and projects and tenants are created on first use."""
    tenant = f"tenant-{in_tenant}-{len(prefix)}" if in_tenant else None
    pool = Api(emulator.url, "demo-project", "any-key", "owner", tenant, prefix)
    email = f"ada-{len(prefix)}@example.com"
    walk(pool, unsigned, email)


def unsigned(token):
    head, _, signature = token.split(".")
    assert signature == ""
    assert jwt.get_unverified_header(token)["alg"] == "none"
    return jwt.decode(token, options={"verify_signature": False}, audience="demo-project")


def verified_by_keys(api):
    """Verifies a token as its consumers do: with the JWK set and with the certificates."""
    def check(token):
        id = jwt.get_unverified_header(token)["kid"]
        keys = httpx.get(f"{api.url}/www.googleapis.com/service_accounts/v1/jwk/{ACCOUNT}").json()
        [key] = [key for key in keys["keys"] if key["kid"] == id]
        assert key["alg"] == "RS256" and key["use"] == "sig" and key["kty"] == "RSA"
        certificates = httpx.get(
            f"{api.url}/www.googleapis.com/robot/v1/metadata/x509/{ACCOUNT}")
        assert "max-age" in certificates.headers["cache-control"]
        certificate = load_pem_x509_certificate(certificates.json()[id].encode())
        decoded = [
            jwt.decode(token, key, ["RS256"], audience=api.project,
                       issuer=f"https://securetoken.google.com/{api.project}")
            for key in (jwt.PyJWK(key).key, certificate.public_key())]
        assert decoded[0] == decoded[1]
        return decoded[0]
    return check


def walk(api, read, email="ada@example.com"):
    api.switch_totp_on(5)

    # 1, 2: enrollment requires a verified email.
    signed_up = api.sign_up(email)
    uid = signed_up["localId"]
    assert signed_up["expiresIn"] == "3600" and signed_up["refreshToken"]
    start = {"idToken": signed_up["idToken"], "totpEnrollmentInfo": {}}
    error = refused(api.factor("mfaEnrollment:start", start), "UNVERIFIED_EMAIL : ")
    assert error["status"] == "INVALID_ARGUMENT" and "errors" not in error

    # 3: an administrator verifies the email; the user signs in again.
    api.verify_email(uid)
    session_b = ok(api.sign_in(email))
    decoded = read(session_b["idToken"])
    assert decoded["email_verified"] is True and decoded["sub"] == decoded["user_id"] == uid
    assert decoded["firebase"]["sign_in_provider"] == "password"
    assert decoded["firebase"].get("tenant") == api.tenant

    # 4, 5: enrollment.
    started = ok(api.factor(
        "mfaEnrollment:start", {"idToken": session_b["idToken"], "totpEnrollmentInfo": {}}))
    info = started["totpSessionInfo"]
    assert (info["verificationCodeLength"], info["hashingAlgorithm"], info["periodSec"]) == (
        6, "SHA1", 30)
    assert len(info["sharedSecretKey"]) == 32
    totp = pyotp.TOTP(info["sharedSecretKey"])
    code = totp.now()
    finalize = {"idToken": session_b["idToken"], "displayName": "Phone", "totpVerificationInfo": {
        "sessionInfo": info["sessionInfo"], "verificationCode": code}}
    session_c = ok(api.factor("mfaEnrollment:finalize", finalize))
    assert session_c["totpAuthInfo"] == {}
    decoded = read(session_c["idToken"])
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    refused(api.factor("mfaEnrollment:finalize", finalize), "MFA_ENROLLMENT_ALREADY_COMPLETE")

    # 6: lookup returns the factor without its secret.
    answer = api.client(":lookup", {"idToken": session_c["idToken"]})
    [user] = ok(answer)["users"]
    [factor] = user["mfaInfo"]
    assert factor["totpInfo"] == {} and factor["displayName"] == "Phone"
    assert factor["mfaEnrollmentId"] == decoded["firebase"]["second_factor_identifier"]
    assert "." in factor["enrolledAt"] and factor["enrolledAt"].endswith("Z")
    assert user.get("tenantId") == api.tenant
    assert info["sharedSecretKey"] not in answer.text
    refused(api.factor("mfaEnrollment:start", {
        "idToken": session_c["idToken"], "totpEnrollmentInfo": {}}), "SECOND_FACTOR_LIMIT_EXCEEDED")

    # 7: the password alone is no longer enough.
    first = ok(api.sign_in(email))
    assert "idToken" not in first and "expiresIn" not in first
    assert [f["mfaEnrollmentId"] for f in first["mfaInfo"]] == [factor["mfaEnrollmentId"]]

    # 8: the same code again is a replay; 9: the next one is within the window.
    def second(code):
        return api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": factor["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})
    refused(second(code), "INVALID_CODE")
    later = totp.at(time.time() + 30)
    session_d = ok(second(later))
    decoded = read(session_d["idToken"])
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    refused(second(later), "")

    # 10: a refresh keeps the session's claims.
    def refresh(token):
        return api.http.post(
            "/v1/token", params={"key": api.key},
            data={"grant_type": "refresh_token", "refresh_token": token})
    fresh = ok(refresh(session_d["refreshToken"]))
    assert fresh["token_type"] == "Bearer" and fresh["user_id"] == uid
    assert read(fresh["id_token"])["firebase"]["sign_in_second_factor"] == "totp"
    assert read(fresh["id_token"])["auth_time"] == decoded["auth_time"]

    # 11: unenrolling ends earlier sessions, and the password is enough again.
    refused(api.factor("mfaEnrollment:withdraw", {
        "idToken": session_d["idToken"], "mfaEnrollmentId": "totp"}), "MFA_ENROLLMENT_NOT_FOUND")
    # Revocation has a resolution of one second: waits until the session is older than that.
    wait_for_the_next_second(decoded["auth_time"])
    withdrawn = ok(api.factor("mfaEnrollment:withdraw", {
        "idToken": session_d["idToken"], "mfaEnrollmentId": factor["mfaEnrollmentId"]}))
    assert "sign_in_second_factor" not in read(withdrawn["idToken"])["firebase"]
    refused(api.client(":lookup", {"idToken": session_d["idToken"]}), "TOKEN_EXPIRED")
    refused(refresh(session_d["refreshToken"]), "TOKEN_EXPIRED")
    [user] = ok(api.client(":lookup", {"idToken": withdrawn["idToken"]}))["users"]
    assert "mfaInfo" not in user
    assert "mfaPendingCredential" not in ok(api.sign_in(email))


def wait_for_the_next_second(second):
    while time.time() < second + 1:
        time.sleep(0.05)


@pytest.mark.parametrize("intervals,codes", [(0, {0}), (1, {-1, 0, 1}), (None, {-5, 0, 5})])
def test_codes_within_the_window_are_accepted(api, intervals, codes):
    """The policy's number of adjacent intervals is accepted, and not one more."""
    api.switch_totp_on(intervals)
    reach = 5 if intervals is None else intervals
    for step in (-reach - 1, reach + 1, *sorted(codes)):
        email = f"step{step}@example.com"
        _, id_token = api.user(email)
        start = ok(api.factor(
            "mfaEnrollment:start", {"idToken": id_token, "totpEnrollmentInfo": {}}))
        info = start["totpSessionInfo"]
        totp = pyotp.TOTP(info["sharedSecretKey"])
        room_in_interval(5)
        answer = api.factor("mfaEnrollment:finalize", {
            "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
                "sessionInfo": info["sessionInfo"],
                "verificationCode": totp.at(time.time() + 30 * step)}})
        if abs(step) <= reach:
            ok(answer)
        else:
            refused(answer, "INVALID_CODE")


def test_five_wrong_codes_lock_the_user(api):
    api.switch_totp_on(1)
    uid, id_token = api.user("eve@example.com")
    totp, _ = api.enroll(id_token)
    first = ok(api.sign_in("eve@example.com"))

    def second(code):
        return api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})
    valid = {totp.at(time.time() + 30 * step) for step in range(-4, 5)}
    wrong = [code for code in (f"{n:06}" for n in range(20)) if code not in valid][:5]
    for code in wrong[:4]:
        refused(second(code), "INVALID_CODE")
    refused(second(wrong[4]), "")
    # After five wrong codes in a row, the right one is refused too.
    refused(second(totp.at(time.time() + 30)), "QUOTA_EXCEEDED : Exceeded quota.")


def test_the_emulator_has_its_greeting_and_routes(emulator):
    greeting = httpx.get(emulator.url).json()["authEmulator"]
    assert greeting["ready"] is True
    page = httpx.get(emulator.url, headers={"Accept": "text/html"}, follow_redirects=False)
    assert page.status_code == 303 or page.headers["content-type"].startswith("text/html")
    api = Api(emulator.url, "another-project", "k", "owner")
    ok(api.admin("POST", "accounts", {"email": "x@example.com", "password": "bright-swordfish"}))
    assert len(ok(api.admin("GET", "accounts:batchGet"))["users"]) == 1
    assert httpx.delete(
        f"{emulator.url}/emulator/v1/projects/another-project/accounts").json() == {}
    assert "users" not in ok(api.admin("GET", "accounts:batchGet"))


@pytest.mark.parametrize("host,status", [
    ("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:9099", 200), ("evil.example", 403),
    ("127.0.0.1.evil.example", 403), ("localhost.evil.example:80", 403), ("10.0.0.1", 403),
])
def test_the_emulator_accepts_loopback_host_names_only(emulator, host, status):
    """Prevents DNS rebinding."""
    for path in ("/", "/emulator/v1/projects/demo-project/config", "/v1/projects?key=k"):
        answer = httpx.get(emulator.url + path, headers={"Host": host})
        assert answer.status_code == status, path


def test_standalone_has_no_emulator_routes(standalone):
    for method, path in (("DELETE", "/emulator/v1/projects/p/accounts"),
                         ("GET", "/emulator/v1/projects/p/config")):
        answer = httpx.request(method, standalone.url + path)
        assert answer.status_code in (303, 404, 405)
    greeting = httpx.get(standalone.url)
    assert greeting.status_code == 303 and greeting.headers["location"] == "/sign-in"


def test_standalone_accepts_any_host_name(standalone):
    assert httpx.get(
        standalone.url + "/healthz", headers={"Host": "mfa.example.com"}).text == "ok\n"


def test_the_discovery_document_leads_to_the_keys(standalone, api):
    document = httpx.get(
        f"{standalone.url}/{api.project}/.well-known/openid-configuration").json()
    assert document["issuer"] == f"https://securetoken.google.com/{api.project}"
    assert document["id_token_signing_alg_values_supported"] == ["RS256"]
    keys = httpx.get(document["jwks_uri"]).json()
    assert keys["keys"]
