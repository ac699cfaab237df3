"""The clients of a soak test. Each remembers what the server acknowledged."""

import re
import socket
import ssl
import threading
import time

import httpx
import pyotp

from .pages import Pages

# The server is out of space or busy, or its clock isn't trusted; nothing happened.
REFUSED = (503, 507)


class Client(threading.Thread):
    """Does the same thing again and again, also after the server was killed."""

    pause = 0.05

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak = soak
        self.failures = self.refusals = 0
        self._stop_now = threading.Event()

    def run(self):
        while not self._stop_now.wait(self.pause):
            try:
                self.step()
            except (OSError, httpx.HTTPError):
                # The server was killed, or is starting.
                self.failures += 1
                self._stop_now.wait(0.2)
            except Exception as error:
                self.soak.find(f"{type(self).__name__}: {error!r}"[:500])
                self._stop_now.wait(1)

    def stop(self):
        self._stop_now.set()
        if self.is_alive() and self is not threading.current_thread():
            self.join(60)

    def is_refused(self, answer):
        """Whether the server refused a write as it should while it's in trouble."""
        if answer.status_code not in REFUSED:
            return False
        self.refusals += 1
        return True

    def unexpected(self, what, answer):
        if not self.soak.is_troubled:
            self.soak.find(f"{what}: {answer.status_code} {answer.text[:200]}")


class Writer(Client):
    """Creates users with the REST API."""

    def __init__(self, soak, name):
        super().__init__(soak)
        self.name_, self.number, self.acknowledged = name, 0, []

    def step(self):
        self.number += 1
        uid = f"{self.name_}-{self.number}"
        answer = self.soak.api.admin("POST", "accounts", {"localId": uid, "displayName": "x" * 100})
        if answer.status_code == 200:
            self.acknowledged.append(uid)
        elif not self.is_refused(answer):
            self.unexpected("a user wasn't created", answer)


class CodeUser:
    """A user with an authenticator app, and the last interval whose code was used."""

    def __init__(self, soak, number):
        self.email = f"signs-in-{number}@example.com"
        password = f"Soak-{number}-password"
        self.password = password
        _, id_token = soak.api.user(self.email, password)
        self.totp, session = soak.api.enroll(id_token)
        soak.secrets[f"password of {number}"] = password
        soak.secrets[f"TOTP secret of {number}"] = self.totp.secret
        soak.secrets[f"refresh token of {number}"] = session["refreshToken"]
        # The newest interval whose code was entered, for each clock of the server.
        self.last = {0: int(time.time()) // 30}


class Signing(Client):
    """Signs users in with codes, each sent twice at the same time."""

    pause = 0.3

    def __init__(self, soak, users):
        super().__init__(soak)
        self.users, self.turn = users, 0
        # The acknowledged sign-ins by user and interval.
        self.accepted = {}
        self.lock = threading.Lock()

    def step(self):
        self.turn += 1
        user = self.users[self.turn % len(self.users)]
        ahead, now = self.soak.ahead, int(self.soak.now()) // 30
        # The window accepts ten intervals before and after the current one.
        last = max(user.last.get(ahead, 0), now - 9)
        if last >= now + 9:
            return
        user.last[ahead] = last + 1
        self.race(user, last + 1)

    def race(self, user, interval):
        pending = [self.first_factor(user) for _ in range(2)]
        pending = [answer for answer in pending if answer]
        racers = [threading.Thread(target=self.finish, args=(user, interval, answer))
                  for answer in pending]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()

    def first_factor(self, user):
        answer = self.soak.api.sign_in(user.email, user.password)
        if answer.status_code == 200:
            return answer.json()
        if not self.is_refused(answer):
            self.unexpected("a password wasn't accepted", answer)
        return None

    def finish(self, user, interval, first):
        try:
            answer = self.soak.api.factor("mfaSignIn:finalize", {
                "mfaPendingCredential": first["mfaPendingCredential"],
                "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
                "totpVerificationInfo": {
                    "verificationCode": pyotp.TOTP(user.totp.secret).at(interval * 30)}})
        except (OSError, httpx.HTTPError):
            self.failures += 1
            return
        if answer.status_code != 200:
            return
        with self.lock:
            key = (user.email, interval)
            self.accepted[key] = self.accepted.get(key, 0) + 1
            if self.accepted[key] > 1:
                self.soak.find(f"the code of {user.email} for interval {interval} was accepted twice")
        self.soak.secrets["an ID token"] = answer.json()["idToken"]

    def replay(self):
        """Sends the newest accepted code of each user that the clock permits again."""
        now = int(self.soak.now()) // 30
        with self.lock:
            newest = {email: interval for email, interval in sorted(self.accepted)
                      if abs(interval - now) < 10}
        for user in self.users:
            interval = newest.get(user.email)
            if interval and (first := self.first_factor(user)):
                self.finish(user, interval, first)


class Console(Client):
    """Creates projects and reads pages in the console."""

    pause = 0.5

    def __init__(self, soak):
        super().__init__(soak)
        self.acknowledged, self.number, self.pages = [], 0, None
        self.project = soak.api.project

    def step(self):
        if self.pages is None and not self.sign_in():
            return
        self.number += 1
        for path in ("/projects", f"/projects/{self.project}/users", f"/projects/{self.project}/audit"):
            page = self.pages.get(path)
            if page.status_code == 303:
                self.pages = None
                return
            if page.status_code != 200:
                self.unexpected(f"{path} wasn't shown", page)
        if self.number % 4:
            return
        path = "/projects/new"
        found = re.search(r'name="csrf" value="([^"]+)"', self.pages.get(path).text)
        if not found:
            self.pages = None
            return
        answer = self.pages.http.post(
            path, data={"csrf": found.group(1), "id": f"soak-{self.number}", "name": "Soak"},
            headers={"Origin": self.pages.origin})
        if answer.status_code == 303 and "/projects/" in answer.headers["location"]:
            self.acknowledged.append(answer.headers["location"])
        elif answer.status_code == 303:
            self.pages = None
        elif not self.is_refused(answer):
            self.unexpected("a project wasn't created", answer)

    def sign_in(self):
        pages = Pages(self.soak.url, verify=False)
        page = pages.get("/sign-in")
        found = re.search(r'name="csrf" value="([^"]+)"', page.text)
        if not found:
            return False
        answer = pages.http.post(
            "/sign-in", headers={"Origin": pages.origin}, data={
                "csrf": found.group(1), "email": "ada@example.com",
                "password": "correct horse battery"})
        if answer.status_code != 303:
            if not self.is_refused(answer):
                self.unexpected("the owner couldn't sign in", answer)
            return False
        self.pages = pages
        for cookie in pages.http.cookies.jar:
            if "session" in cookie.name:
                self.soak.secrets["console session"] = cookie.value
        return True

    def check(self, newest=None):
        """Looks for acknowledged projects: the newest ones, which a kill could lose, or all."""
        for path in self.acknowledged[-newest:] if newest else list(self.acknowledged):
            page = None
            # A session can end, because the clock jumped, for example.
            for _ in range(3):
                pages = self.signed_in()
                if pages is None:
                    self.soak.find("the owner couldn't sign in for a minute")
                    return
                page = pages.get(path)
                if page.status_code != 303:
                    break
                self.pages = None
            if page.status_code == 404:
                self.soak.find(f"an acknowledged project is lost: {path}")
            elif page.status_code != 200:
                self.unexpected(f"{path} wasn't shown", page)

    def signed_in(self):
        """Returns the pages of a session; nothing if there's none within a minute."""
        end = time.monotonic() + 60
        while (pages := self.pages) is None and time.monotonic() < end:
            time.sleep(0.1)
            if not self.is_alive():
                self.sign_in()
        return pages


class SlowClient(Client):
    """Sends a request a few bytes at a time, or reads the response as slowly."""

    pause = 0.2

    def __init__(self, soak, number):
        super().__init__(soak)
        self.reads_slowly = number % 2 == 0

    def step(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.soak.port), 10) as plain:
            with context.wrap_socket(plain) as connection:
                request = b"GET /static/countersign.css HTTP/1.1\r\nHost: soak\r\nX-Slow: "
                if self.reads_slowly:
                    connection.sendall(request + b"no\r\n\r\n")
                    while not self._stop_now.wait(0.5) and connection.recv(512):
                        pass
                else:
                    for byte in request + b"y" * 200:
                        if self._stop_now.wait(0.2):
                            return
                        connection.sendall(bytes([byte]))
