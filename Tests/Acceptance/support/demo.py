"""A server with the demo, and the people who sign in to it."""

import contextlib
import fcntl
import html
import json
import re
import shutil
import time
from dataclasses import dataclass

import pyotp

from .pages import Pages
from .program import DATABASES, Server, temporary_folder
from .rest import Api, ok
from .waiting import until


@dataclass(frozen=True)
class Person:
    """A person whom the demo prints a line about."""

    email: str
    password: str
    secret: str | None
    name: str
    role: str

    @property
    def totp(self):
        return pyotp.TOTP(self.secret) if self.secret else None

    def next_code(self, now=time.time):
        """Returns a code that hasn't been used by the server's clock. Codes of the adjacent
        intervals are valid too, each once."""
        return self.totp.at(codes.setdefault((self.email, now), CodeTimes(now)).take())


class CodeTimes:
    """Times whose codes haven't been sent to a server that accepts one adjacent interval."""

    def __init__(self, now):
        self.last, self.now = 0, now

    def take(self):
        """Returns the next such time; after a few, waits until a new interval begins."""
        # Near the end of an interval, the previous one's code may be too old when it arrives.
        step = max(self.last + 1, int(self.now() - 15) // 30)
        until(lambda: self.step() + 1 >= step, "a new interval begins", 40)
        self.last = step
        return step * 30

    def step(self):
        """Returns the current interval by the server's clock."""
        return int(self.now()) // 30


codes = {}

LINE = re.compile(
    r"^  (?P<email>\S+)  password (?P<password>\S+)"
    r"(?:  TOTP secret (?P<secret>[A-Z2-7]+)(?:  current code \d{6})?)?  \((?P<name>.*), (?P<role>.*)\)$")


class Demo:
    """A server with the demo on a free port; `now` is its clock if `env` gives it another.

    Without flags or an environment it's a copy: creating the demo takes seconds, on PostgreSQL a
    minute.
    """

    def __init__(self, data, *flags, now=time.time, env=None):
        self.now = now
        if flags or env:
            self.server, lines = created(data, *flags, env=env)
        else:
            lines = SAVED.copy(data)
            self.server = Server(data, "--access-log", "none")
        self.url = self.server.url
        people = [Person(**found.groupdict()) for line in lines if (found := LINE.match(line))]
        self.administrators, self.user = people[:-1], people[-1]
        self._browsers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()

    def person(self, role, of="(instance)"):
        """Returns the first person with a role."""
        return next(one for one in self.administrators
                    if one.role.startswith(role) and of in one.role)

    @property
    def owner(self):
        return self.person("owner")

    def sign_in_user(self):
        """Enters the password of the user who can sign in; returns a function that
        enters a code."""
        tenant = next(link for link in self.tenants("harbour-bank") if "/retail-" in link)
        key = self.browse(self.owner).api_key("harbour-bank")
        api = Api(self.url, "harbour-bank", key, tenant=tenant.rsplit("/", 1)[1])
        first = ok(api.sign_in(self.user.email, self.user.password))
        return lambda code: api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})

    def browse(self, person):
        """Signs a person in over plain HTTP, once."""
        if person not in self._browsers:
            self._browsers[person] = sign_in(Pages(self.url), person, self.now)
        return self._browsers[person]

    def context(self, chromium, person, **settings):
        """Returns a browser context in which a person is signed in."""
        context = chromium.new_context(base_url=self.url, **settings)
        context.set_default_timeout(10_000)
        context.add_cookies([
            {"name": cookie.name, "value": cookie.value, "url": self.url}
            for cookie in self.browse(person).http.cookies.jar])
        return context

    def copy_cookies(self, context, person):
        """Copies the cookies of a browser: entering a code gives a session a new token."""
        jar = self.browse(person).http.cookies
        jar.clear()
        for cookie in context.cookies(self.url):
            jar.set(cookie["name"], cookie["value"])

    def tenants(self, project):
        """Returns the URLs of a project's tenants."""
        text = self.browse(self.owner).get(f"/projects/{project}/tenants").text
        found = re.findall(rf'href="(/projects/{project}/tenants/[^/"?]+)"', text)
        return sorted({html.unescape(link) for link in found} - {
            f"/projects/{project}/tenants/new"})


def created(data, *flags, env=None):
    """Runs `countersign serve --demo`; returns the server and what it printed."""
    server = Server(data, "--demo", "--access-log", "none", *flags, env=env)
    server.wait_for_line(r"^A user who can (sign in)")
    server.wait_for_line(r"user of (\S+)")
    return server, list(server.output)


class SavedDemo:
    """A demo that nobody serves, which the first process creates and all processes that have the
    folder copy."""

    def __init__(self):
        self.folder = None

    def copy(self, data):
        """Copies it into an empty folder; returns what its creation printed."""
        folder = self._folder()
        shutil.copytree(folder / "data", data, dirs_exist_ok=True)
        if DATABASES.has_all:
            DATABASES.restore(data, folder / "dump")
        return (folder / "output").read_text().splitlines()

    def seconds(self):
        """Returns how long its creation took."""
        return float((self._folder() / "seconds").read_text())

    def kept(self, name, find):
        """Returns what is the same for all copies, and `find` returned in the first process that asked."""
        file = self._folder() / f"{name}.json"
        with self._locked(name):
            if not file.exists():
                file.write_text(json.dumps(find()))
        return json.loads(file.read_text())

    @contextlib.contextmanager
    def _locked(self, name="demo"):
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _folder(self):
        if self.folder is None:
            self.folder = temporary_folder("demo-")
        self.folder.mkdir(exist_ok=True)
        with self._locked():
            if not (self.folder / "output").exists():
                self._create()
        return self.folder

    def _create(self):
        data = self.folder / "data"
        # The server creates it, but accepts an empty folder.
        data.mkdir(exist_ok=True)
        began = time.monotonic()
        server, lines = created(data)
        (self.folder / "seconds").write_text(f"{time.monotonic() - began:.1f}")
        assert server.stop() == 0
        if DATABASES.has_all:
            DATABASES.dump(data, self.folder / "dump")
        (self.folder / "output").write_text("\n".join(lines))


SAVED = SavedDemo()


def sign_in(pages, person, now=time.time):
    """Signs in with a password, and with a code if one is required."""
    answer = pages.sign_in(person.email, person.password)
    assert answer.status_code == 303, answer.text
    if answer.headers["location"].startswith("/sign-in/code"):
        answer = pages.post("/sign-in/code", {"code": person.next_code(now)})
        assert answer.status_code == 303, answer.text
    return pages
