"""Concurrent requests over real connections: single-use values are used once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pyotp

from support.rest import ok


def at_once(api, requests):
    """Sends requests at the same time, each over its own connection."""
    barrier = threading.Barrier(len(requests))

    def send(path, body, headers=None):
        with httpx.Client(base_url=api.url, timeout=60) as http:
            # Opens the connection before the barrier.
            http.get("/healthz")
            barrier.wait()
            params = None if headers else {"key": api.key}
            return http.post(path, params=params, json=body, headers=headers)
    with ThreadPoolExecutor(len(requests)) as pool:
        return [one.result() for one in [pool.submit(send, *one) for one in requests]]


def split(answers):
    """Returns the bodies of successful responses, and the error codes of the others."""
    good = [answer.json() for answer in answers if answer.status_code == 200]
    words = [answer.json()["error"]["message"].split(" : ")[0]
             for answer in answers if answer.status_code != 200]
    return good, words


def enrolled_user(api):
    api.switch_totp_on()
    _, id_token = api.user("ada@example.com")
    totp, _ = api.enroll(id_token)
    return totp


def second(first, code):
    return ("/v2/accounts/mfaSignIn:finalize", {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": code}})


def test_one_of_twenty_equal_sign_ins_succeeds(api):
    totp = enrolled_user(api)
    first = ok(api.sign_in("ada@example.com"))
    good, words = split(at_once(api, [second(first, totp.at(time.time() + 30))] * 20))
    assert len(good) == 1
    assert set(words) <= {"INVALID_CODE", "INVALID_PENDING_TOKEN", "QUOTA_EXCEEDED"}


def test_v1_one_code_is_accepted_in_one_of_twenty_sessions(api):
    totp = enrolled_user(api)
    pending = [ok(api.sign_in("ada@example.com")) for _ in range(20)]
    code = totp.at(time.time() + 30)
    good, words = split(at_once(api, [second(first, code) for first in pending]))
    assert len(good) == 1
    assert set(words) <= {"INVALID_CODE", "QUOTA_EXCEEDED"}


def start(api, id_token):
    session = ok(api.factor(
        "mfaEnrollment:start", {"idToken": id_token, "totpEnrollmentInfo": {}}))["totpSessionInfo"]
    return ("/v2/accounts/mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": session["sessionInfo"],
            "verificationCode": pyotp.TOTP(session["sharedSecretKey"]).now()}})


def factors(api, uid):
    [user] = ok(api.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"]
    return user.get("mfaInfo", [])


def test_concurrent_enrollments_create_one_factor(api):
    api.switch_totp_on()
    uid, id_token = api.user("ada@example.com")
    good, words = split(at_once(api, [start(api, id_token) for _ in range(6)]))
    assert len(good) == 1 and len(factors(api, uid)) == 1
    assert set(words) == {"SECOND_FACTOR_LIMIT_EXCEEDED"}


def test_v2_a_repeated_enrollment_creates_one_factor(api):
    api.switch_totp_on()
    uid, id_token = api.user("ada@example.com")
    good, words = split(at_once(api, [start(api, id_token)] * 6))
    assert len(good) == 1 and len(factors(api, uid)) == 1
    assert set(words) <= {"MFA_ENROLLMENT_ALREADY_COMPLETE", "SECOND_FACTOR_LIMIT_EXCEEDED"}


def test_an_email_creates_one_account(api):
    spellings = ["ada@example.com", "Ada@example.com", "ADA@EXAMPLE.COM", "ada@Example.com"] * 3
    good, words = split(at_once(api, [
        ("/v1/accounts:signUp", {"email": email, "password": "bright-swordfish"}) for email in spellings]))
    assert len(good) == 1 and set(words) == {"EMAIL_EXISTS"}
    assert len(ok(api.admin("GET", "accounts:batchGet"))["users"]) == 1


def test_a_uid_creates_one_account(api):
    good, words = split(at_once(api, [
        (f"/v1/projects/{api.project}/accounts", {"localId": "ada"},
         {"Authorization": f"Bearer {api.token}"})] * 12))
    assert len(good) == 1 and set(words) == {"DUPLICATE_LOCAL_ID"}


def test_a_link_sets_one_password(api):
    api.user("ada@example.com")
    sent = ok(api.admin("POST", "accounts:sendOobCode", {
        "requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": True}))
    passwords = [f"password number {n}" for n in range(10)]
    answers = at_once(api, [
        ("/v1/accounts:resetPassword", {"oobCode": sent["oobCode"], "newPassword": password})
        for password in passwords])
    good, words = split(answers)
    assert len(good) == 1 and set(words) == {"INVALID_OOB_CODE"}
    [winner] = [password for password, answer in zip(passwords, answers)
                if answer.status_code == 200]
    ok(api.sign_in("ada@example.com", winner))
