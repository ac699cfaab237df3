"""Replays client requests exactly as clients send them and compares the responses.

A file in `replayed/<client>` is a conversation: steps with a request and its expected response.
`client.json` in the same folder has the headers that the client always sends. Nothing else is sent:
no header is added or reordered. `{{name}}` is replaced with a value of an earlier response, and
`{{code secret 1}}` with a code of a secret, that many time steps after that of the first code.

In a response, `"$text"`, `"$number"`, `"$digits"`, `"$time"`, `"$token"`, and `"$any"` match any
value of that kind; every other value matches itself. An object has exactly the listed members,
unless one of them is `"…"`.
"""

import http.client
import json
import re
import time
from pathlib import Path

import httpx
import pyotp

from .rest import claims
from .waiting import until

FOLDER = Path(__file__).resolve().parents[1] / "replayed"
OWNER = {"Authorization": "Bearer owner"}


def files():
    return sorted(path for path in FOLDER.glob("*/*.json") if path.name != "client.json")


def reset_project(url):
    """Resets an emulator's project: no users, no tenants, and MFA off."""
    project = f"{url}/v2/projects/demo-project"
    cleared = httpx.delete(f"{url}/emulator/v1/projects/demo-project/accounts")
    assert cleared.json() == {}
    for tenant in httpx.get(f"{project}/tenants", headers=OWNER).json().get("tenants", []):
        httpx.delete(f"{project}/tenants/{tenant['name'].rsplit('/')[-1]}", headers=OWNER)
    httpx.patch(f"{url}/emulator/v1/projects/demo-project/config", json={
        "emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}})
    changed = httpx.patch(
        f"{project}/config", headers=OWNER, params={"updateMask": "mfa,smsRegionConfig"}, json={})
    assert changed.status_code == 200, changed.text


class Conversation:
    """Requests to one server, and the values stored from its responses."""

    def __init__(self, url):
        self.host = url.split("//")[1]
        self.kept = {"host": self.host}
        # A used code stays the used one if a time step ends meanwhile.
        self.first_code_at = None

    def run(self, path):
        client = json.loads((path.parent / "client.json").read_text())
        for number, step in enumerate(json.loads(path.read_text())["steps"], 1):
            if "include" in step:
                self.run(path.parent / step["include"])
                continue
            self._run_step(step, client, f"{path.parent.name}/{path.name}, step {number}")

    def send(self, client, step):
        """Sends one request of a client, and returns the status and the response."""
        headers = json.loads((FOLDER / client / "client.json").read_text())
        status, _, answer = self._send(step, headers)
        return status, answer

    def _run_step(self, step, client, where):
        self._wait(step)
        status, fields, answer = self._send(step, client)
        assert status == step.get("status", 200), f"{where}: {status} {answer}"
        if "answer" in step:
            self._compare(answer, self._fill(step["answer"]), where)
        for name, expected in step.get("fields", {}).items():
            assert fields.get(name.lower()) == self._fill(expected), f"{where}: {name} of {fields}"
        for name, expected in step.get("claims", {}).items():
            self._compare(claims(answer[name]), self._fill(expected), f"{where}, {name}")
        for name, way in step.get("keep", {}).items():
            value = answer
            for part in way.removesuffix("/").split("."):
                value = value[int(part)] if isinstance(value, list) else value[part]
            # A trailing slash selects the last segment of a resource name.
            self.kept[name] = value.rsplit("/", 1)[1] if way.endswith("/") else value

    @staticmethod
    def _wait(step):
        if step.get("wait") == "second":
            begun = int(time.time())
            until(lambda: int(time.time()) > begun, "the next second")

    def _send(self, step, client):
        method, path = self._fill(step["request"]).split(" ", 1)
        headers = {**(client["headers"] if step.get("by") != "tester" else {}),
                   **step.get("headers", {})}
        body = None
        if "form" in step:
            body = self._fill(step["form"]).encode()
        elif "body" in step:
            body = self._write(self._fill(step["body"]), client).encode()
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self.host)
        for name, value in headers.items():
            if value is not None and not (body is None and name.lower() == "content-type"):
                connection.putheader(name, self._fill(value))
        if body is not None or method == "POST":
            connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body)
        answer = connection.getresponse()
        text, fields = answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        connection.close()
        return answer.status, fields, json.loads(text) if text else None

    @staticmethod
    def _write(body, client):
        return json.dumps(
            body, separators=(",", ":"), ensure_ascii=False, sort_keys=client.get("sorted", False))

    def _fill(self, value):
        if isinstance(value, dict):
            return {name: self._fill(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._fill(one) for one in value]
        if not isinstance(value, str):
            return value
        return re.sub(r"\{\{(.+?)\}\}", lambda found: self._value(found.group(1)), value)

    def _value(self, word):
        if word.startswith("code "):
            _, secret, steps = word.split()
            self.first_code_at = self.first_code_at or time.time()
            return pyotp.TOTP(self.kept[secret]).at(self.first_code_at + 30 * int(steps))
        return str(self.kept[word])

    def _compare(self, real, expected, where):
        kinds = {
            "$text": lambda: isinstance(real, str) and real != "",
            "$number": lambda: isinstance(real, int) and not isinstance(real, bool),
            "$digits": lambda: isinstance(real, str) and real.isdigit(),
            "$time": lambda: re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", str(real)) is not None,
            "$token": lambda: isinstance(real, str) and len(real.split(".")) == 3 and claims(real),
            "$any": lambda: True,
        }
        if isinstance(expected, str) and expected in kinds:
            assert kinds[expected](), f"{where}: {real!r} isn't {expected}"
        elif isinstance(expected, dict) and isinstance(real, dict):
            wanted = set(expected) - {"…"}
            assert wanted <= set(real), f"{where}: missing {wanted - set(real)}: {real}"
            assert "…" in expected or wanted == set(real), (
                f"{where}: unexpected: {set(real) - wanted}")
            for name in wanted:
                self._compare(real[name], expected[name], f"{where}, {name}")
        elif isinstance(expected, list) and isinstance(real, list):
            assert len(real) == len(expected), f"{where}: {real}"
            for number, (one, other) in enumerate(zip(real, expected)):
                self._compare(one, other, f"{where}, [{number}]")
        else:
            assert type(real) is type(expected) and real == expected, f"{where}: {real!r}"
