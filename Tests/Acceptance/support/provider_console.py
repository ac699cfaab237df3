"""The console as a client of a provider of OpenID Connect, over plain HTTP."""

import html
import re
import time
from itertools import count

import pyotp
from playwright.sync_api import TimeoutError

from .pages import Pages
from .program import execute, query, reauthenticate, run
from .provider_settings import CLIENT, SCOPES, STRONG

BEGIN, CALLBACK = "/sign-in/provider", "/sign-in/provider/callback"
SETTINGS = "/administrators/sign-in-provider"
CONFIRM = "/account/reauthentication/provider"
EMAIL, PASSWORD = "ada@example.com", "correct horse battery"
# The provider's name, on its form and everywhere else.
NAME = "Acme ID"
# glewlwyd's name for TOTP in `amr`.
SECOND_FACTOR = "otp"
ROLES = (("platform", "support"), ("security", "auditor"))
ALLOW = ("--outbound-allow", "127.0.0.0/8")
numbers = count(1)


def text_of(answer):
    """Returns the text of a page, without its markup."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


class Administrator(Pages):
    """A browser with the console, and with its own session at the provider."""

    def __init__(self, server, provider, name, totp=False):
        super().__init__(server.url)
        self.provider, self.name = provider, name
        self.person = provider.session(name, totp=totp)

    def leave(self, path=BEGIN):
        """Returns the address at the provider to which the console sends the browser."""
        answer = self.get(path)
        assert answer.status_code in (302, 303), f"{answer.status_code} {text_of(answer)[:600]}"
        address = answer.headers["location"]
        assert address.startswith(f"{self.provider.issuer}/auth?"), address
        return address

    def visit(self, path=BEGIN):
        """Goes to the provider; returns the address with which it sends the browser back."""
        return self.provider.authorize(self.person, self.leave(path))

    def enter(self, path=BEGIN):
        """Goes to the provider and back; returns the console's answer."""
        return self.get(self.visit(path))

    def leave_by_form(self, path, **form):
        """Submits a form that leads to the provider; returns the address there."""
        answer = self.post(path, form)
        # Browsers follow no redirect from a form to another site.
        assert answer.status_code == 200, f"{answer.status_code} {text_of(answer)[:600]}"
        address = answer.headers["refresh"].removeprefix("0; url=")
        assert address.startswith(f"{self.provider.issuer}/auth?"), address
        return address

    @property
    def is_signed_in(self):
        """Whether there's a session, even one that has to set up a second factor first."""
        return not self.get("/account").headers.get("location", "").startswith("/sign-in")

    def enroll(self):
        """Sets up an authenticator, and returns a code of it that isn't used."""
        page = self.get("/account/totp").text
        app = pyotp.TOTP(re.search(r"secret=([A-Z2-7]{32})", page)[1])
        done = self.post("/account/totp", {
            "ticket": re.search(r'name="ticket" value="([^"]+)"', page)[1], "code": app.now()})
        assert "Your second factor is on." in done.text
        return app.at(time.time() + 30)


def assert_signed_in(answer, path="/"):
    assert answer.status_code == 303, f"{answer.status_code} {text_of(answer)[:600]}"
    assert answer.headers["location"] == path, answer.headers["location"]


def assert_code_due(answer):
    assert answer.status_code == 303, f"{answer.status_code} {text_of(answer)[:600]}"
    assert answer.headers["location"].startswith("/sign-in/code"), answer.headers["location"]


def assert_refused(administrator, answer, *parts):
    """Checks that a page says why nobody is signed in."""
    text = text_of(answer)
    assert answer.status_code in (403, 422, 503), f"{answer.status_code} {text[:600]}"
    for part in parts:
        assert part in text, f"{part!r} isn't in {text[:1500]}"
    assert not administrator.is_signed_in


def at_glewlwyd(page, name, password):
    """Enters a password on glewlwyd's own page, and continues.

    Its script draws the form again when it has loaded what it needs, without what was entered.
    """
    proceed = page.get_by_role("button", name="Continue")
    page.wait_for_load_state("networkidle")
    for _ in range(3):
        page.locator("#username").fill(name)
        page.locator("#password").fill(password)
        page.get_by_role("button", name="OK").click()
        try:
            proceed.wait_for(timeout=5_000)
            break
        except TimeoutError:
            continue
    proceed.click()


class Site:
    """A server, its provider, and the owner, who signs in with a password."""

    def __init__(self, server, provider, owner=None):
        self.server, self.provider = server, provider
        provider.register(server.url)
        self.owner = owner or Pages(server.url).set_up(server.setup_code)

    def set_provider(self, roles=ROLES, owner=None, **more):
        """Fills in the form of the provider; roles are (group, role) or (group, role, place)."""
        reauthenticate(self.server.data)
        lines = [f"{group}: {role} {place[0] if place else '*'}" for group, role, *place in roles]
        form = {
            "name": NAME, "issuer": self.provider.issuer, "client-id": CLIENT,
            "client-secret": self.provider.secret, "scopes": " ".join([*SCOPES, STRONG]),
            "groups-claim": "groups", "mfa-values": SECOND_FACTOR, "roles": "\n".join(lines),
            "note": "for the tests", **more}
        return (owner or self.owner).post(SETTINGS, form, follow_redirects=True)

    def configure(self, roles=ROLES, **more):
        answer = self.set_provider(roles, **more)
        assert answer.status_code == 200, text_of(answer)

    def add_person(self, *groups, email=None, totp=False):
        """Adds a person to the provider, and returns their name there."""
        name = f"person{next(numbers)}"
        self.provider.add_user(
            name, f"bright-swordfish {name}", email or f"{name}@example.com", groups, totp)
        return name

    def browser(self, name, totp=False):
        return Administrator(self.server, self.provider, name, totp)

    def member(self, *groups, totp=False):
        """A new person who has signed in to the console."""
        person = self.browser(self.add_person(*(groups or ("platform",)), totp=totp), totp)
        assert_signed_in(person.enter())
        return person

    def query(self, statement, *values):
        return query(self.server.data, statement, *values)

    def change(self, statement, *values):
        execute(self.server.data, statement, *values)

    def roles_of(self, name):
        return sorted(role for role, in self.query(
            "SELECT role FROM administrator_grant JOIN administrator USING (administrator_id) "
            "WHERE email = ?", name if "@" in name else f"{name}@example.com"))

    def grant(self, name, role):
        """Gives a role by hand."""
        (id,), = self.query("SELECT administrator_id FROM administrator WHERE email = ?",
                            f"{name}@example.com")
        reauthenticate(self.server.data)
        answer = self.owner.post(f"/administrators/{id}/grants", {
            "role": role, "place": "*", "note": "by hand"}, page=f"/administrators/{id}")
        assert answer.status_code == 303, text_of(answer)

    def create(self, email, role):
        """Creates an administrator with a password."""
        made = run("admin", "create", "--data", self.server.data, "--email", email, "--role", role,
                   input=f"{PASSWORD}\n")
        assert made.returncode == 0, made.stderr

    def count(self, action):
        """The number of entries of an action in the audit log."""
        return self.query("SELECT count(*) FROM audit WHERE action = ?", action)[0][0]

    @property
    def listed(self):
        """The administrators and their roles, as the command line prints them."""
        return run("admin", "list", "--data", self.server.data).stdout

    @property
    def log(self):
        """The text of the audit log."""
        return text_of(self.owner.get("/audit"))
