"""Administrators of the console who sign in with a provider, over plain HTTP and in Chromium."""

import html
import re
import time

import pyotp

from .pages import Pages
from .program import Server, reauthenticate
from .provider_settings import CLIENT, SCOPES, STRONG

BEGIN, CALLBACK = "/sign-in/provider", "/sign-in/provider/callback"
LOGOUT = "/sign-in/provider/logout"
SETTINGS = "/sign-in-provider"
# glewlwyd's name for TOTP in `amr`.
SECOND_FACTOR = "otp"


def text_of(answer):
    """Returns the text of a page, without its markup."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.text)))


class Administrator(Pages):
    """A browser with the console, and with a session at the provider."""

    def __init__(self, server, provider=None, name=None, totp=False):
        super().__init__(server.url)
        self.provider = provider
        self.person = provider.session(name, totp=totp) if provider else None

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

    @property
    def is_signed_in(self):
        return self.get("/account").status_code == 200

    def enroll(self):
        """Sets up an authenticator, and returns it and a code that isn't used."""
        page = self.get("/account/totp").text
        app = pyotp.TOTP(re.search(r"secret=([A-Z2-7]{32})", page)[1])
        done = self.post("/account/totp", {
            "ticket": re.search(r'name="ticket" value="([^"]+)"', page)[1], "code": app.now()})
        assert "Your second factor is on." in done.text
        return app, app.at(time.time() + 30)


def assert_signed_in(answer, path="/"):
    assert answer.status_code == 303, f"{answer.status_code} {text_of(answer)[:600]}"
    assert answer.headers["location"] == path, answer.headers["location"]


def assert_refused(administrator, answer, *parts):
    """Checks that a page says why nobody is signed in."""
    text = text_of(answer)
    assert 400 <= answer.status_code < 500, f"{answer.status_code} {text[:600]}"
    for part in parts:
        assert part in text, f"{part!r} isn't in {text[:1500]}"
    assert not administrator.is_signed_in


def set_provider(owner, provider, roles, **more):
    """Fills in the form of the provider as an owner; roles are (group, role) or (group, role, project)."""
    reauthenticate(Server.folders[owner.url])
    form = {
        "name": "Acme ID", "issuer": provider.issuer, "client-id": CLIENT,
        "client-secret": provider.secret, "scopes": " ".join([*SCOPES, STRONG]),
        "groups-claim": "groups", "mfa-values": SECOND_FACTOR, "note": "for the tests", **more}
    for number, (group, role, *project) in enumerate(roles, 1):
        form |= {f"group-{number}": group, f"role-{number}": role,
                 f"place-{number}": project[0] if project else ""}
    return owner.post(SETTINGS, form, follow_redirects=True)
