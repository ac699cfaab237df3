"""Temporary and recovery codes, as the SDKs of applications pass them on: in the
place of a code of the app, with nothing of the SDK changed."""

import html
import re
import time

import pyotp
import pytest

from support.pages import Pages
from support.program import Server, prove
from support.replay import FOLDER, Conversation, make_as_new
from support.rest import Api, ok, refused

PROJECT = "demo-project"
RULES = {"code-cap": "10", "undo-hours": "72", "code-attempt-days": "90", "actions-per-hour": "1000",
         "approval-over-users": "", "identity-proof": "", "temporary-codes": "on",
         "recovery-codes": "on"}


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """An emulator's owner, and a desk that gives codes."""
    with Server(tmp_path_factory.mktemp("backup-codes"), profile="emulator") as server:
        pages = Pages(server.url).set_up(server.setup_code, email="olga@example.com")
        pages.server = server
        prove(server.data)
        answer = pages.post(f"/projects/{PROJECT}/settings/support", RULES)
        assert answer.status_code == 303, answer.text
        yield pages


class StandingIn(Conversation):
    """A conversation in which the last code of the app is one that stands in for it."""

    def __init__(self, console, make):
        super().__init__(console.url)
        self.console, self.make, self.code = console, make, None
        self.api = Api(console.url, PROJECT, "any-key", "owner")

    def _say(self, word):
        if word != "code secret 1":
            return super()._say(word)
        if self.code is None:
            self.code = self.make(self)
        return self.code

    def give(self, code):
        """A sign-in of its own, with a code in the app's place."""
        first = ok(self.api.sign_in("ada@example.com"))
        return self.api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})


def temporary(conversation):
    """A code that an agent makes, and reads to the caller."""
    pages = conversation.console
    [user] = ok(conversation.api.admin(
        "POST", "accounts:lookup", {"email": ["ada@example.com"]}))["users"]
    prove(pages.server.data)
    made = pages.post(f"/projects/{PROJECT}/users/{user['localId']}/temporary-code", {
        "reason": "lost", "hours": "1"})
    assert made.status_code == 303, made.text
    shown = pages.get(made.headers["location"]).text
    return html.unescape(re.search(r'aria-label="code">([^<]+)<', shown).group(1))


def recovery(conversation):
    """One of those that the user has made, once the application had asked for a code of the app."""
    app = pyotp.TOTP(conversation.kept["secret"])
    session = ok(conversation.give(app.at(time.time() + 60)))
    made = ok(conversation.api.factor(
        "mfaRecoveryCodes:generate", {"idToken": session["idToken"]}))
    assert len(set(made["recoveryCodes"])) == 10
    return made["recoveryCodes"][3]


@pytest.mark.parametrize("make", [temporary, recovery])
@pytest.mark.parametrize("client", ["js", "ios", "android"])
def test_an_sdk_hands_it_over_as_a_code_of_the_app(console, client, make):
    make_as_new(console.url)
    conversation = StandingIn(console, make)
    # Every answer is as the client expects it, the session's second factor among them.
    conversation.run(FOLDER / client / "second-factor.json")
    assert conversation.code, "no code of the app was asked for"
    assert not conversation.code.isdigit()
    # Once, however it is typed.
    for typed in (conversation.code, conversation.code.lower().replace("-", " ")):
        refused(conversation.give(typed), "INVALID_CODE")
    if make is recovery:
        session = ok(conversation.give(
            pyotp.TOTP(conversation.kept["secret"]).at(time.time() + 120)))
        left = ok(conversation.api.factor(
            "mfaRecoveryCodes:lookup", {"idToken": session["idToken"]}))
        assert left["remainingCodes"] == 9, left
