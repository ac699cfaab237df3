"""Requests to nodes behind nginx all the time, while something fails, and what they were answered."""

import contextlib
import itertools
import threading
import time
from collections import Counter

import httpx

from .program import run
from .rest import ok
from .waiting import until

# How long nginx may pass over a node that's back, in seconds.
MARGIN = 2.5


class Load:
    """Threads that create users, use codes, and read, and note every answer."""

    _numbers = itertools.count(1)

    def __init__(self, nodes, url=None, users=(), writers=4, readers=2):
        self._name = f"load-{next(Load._numbers)}"
        self._nodes, self._api, self._url = nodes, nodes.api, url or nodes.url
        # The IDs of created users, and how often each code was accepted.
        self.acknowledged, self.sent, self.accepted = [], [], Counter()
        # The time, kind, status, and duration of every answer; status 0 without one.
        self.answers = []
        self._users = list(users)
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(writers)]
        self._threads += [threading.Thread(target=self._read) for _ in range(readers)]
        if users:
            self._threads += [threading.Thread(target=self._use_codes) for _ in range(2)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _send(self, http, kind, method, path, **more):
        began = time.monotonic()
        try:
            status = http.request(method, path, **more).status_code
        except httpx.TransportError:
            status = 0
        now = time.monotonic()
        self.answers.append((now, kind, status, now - began))
        if status == 0 or status >= 500:
            time.sleep(0.05)
        return status

    def _write(self, name):
        path = f"/v1/projects/{self._api.project}/accounts"
        headers = {"Authorization": f"Bearer {self._api.token}"}
        number = 0
        with httpx.Client(base_url=self._url, timeout=90, headers=headers) as http:
            while not self._stopped.is_set():
                number += 1
                id = f"{self._name}-{name}-{number}"
                if self._send(http, "write", "POST", path, json={"localId": id}) == 200:
                    self.acknowledged.append(id)

    def _read(self):
        with httpx.Client(
                base_url=self._url, timeout=90, cookies=self._nodes.owner.http.cookies) as http:
            while not self._stopped.is_set():
                self._send(http, "read", "GET", "/account")
                time.sleep(0.02)

    def _use_codes(self):
        with httpx.Client(base_url=self._nodes.url, timeout=90) as http:
            while not self._stopped.is_set() and self._users:
                email, app = self._users.pop()
                code = app.now()
                # Whether an answer was lost or not, the code is sent again.
                for _ in range(3):
                    self._use(http, email, code)

    def _use(self, http, email, code, gives_up=True):
        """Signs in with a link and a code, whose answer may be lost."""
        first = None
        while first is None:
            if gives_up and self._stopped.is_set():
                return
            # The link's answer may be lost as well.
            with contextlib.suppress(AssertionError, httpx.TransportError):
                first = self._nodes.first_factor(email)
        status = self._send(http, "code", "POST", "/v2/accounts/mfaSignIn:finalize", params={
            "key": self._api.key}, json={
                "mfaPendingCredential": first["mfaPendingCredential"],
                "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
                "totpVerificationInfo": {"verificationCode": code}})
        self.sent.append((email, code))
        self.accepted[email, code] += status == 200

    def failures(self, kind=None):
        """The times at which an answer was missing or an error of the server."""
        return [at for at, one, status, _ in self.answers
                if (status == 0 or status >= 500) and kind in (None, one)]

    def statuses(self):
        return Counter((kind, status) for _, kind, status, _ in self.answers)

    def wait(self, more, seconds=60):
        """Waits until more users are created."""
        before = len(self.acknowledged)
        until(lambda: len(self.acknowledged) >= before + more, f"{more} more writes", seconds)

    def use_again(self, http):
        """Uses once more the codes that were sent."""
        for email, code in dict.fromkeys(self.sent):
            self._use(http, email, code, gives_up=False)

    def missing(self, api):
        """Returns which acknowledged users aren't there."""
        there = set()
        for start in range(0, len(self.acknowledged), 100):
            found = ok(api.admin("POST", "accounts:lookup", {
                "localId": self.acknowledged[start:start + 100]}))
            there |= {user["localId"] for user in found.get("users", [])}
        return set(self.acknowledged) - there


def outside(times, intervals):
    """Returns the times that are in none of the intervals, nor right after one."""
    return [at for at in times
            if not any(start <= at <= end + MARGIN for start, end in intervals)]


def check(nodes, load, least=200):
    """Checks that what was acknowledged is stored, and that no code was accepted twice."""
    assert len(load.acknowledged) > least and len(load.accepted) > 20, load.statuses()
    with httpx.Client(base_url=nodes.url, timeout=60) as http:
        load.use_again(http)
    assert not load.missing(nodes.api)
    assert max(load.accepted.values()) == 1, load.accepted.most_common(3)
    assert sum(load.accepted.values()) > 10
    verified = run("audit", "verify", "--data", nodes.data)
    assert verified.returncode == 0, verified.stdout + verified.stderr
