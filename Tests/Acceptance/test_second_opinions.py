"""Independent tools agree with Countersign."""

import subprocess
import time

from support.rest import ok, refused


def oathtool(secret, timestamp):
    return subprocess.run(
        ["oathtool", "--totp", "--base32", secret, "--now", f"@{int(timestamp)}"],
        capture_output=True, text=True, check=True).stdout.strip()


def test_codes_of_oathtool_enroll_and_sign_in(api):
    api.switch_totp_on(1)
    _, id_token = api.user("eve@example.com")
    session = ok(api.factor(
        "mfaEnrollment:start", {"idToken": id_token, "totpEnrollmentInfo": {}}))["totpSessionInfo"]
    secret = session["sharedSecretKey"]
    ok(api.factor("mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": session["sessionInfo"],
            "verificationCode": oathtool(secret, time.time())}}))
    first = ok(api.sign_in("eve@example.com"))

    def second(timestamp):
        return api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": oathtool(secret, timestamp)}})
    refused(second(time.time() + 90), "INVALID_CODE")
    ok(second(time.time() + 30))
