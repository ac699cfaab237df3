"""A server with the demo in it, and the people who sign in to it."""

import html
import re
import time
from dataclasses import dataclass

import pyotp

from .pages import Pages
from .program import Server
from .waiting import until


@dataclass(frozen=True)
class Person:
    """Somebody whom the demo prints a line about."""

    email: str
    password: str
    secret: str | None
    name: str
    role: str

    @property
    def totp(self):
        return pyotp.TOTP(self.secret) if self.secret else None

    def next_code(self, now=time.time):
        """A code that was not used yet by the server's clock: the neighboring steps count too, each
        once."""
        return self.totp.at(codes.setdefault((self.email, now), CodeTimes(now)).take())


class CodeTimes:
    """Moments whose codes a server that accepts one step on each side has not seen yet."""

    def __init__(self, now):
        self.last, self.now = 0, now

    def take(self):
        """The next such moment; after a few it waits until a new step begins."""
        step = max(self.last + 1, self.step() - 1)
        until(lambda: self.step() + 1 >= step, "a new step begins", 40)
        self.last = step
        return step * 30

    def step(self):
        """The server's present step."""
        return int(self.now()) // 30


codes = {}

LINE = re.compile(
    r"^  (?P<email>\S+)  password (?P<password>\S+)"
    r"(?:  TOTP secret (?P<secret>[A-Z2-7]+)(?:  current code \d{6})?)?  \((?P<name>.*), (?P<role>.*)\)$")


class Demo:
    """`countersign serve --demo` on a free port; `now` is its clock if `env` gives it another."""

    def __init__(self, data, *flags, now=time.time, env=None):
        began = time.monotonic()
        self.now = now
        self.server = Server(data, "--demo", "--access-log", "none", *flags, env=env)
        self.url = self.server.url
        self.server.said(r"^A user that applications can (sign in)")
        self.server.said(r"user of (\S+)")
        self.ready_after = time.monotonic() - began
        people = [Person(**found.groupdict())
                  for line in list(self.server.output) if (found := LINE.match(line))]
        self.administrators, self.user = people[:-1], people[-1]
        self._browsers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()

    def person(self, role, of=" of the instance"):
        """The first of a role."""
        return next(one for one in self.administrators
                    if one.role.startswith(role) and of in one.role)

    @property
    def owner(self):
        return self.person("owner")

    def browse(self, person):
        """Signs somebody in over plain HTTP, once."""
        if person not in self._browsers:
            self._browsers[person] = sign_in(Pages(self.url), person, self.now)
        return self._browsers[person]

    def context(self, chromium, person, **settings):
        """A browser in which somebody is signed in."""
        context = chromium.new_context(base_url=self.url, **settings)
        context.set_default_timeout(10_000)
        context.add_cookies([
            {"name": cookie.name, "value": cookie.value, "url": self.url}
            for cookie in self.browse(person).http.cookies.jar])
        return context

    def keep(self, context, person):
        """Takes over the cookies of a browser: acting with a code gives a session a new name."""
        jar = self.browse(person).http.cookies
        jar.clear()
        for cookie in context.cookies(self.url):
            jar.set(cookie["name"], cookie["value"])

    def tenants(self, project):
        """The addresses of a project's tenants."""
        text = self.browse(self.owner).get(f"/projects/{project}/tenants").text
        found = re.findall(rf'href="(/projects/{project}/tenants/[^/"?]+)"', text)
        return sorted({html.unescape(link) for link in found} - {
            f"/projects/{project}/tenants/new"})


def sign_in(pages, person, now=time.time):
    """Signs in with a password, and with a code where one is due."""
    answer = pages.sign_in(person.email, person.password)
    assert answer.status_code == 303, answer.text
    if answer.headers["location"].startswith("/sign-in/code"):
        answer = pages.post("/sign-in/code", {"code": person.next_code(now)})
        assert answer.status_code == 303, answer.text
    return pages
