"""Which codes count, said by two programs that know nothing of ours: pyotp and oathtool."""

import base64
import hashlib
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pyotp
import pytest

from conftest import new_project
from support.rest import ok
from support.waiting import until

WINDOWS = [0, 1, 5, 10]

SALT = base64.urlsafe_b64encode(b"salt").decode()
HASH = base64.urlsafe_b64encode(hashlib.sha256(b"saltswordfish").digest()).decode()


def by_pyotp(secret, moment):
    return pyotp.TOTP(secret).at(moment)


def by_oathtool(secret, moment):
    return subprocess.run(
        ["oathtool", "--totp", "--base32", secret, "--now", f"@{int(moment)}"],
        capture_output=True, text=True, check=True).stdout.strip()


class Sign:
    """One imported user, who sends one code: of their own step, from one program."""

    def __init__(self, window, offset, program):
        self.window, self.offset, self.program = window, offset, program
        self.uid = f"{program.__name__.replace('_', '-')}-{window}-{offset}"
        self.email = f"{self.uid}@example.com"
        self.secret = pyotp.random_base32(32)

    @property
    def row(self):
        return {
            "localId": self.uid, "email": self.email, "emailVerified": True,
            "salt": SALT, "passwordHash": HASH, "mfaInfo": [{
                "mfaEnrollmentId": f"factor-{self.uid}", "displayName": "Phone",
                "totpInfo": {"sharedSecretKey": self.secret}}]}

    def pass_first_factor(self, api):
        self.pending = ok(api.sign_in(self.email))["mfaPendingCredential"]

    def send(self, api, now):
        code = self.program(self.secret, now + 30 * self.offset)
        answer = api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": self.pending, "mfaEnrollmentId": f"factor-{self.uid}",
            "totpVerificationInfo": {"verificationCode": code}})
        self.said = answer.status_code, answer.json().get("error", {}).get("message")


def signs(window):
    """Every step that must count, and the two beside them that must not, from both programs."""
    return [Sign(window, offset, program) for program in (by_pyotp, by_oathtool)
            for offset in range(-window - 1, window + 2)]


@pytest.fixture(scope="module")
def sent(standalone, owner):
    """All codes of all windows, sent right after a step began, and the answers to them."""
    places = {window: new_project(standalone, owner) for window in WINDOWS}
    everybody = {window: signs(window) for window in WINDOWS}
    with ThreadPoolExecutor(4) as pool:
        for window, api in places.items():
            api.switch_totp_on(window)
            api.allow_secrets()
            answer = ok(api.admin("POST", "accounts:batchCreate", {
                "hashAlgorithm": "SHA256", "rounds": 1,
                "users": [sign.row for sign in everybody[window]]}))
            assert "error" not in answer, answer
        list(pool.map(lambda sign: sign.pass_first_factor(places[sign.window]),
                      [sign for window in WINDOWS for sign in everybody[window]]))
        until(lambda: time.time() % 30 < 10, "a step begins", 40)
        now = time.time()
        list(pool.map(lambda sign: sign.send(places[sign.window], now),
                      [sign for window in WINDOWS for sign in everybody[window]]))
        assert time.time() // 30 == now // 30, "it took longer than a step"
    return {(sign.window, sign.offset, sign.program): sign.said
            for window in WINDOWS for sign in everybody[window]}


@pytest.mark.parametrize("program", [by_pyotp, by_oathtool], ids=["pyotp", "oathtool"])
@pytest.mark.parametrize("window,offset", [
    (window, offset) for window in WINDOWS for offset in range(-window - 1, window + 2)])
def test_a_code_of_the_window_signs_in_and_no_other(sent, window, offset, program):
    status, message = sent[window, offset, program]
    if abs(offset) <= window:
        assert status == 200, message
    else:
        assert (status, message) == (400, "INVALID_CODE")
