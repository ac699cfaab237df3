"""Replays recorded production requests and compares the responses.

A file in `production/<area>` is a section: steps in the order in which they were recorded. Each
step has a name. A step with `production` is an exchange: production's status and error message, and
facts about the body. The other steps are setup and must succeed.

`request` is the method and the path. Paths with `projects/` are called with a token, others with an
API key. `{{name}}` is replaced with a value of an earlier response: `{{start.sessionInfo}}`, or
`{{create.name/}}` for the last segment of a resource name. `{{code start 4}}` is the code of the
secret in the response of the step `start`, four time steps from now. `{{project}}` is the project.
`{{custom.valid}}` is a custom token signed with a registered key, and other names are those of invalid ones.

In a request, `{"$repeat": "a", "times": 4096}` is a long string, also with others `before` and
`then`, and `"wait": "second"` waits for the next second. `auth` is `key` or `none` where the path
implies something else.

`body` is the complete body of a response, without additional members; the placeholders of
`replay.py` match values. `facts` maps paths in the body to a value or to a placeholder of
`replay.py`; `"$absent"` and `"$present"` check only whether a member exists.

`allowed.json` next to the sections lists the exchanges in which Countersign differs, each with the
reason and Countersign's response. `docs/reference/production.md` repeats the reasons.
"""

import base64
import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from .replay import Conversation

FOLDER = Path(__file__).resolve().parents[1] / "production"
DOCUMENT = Path(__file__).resolve().parents[3] / "docs/reference/production.md"
PROFILES = {"mfa": "emulator", "tenant": "standalone", "account": "emulator", "config": "emulator",
            "action": "emulator", "credential": "emulator", "federation": "emulator",
            "signed": "standalone"}


def sections():
    return sorted(path for path in FOLDER.glob("*/*.json") if path.name != "allowed.json")


def name_of(path):
    """Returns the name of a section's file, such as `mfa/totp-enroll`."""
    return str(path.relative_to(FOLDER).with_suffix(""))


def allowed():
    """Returns the intended differences: groups with a reason and our response per exchange."""
    return [group for area in sorted(FOLDER.glob("*/allowed.json"))
            for group in json.loads(area.read_text())]


def exchanges():
    """Returns the names of all exchanges, such as `mfa/totp-enroll finalize-again`."""
    return [f"{name_of(path)} {step['name']}" for path in sections()
            for step in json.loads(path.read_text())["steps"] if "production" in step]


class Recording(Conversation):
    """Replays a section against a server and compares the responses with production's."""

    def __init__(self, url, project, key, token, differing):
        super().__init__(url)
        self.kept["project"] = project
        self.key, self.token, self.differing = key, token, differing

    def run(self, path):
        """Replays a section and returns the faults, one line each."""
        faults = []
        for step in json.loads(path.read_text())["steps"]:
            name = f"{name_of(path)} {step['name']}"
            self._wait(step)
            status, answer = self._call(step)
            self.kept[step["name"]] = answer
            if "production" not in step:
                expected = {"status": step.get("status", 200), "message": step.get("message")}
                found = self._differences(status, answer, expected)
            elif name in self.differing:
                found = self._differences(status, answer, self.differing[name])
                if not self._differences(status, answer, step["production"]):
                    found.append("equals production, but is listed as different")
            else:
                found = self._differences(status, answer, step["production"])
            faults += [f"{name}: {fault}" for fault in found]
            if found and "production" not in step:
                return faults
        return faults

    def _call(self, step):
        request = self._fill(step["request"])
        method, path = request.split(" ", 1)
        headers = {"Content-Type": "application/json"}
        auth = step.get("auth", "token" if "projects/" in path else "key")
        if auth == "token":
            headers["Authorization"] = f"Bearer {self.token}"
        elif auth == "key":
            path += ("&" if "?" in path else "?") + f"key={self.key}"
        if "form" in step:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        status, _, answer = self._send(
            {**step, "request": f"{method} /{path}", "headers": headers}, {"headers": {}})
        return status, answer

    def _differences(self, status, answer, expected):
        error = answer.get("error") if isinstance(answer, dict) else None
        message = error.get("message") if isinstance(error, dict) else None
        found = []
        if (status, message) != (expected["status"], self._fill(expected.get("message"))):
            found.append(f"{status} {message or json.dumps(answer)[:200]}, expected "
                         f"{expected['status']} {expected.get('message') or ''}")
        if "body" in expected:
            try:
                self._compare(answer, self._fill(expected["body"]), "body")
            except AssertionError as error:
                found.append(str(error).splitlines()[0])
        for place, value in expected.get("facts", {}).items():
            found += self._mismatches(answer, place, self._fill(value))
        return found

    def _mismatches(self, answer, place, value):
        try:
            real = find(answer, place)
        except (KeyError, IndexError, TypeError):
            return [] if value == "$absent" else [f"{place} is missing"]
        if value == "$present":
            return []
        if value == "$absent":
            return [f"{place} is present: {json.dumps(real)[:200]}"]
        try:
            self._compare(real, value, place)
        except AssertionError as error:
            return [str(error).splitlines()[0]]
        return []

    def _fill(self, value):
        if isinstance(value, dict) and "$repeat" in value:
            long = value["$repeat"] * value["times"]
            return value.get("before", "") + long + value.get("then", "")
        return super()._fill(value)

    def _value(self, word):
        if word.startswith("code "):
            _, start, steps = word.split()
            self.kept["secret"] = find(self.kept[start], "totpSessionInfo.sharedSecretKey")
            return super()._value(f"code secret {steps}")
        step, _, place = word.partition(".")
        if not place:
            return super()._value(word)
        value = str(find(self.kept[step], place.removesuffix("/")))
        return value.rsplit("/", 1)[1] if place.endswith("/") else value


class TenantRecording(Recording):
    """Replays a section on a project's accounts against a tenant: the paths, request bodies, and
    users in responses carry the tenant ID; everything else must be the same."""

    def __init__(self, url, project, key, token, differing, tenant):
        super().__init__(url, project, key, token, differing)
        self.tenant = tenant

    def _call(self, step):
        place = f"projects/{{{{project}}}}/tenants/{self.tenant}"
        request = (step["request"]
                   .replace("admin/v2/projects/{{project}}/config", f"v2/{place}")
                   .replace("projects/{{project}}/accounts", f"{place}/accounts")
                   .replace("projects/{{project}}:", f"{place}:"))
        step = {**step, "request": request}
        if "projects/" not in request:
            if isinstance(step.get("body"), dict):
                step["body"] = {**step["body"], "tenantId": self.tenant}
            elif request.startswith("GET"):
                step["request"] += f"{'&' if '?' in request else '?'}tenantId={self.tenant}"
        status, answer = super()._call(step)
        for name in ("users", "userInfo"):
            for user in answer.get(name, []) if isinstance(answer, dict) else []:
                assert user.pop("tenantId", None) == self.tenant, f"{step['name']}: {user}"
        return status, answer


def find(value, place):
    """Returns the value at a path such as `users.0.mfaInfo`; `token#header` and `token#claims` are
    the two parts of a token, and `link#query` is the query of a link."""
    for part in place.split("."):
        name, _, half = part.partition("#")
        value = value[int(name)] if isinstance(value, list) else value[name]
        if half == "query":
            value = dict(parse_qsl(urlsplit(value).query))
        elif half:
            text = value.split(".")[["header", "claims"].index(half)]
            value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return value


def table():
    """Returns the table of `docs/reference/production.md`: one row per reason."""
    rows = ["| Exchanges | Production | Countersign | Reason |", "|---|---|---|---|"]
    for group in allowed():
        names = ", ".join(f"`{name}`" for name in group["exchanges"])
        rows.append(f"| {names} | {group['production']} | {group['here']} | {group['reason']} |")
    return "\n".join(rows)


def documented():
    """Returns the current table in `docs/reference/production.md`."""
    return re.search(r"(?:^\|.*\n)+", DOCUMENT.read_text(), re.M).group(0).rstrip("\n")


def document():
    """Writes the table to `docs/reference/production.md`."""
    text = DOCUMENT.read_text()
    DOCUMENT.write_text(text.replace(documented(), table()))
