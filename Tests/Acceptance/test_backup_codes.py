"""Temporary and recovery codes, passed on by the SDKs of applications in place of an app's code,
without changes to the SDKs."""

import html
import re
import time

import pyotp
import pytest

from support.agents import set_rules
from support.pages import Pages
from support.program import Server, reauthenticate
from support.replay import FOLDER, Conversation, reset_project
from support.rest import Api, ok, refused

PROJECT = "demo-project"


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """An emulator's owner, with support rules that allow backup codes."""
    with Server(tmp_path_factory.mktemp("backup-codes"), profile="emulator") as server:
        pages = Pages(server.url).set_up(server.setup_code, email="olga@example.com")
        pages.server = server
        set_rules(pages, f"/projects/{PROJECT}", actions_per_hour="1000", temporary_codes="on",
                  recovery_codes="on")
        yield pages


class BackupCodeConversation(Conversation):
    """A conversation in which the app's last code is replaced with a backup code."""

    def __init__(self, console, make):
        super().__init__(console.url)
        self.console, self.make, self.code = console, make, None
        self.api = Api(console.url, PROJECT, "any-key", "owner")

    def _value(self, word):
        if word != "code secret 1":
            return super()._value(word)
        if self.code is None:
            self.code = self.make(self)
        return self.code

    def sign_in_with(self, code):
        """Signs in separately, with a code in place of the app's."""
        first = ok(self.api.sign_in("ada@example.com", "swordfish"))
        return self.api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})


def temporary(conversation):
    """Generates a temporary code as an agent."""
    pages = conversation.console
    [user] = ok(conversation.api.admin(
        "POST", "accounts:lookup", {"email": ["ada@example.com"]}))["users"]
    reauthenticate(pages.server.data)
    created = pages.post(f"/projects/{PROJECT}/users/{user['localId']}/temporary-code", {
        "reason": "lost", "hours": "1"})
    assert created.status_code == 303, created.text
    shown = pages.get(created.headers["location"]).text
    return html.unescape(re.search(r'aria-label="code">([^<]+)<', shown).group(1))


def recovery(conversation):
    """Generates recovery codes as the user, after a sign-in with a code of the app."""
    app = pyotp.TOTP(conversation.kept["secret"])
    session = ok(conversation.sign_in_with(app.at(time.time() + 60)))
    created = ok(conversation.api.factor(
        "mfaRecoveryCodes:generate", {"idToken": session["idToken"]}))
    assert len(set(created["recoveryCodes"])) == 10
    return created["recoveryCodes"][3]


@pytest.mark.parametrize("make", [temporary, recovery])
@pytest.mark.parametrize("client", ["js", "ios", "android"])
def test_an_sdk_passes_a_backup_code_on_like_a_code_of_the_app(console, client, make):
    reset_project(console.url)
    conversation = BackupCodeConversation(console, make)
    # Every response is as the client expects, including the session's second factor.
    conversation.run(FOLDER / client / "second-factor.json")
    assert conversation.code, "the conversation didn't use a code of the app"
    assert not conversation.code.isdigit()
    # The code is single use, however it's typed.
    for typed in (conversation.code, conversation.code.lower().replace("-", " ")):
        refused(conversation.sign_in_with(typed), "INVALID_CODE")
    if make is recovery:
        session = ok(conversation.sign_in_with(
            pyotp.TOTP(conversation.kept["secret"]).at(time.time() + 120)))
        left = ok(conversation.api.factor(
            "mfaRecoveryCodes:lookup", {"idToken": session["idToken"]}))
        assert left["remainingCodes"] == 9, left
