"""The ten support tasks, with each way to navigate the console."""

import re
import time
from dataclasses import dataclass, field

import pyotp
import pytest
from playwright.sync_api import expect

from support.agents import set_rules
from support.nodes import deployment
from support.pages import Pages
from support.program import LONG_AGO, execute, reauthenticate
from support.rest import Api, create_administrator, create_token, ok, refused
from support.waiting import room_in_interval
from support.walking import Keyboard, Pointer

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Way:
    """A way to navigate the console."""

    name: str
    walker: type
    settings: dict = field(default_factory=dict)


WAYS = [
    Way("with-scripts", Pointer, {"viewport": {"width": 1440, "height": 900}}),
    Way("phone-without-scripts", Pointer, {
        "java_script_enabled": False, "viewport": {"width": 390, "height": 844}}),
    Way("keyboard", Keyboard, {"viewport": {"width": 1280, "height": 800}}),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with deployment(tmp_path_factory.mktemp("support")) as server:
        yield server


@pytest.fixture(scope="module")
def owner(server):
    return Pages(server.url).set_up(server.setup_code, name="Olga Owner")


class Pool:
    """A project with all kinds of callers, and a support agent."""

    def __init__(self, server, owner, name):
        self.server, self.owner = server, owner
        self.path = f"/projects/{name}"
        owner.create_project(name, name.title())
        reauthenticate(server.data)
        set_rules(owner, self.path, code_cap=5, temporary_codes="on",
                  identity_proof="called back on the number on file")
        token = create_token(server.data, name, "owner")
        self.api = Api(server.url, name, owner.api_key(name), token)
        self.api.switch_totp_on(1)
        self.apps, self.uids, self.sessions = {}, {}, {}
        for who in ("caller", "traveler", "forgetful", "guesser", "leaver"):
            self._enroll(who)
        self._import()
        self._guess()
        self._sign_in_support(name)

    def address(self, who):
        """Returns a user's email, unique across projects."""
        return f"{who}.{self.api.project}@example.com"

    def _enroll(self, who):
        self.uids[who], id_token = self.api.user(self.address(who))
        self.apps[who], self.sessions[who] = self.api.enroll(id_token, name=f"{who.title()}’s phone")

    def _import(self):
        """Imports forty users with one phone, and one with two."""
        def phone(id, number):
            return {"mfaEnrollmentId": id, "displayName": f"Phone {id}",
                    "phoneInfo": f"+1555{number:07}"}
        users = [{
            "localId": f"agent-{number:02}", "email": self.address(f"agent-{number:02}"),
            "emailVerified": True, "mfaInfo": [phone(f"a{number:02}", number)],
        } for number in range(40)]
        users.append({
            "localId": "robbed", "email": self.address("robbed"), "emailVerified": True,
            "mfaInfo": [phone("r1", 101), phone("r2", 102)]})
        answer = ok(self.api.admin("POST", "accounts:batchCreate", {"users": users}))
        assert not answer.get("error"), answer
        self.crowd = [user["email"] for user in users[:40]]
        self.uids["robbed"] = "robbed"

    def _guess(self):
        """Sends codes of a phone with a fast clock, and guesses for another user."""
        for steps in (2, 3):
            room_in_interval(10)
            refused(self.code("caller", self.apps["caller"].at(time.time() + 30 * steps)),
                    "INVALID_CODE")
        for _ in range(4):
            refused(self.code("guesser", "000000"), "INVALID_CODE")
        refused(self.code("guesser", "000000"), "QUOTA_EXCEEDED")

    def _sign_in_support(self, name):
        """Signs in a support agent of this project only, with an authenticator."""
        email = f"sam.{name}@example.com"
        create_administrator(self.server.data, email, "support", name="Sam Support", project=name)
        self.support = Pages(self.server.url)
        assert self.support.sign_in(email, PASSWORD).status_code == 303
        page = self.support.get("/account/totp").text
        self.own = pyotp.TOTP(re.search(r"secret=([A-Z2-7]{32})", page)[1])
        done = self.support.post("/account/totp", {
            "ticket": re.search(r'name="ticket" value="([^"]+)"', page)[1], "code": self.own.now()})
        assert "Your second factor is on." in done.text
        # Each code is single use; the next one is already valid.
        self.spare = time.time() + 30

    def code(self, who, code):
        """Signs a user in with a code."""
        first = ok(self.api.sign_in(self.address(who)))
        return self.api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})

    def context(self, chromium, pages, way):
        context = chromium.new_context(base_url=self.server.url, **way.settings)
        context.set_default_timeout(20_000)
        context.add_cookies([{"name": cookie.name, "value": cookie.value, "url": self.server.url}
                             for cookie in pages.http.cookies.jar])
        return context


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_ten_support_tasks_work(server, owner, chromium, way):
    pool = Pool(server, owner, f"support-{way.name}")
    contexts = [pool.context(chromium, pages, way) for pages in (pool.support, owner)]
    me, other = (way.walker(context.new_page()) for context in contexts)
    reauthenticate(server.data, LONG_AGO)
    find_the_caller_and_see_why(me, pool)
    remove_a_lost_device(me, pool)
    reauthenticate(server.data)
    remove_everything(me, pool)
    delete_permanently(me, pool)
    generate_a_temporary_code(me, pool)
    suspend_until_tomorrow(me, pool)
    unlock(me, pool)
    end_sessions(me, pool)
    rename_and_undo(me, pool)
    remove_forty(me, pool)
    approve(other, pool)
    undo(other, pool)
    unblock(other, pool)
    me.end()
    other.end()
    for context in contexts:
        context.close()


def find_the_caller_and_see_why(me, pool):
    """S1, S2, and S8: part of the email finds the user, and the page explains the problem."""
    me.start("/")
    me.find(f"aller.{pool.api.project}")
    expect(me.page).to_have_url(re.compile(re.escape(f"/users/{pool.uids['caller']}") + "$"))
    seen = me.text()
    assert "Caller’s phone" in seen and "Last used" in seen
    assert "Not yet valid: 3 intervals early (limit 1)" in seen
    assert "clock about 90\u00a0s fast" in seen
    assert "Turn on automatic date and time" in seen


def because(me, words):
    """Confirms the identity check that the pool requires, and selects the reason."""
    return me.tick("proof").choose("reason", words)


def remove_a_lost_device(me, pool):
    """S3, first with nothing filled in: all errors are shown at once."""
    me.link("Remove Caller’s phone…")
    assert me.heading().startswith("Remove “Caller’s phone”")
    me.button("Remove factor")
    for field in ("reason", "proof", "code"):
        expect(me.page.locator(f"#{field}-error")).to_be_visible()
    me.error("reason")
    because(me, "Lost").type("ticket", "HD-4711")
    me.type("code", pool.own.at(pool.spare)).button("Remove factor")
    assert "Caller’s phone" in me.status() and "3 sessions ended" in me.status()
    assert "Recently removed" in me.text()
    assert "mfaPendingCredential" not in ok(pool.api.sign_in(pool.address("caller")))


def remove_everything(me, pool):
    """S4."""
    me.find(pool.address("robbed")).link("Remove all factors…")
    because(me, "Lost").button("Remove all factors")
    assert "Another administrator can undo it until" in me.status()
    expect(me.page.get_by_role("link", name=re.compile("^Remove .+…$"))).to_have_count(0)


def delete_permanently(me, pool):
    """The agent who removed a device can delete it permanently before the hold ends."""
    me.find(pool.address("caller"))
    assert "Only another administrator can restore it" in me.text()
    me.unfold("More").link("Delete Caller’s phone permanently…")
    because(me, "Stolen").button("Delete factor permanently")
    assert "Permanently deleted" in me.status()
    assert "Recently removed" not in me.text()


def generate_a_temporary_code(me, pool):
    """S5: shown once, and accepted by applications in place of an app's code."""
    me.find(pool.address("traveler")).link("Temporary code…")
    because(me, "Lost").button("Generate code")
    code = me.page.get_by_label("code", exact=True).inner_text()
    me.link("I’ve handed it over")
    assert code not in me.page.content() and "single use, expires" in me.text()
    ok(pool.code("traveler", code.lower()))
    refused(pool.code("traveler", code), "INVALID_CODE")


def suspend_until_tomorrow(me, pool):
    """S6: the factor is still required, and its codes are refused."""
    me.find(pool.address("forgetful")).link("Suspend Forgetful’s phone…")
    because(me, "Lost").button("Suspend factor")
    assert "Suspended factor “Forgetful’s phone” through" in me.status()
    refused(pool.code("forgetful", pool.apps["forgetful"].at(time.time() + 30)), "INVALID_CODE")


def unlock(me, pool):
    """S7."""
    me.find(pool.address("guesser"))
    assert "Codes are locked after 5 incorrect codes in a row" in me.text()
    me.link("Unlock codes…")
    because(me, "Codes rejected").button("Unlock codes")
    assert "unlocked" in me.status()
    ok(pool.code("guesser", pool.apps["guesser"].at(time.time() + 30)))


def end_sessions(me, pool):
    """S9."""
    me.find(pool.address("leaver")).unfold("More").link("End all sessions…")
    because(me, "User left").button("End all sessions")
    assert "ended" in me.status() and "0 active" in me.text()
    refused(pool.api.http.post(
        "/v1/token", params={"key": pool.api.key},
        json={"grant_type": "refresh_token",
              "refresh_token": pool.sessions["leaver"]["refreshToken"]}), "TOKEN_EXPIRED")


def rename_and_undo(me, pool):
    """The user sees the name when asked for a code."""
    def hint():
        return ok(pool.api.sign_in(pool.address("traveler")))["mfaInfo"][0]["displayName"]

    me.find(pool.address("traveler")).unfold("More")
    me.link("Rename Traveler’s phone…").type("name", "Office phone")
    because(me, "User request").button("Rename factor")
    assert "Renamed factor “Traveler’s phone” to “Office phone”." in me.status()
    assert hint() == "Office phone"
    me.link("Undo")
    assert me.page.locator("#name").input_value() == "Traveler’s phone"
    because(me, "Mistake").button("Rename factor")
    assert "to “Traveler’s phone”" in me.status() and hint() == "Traveler’s phone"


def remove_forty(me, pool):
    """S10: over the hourly action limit, the removal requires approval."""
    me.link("Users").unfold("Remove second factors in bulk")
    me.type("list", "\n".join([*pool.crowd, "nobody@example.com"])).button("Preview")
    assert me.heading() == "Remove second factors from 40 users?"
    me.tick("reason").tick("proof").button("Request approval")
    assert "pending approval" in me.status()


def approve(other, pool):
    """Approves the removal as a second administrator, from the home page."""
    other.start("/").link(to="/approvals")
    other.link(to=f"{pool.path}/approvals/")
    assert "Sam Support" in other.text()
    other.button("Approve and run")
    assert "has started" in other.status()
    other.page.get_by_text("done", exact=True).wait_for()
    assert "Removed (40)" in other.text() and "Not found (1)" in other.text()


def undo(other, pool):
    """Another administrator restores what one has removed."""
    other.start("/").find(pool.address("robbed"))
    other.link("Restore Phone r1 and Phone r2…")
    other.choose("reason", "Device found").tick("proof").button("Restore factors")
    assert "Phone r1" in other.text() and "Remove all factors…" in other.text()


def unblock(other, pool):
    """Unblocks an agent who hit the hourly action limit."""
    execute(pool.server.data, f"""
        INSERT INTO support_hold (administrator_id, scope_key, held_at)
        SELECT administrator_id, scope_key, 1 FROM administrator, scope
        WHERE email = 'sam.{pool.api.project}@example.com' AND project_id = '{pool.api.project}'
          AND tenant_id = ''""")
    other.start("/projects?attention=all").link("Unblock… for Sam Support")
    assert other.heading() == "Unblock Sam Support?"
    other.button("Unblock agent")
    assert "starts over" in other.status()
    assert "Hit the hourly action limit" not in other.text()
