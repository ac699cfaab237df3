"""Recorded production answers, sent again and compared.

A file in `production/<area>` is a section: steps in the order in which they were recorded. Each has
a name. A step with `production` is an exchange: the status and the error message that production
answered, and facts about its body. The other steps are setup, and must succeed.

`request` names the method and the path. A path below `projects/` is called with a token, any other
with an API key. `{{name}}` stands for what an earlier step answered: `{{start.sessionInfo}}`, or
`{{create.name/}}` for the last part of a resource name; `{{code start 4}}` is the code of the
secret that the step `start` answered, four time steps from now. `{{project}}` is the project.

In a request, `{"$repeat": "a", "times": 4096}` stands for a long text, and `"wait": "second"` waits
for the next second. `auth` is `key` or `none` where the path would say otherwise.

`body` is the whole body of an answer, in which no other member may be, and the kinds of `replay.py`
stand for values. `facts` maps a place in the body to what is there: a value, or one of the kinds of `replay.py`;
`"$absent"` and `"$present"` say whether there is a member at all.

`allowed.json` beside the sections lists the exchanges in which Countersign differs, each with its
reason and with what Countersign answers. `docs/clients.md` repeats the reasons.
"""

import base64
import json
import re
from pathlib import Path

from .replay import Conversation

FOLDER = Path(__file__).resolve().parents[1] / "production"
DOCUMENT = Path(__file__).resolve().parents[3] / "docs/clients.md"
PROFILES = {"mfa": "emulator", "tenant": "standalone", "account": "emulator", "config": "emulator"}


def sections():
    return sorted(path for path in FOLDER.glob("*/*.json") if path.name != "allowed.json")


def name_of(path):
    """`mfa/totp-enroll` for the file of a section."""
    return str(path.relative_to(FOLDER).with_suffix(""))


def allowed():
    """What differs on purpose: groups with a reason, and what each exchange answers here."""
    return [group for area in sorted(FOLDER.glob("*/allowed.json"))
            for group in json.loads(area.read_text())]


def exchanges():
    """The names of all exchanges, such as `mfa/totp-enroll finalize-again`."""
    return [f"{name_of(path)} {step['name']}" for path in sections()
            for step in json.loads(path.read_text())["steps"] if "production" in step]


class Recording(Conversation):
    """A section sent to a server, with the answers compared with production's."""

    def __init__(self, url, project, key, token, differing):
        super().__init__(url)
        self.kept["project"] = project
        self.key, self.token, self.differing = key, token, differing

    def run(self, path):
        """The faults: each a line."""
        faults = []
        for step in json.loads(path.read_text())["steps"]:
            name = f"{name_of(path)} {step['name']}"
            self._wait(step)
            status, answer = self._ask(step)
            self.kept[step["name"]] = answer
            if "production" not in step:
                expected = {"status": step.get("status", 200), "message": step.get("message")}
                found = self._differences(status, answer, expected)
            elif name in self.differing:
                found = self._differences(status, answer, self.differing[name])
                if not self._differences(status, answer, step["production"]):
                    found.append("equals production, and is listed as different")
            else:
                found = self._differences(status, answer, step["production"])
            faults += [f"{name}: {fault}" for fault in found]
            if found and "production" not in step:
                return faults
        return faults

    def _ask(self, step):
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
            found.append(f"{status} {message or json.dumps(answer)[:200]}, and not "
                         f"{expected['status']} {expected.get('message') or ''}")
        if "body" in expected:
            try:
                self._compare(answer, self._fill(expected["body"]), "body")
            except AssertionError as error:
                found.append(str(error).splitlines()[0])
        for place, value in expected.get("facts", {}).items():
            found += self._misses(answer, place, self._fill(value))
        return found

    def _misses(self, answer, place, value):
        try:
            real = find(answer, place)
        except (KeyError, IndexError, TypeError):
            return [] if value == "$absent" else [f"{place} is missing"]
        if value == "$present":
            return []
        if value == "$absent":
            return [f"{place} is there: {json.dumps(real)[:200]}"]
        try:
            self._compare(real, value, place)
        except AssertionError as error:
            return [str(error).splitlines()[0]]
        return []

    def _fill(self, value):
        if isinstance(value, dict) and "$repeat" in value:
            return value["$repeat"] * value["times"] + value.get("then", "")
        return super()._fill(value)

    def _say(self, word):
        if word.startswith("code "):
            _, start, steps = word.split()
            self.kept["secret"] = find(self.kept[start], "totpSessionInfo.sharedSecretKey")
            return super()._say(f"code secret {steps}")
        step, _, place = word.partition(".")
        if not place:
            return super()._say(word)
        value = str(find(self.kept[step], place.removesuffix("/")))
        return value.rsplit("/", 1)[1] if place.endswith("/") else value


class TenantRecording(Recording):
    """A section of a project's accounts, sent to a tenant: the paths and the messages name it, and
    the users in the answers do, and nothing else is different."""

    def __init__(self, url, project, key, token, differing, tenant):
        super().__init__(url, project, key, token, differing)
        self.tenant = tenant

    def _ask(self, step):
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
        status, answer = super()._ask(step)
        for name in ("users", "userInfo"):
            for user in answer.get(name, []) if isinstance(answer, dict) else []:
                assert user.pop("tenantId", None) == self.tenant, f"{step['name']}: {user}"
        return status, answer


def find(value, place):
    """What is at a place such as `users.0.mfaInfo`; `token#header` is the header of a token."""
    for part in place.split("."):
        name, _, header = part.partition("#")
        value = value[int(name)] if isinstance(value, list) else value[name]
        if header:
            text = value.split(".")[0]
            value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return value


HEADING = "### Recorded production answers"


def table():
    """The rows that `docs/clients.md` has: one for each reason."""
    rows = ["| Exchanges | Production | Countersign | Reason |", "|---|---|---|---|"]
    for group in allowed():
        names = ", ".join(f"`{name}`" for name in group["exchanges"])
        rows.append(f"| {names} | {group['production']} | {group['here']} | {group['reason']} |")
    return "\n".join(rows)


def documented():
    """The table as it is in `docs/clients.md`."""
    text = DOCUMENT.read_text().split(HEADING, 1)[1]
    return re.search(r"(?:^\|.*\n)+", text, re.M).group(0).rstrip("\n")


def document():
    """Writes the table to `docs/clients.md`."""
    text = DOCUMENT.read_text()
    DOCUMENT.write_text(text.replace(documented(), table()))
