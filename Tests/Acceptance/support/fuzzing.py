"""Hooks of schemathesis: what it makes up is given ground to stand on.

Random ID tokens and user ids would reach no further than the first check, so every second one is
that of a user who was made for the call. Tenants that are changed or deleted are made for it too.
"""

import itertools
import os

import httpx
import schemathesis

PROJECT = os.environ["FUZZED_PROJECT"]
http = httpx.Client(
    base_url=os.environ["FUZZED_URL"], timeout=30,
    headers={"Authorization": f"Bearer {os.environ['FUZZED_TOKEN']}"})
KEY = os.environ["FUZZED_KEY"]
numbers = itertools.count()


def made(path, body):
    """What a call made, or nothing when a change of the configuration forbids it by now."""
    answer = http.post(path, json=body)
    return answer.json() if answer.status_code == 200 else {}


def tenant():
    return made(f"/v2/projects/{PROJECT}/tenants", {
        "displayName": "thrown-away", "allowPasswordSignup": True, "enableAnonymousUser": True,
    }).get("name", "").rpartition("/")[2]


def user(name):
    """The ID token or the id of a new user, who has no password: hashing takes longest of all."""
    return made(f"/v1/accounts:signUp?key={KEY}", {}).get(name)


@schemathesis.hook
def before_call(context, case, kwargs):
    path = case.operation.path
    if case.method in ("PATCH", "DELETE") and path.endswith("/tenants/{tenantId}"):
        case.path_parameters["tenantId"] = tenant() or "none"
    for name in ("idToken", "localId"):
        if not isinstance(case.body, dict) or not isinstance(case.body.get(name), str):
            continue
        if next(numbers) % 2 and (value := user(name)):
            case.body[name] = value
            # A user of the project is of no tenant.
            case.body.pop("tenantId", None)
            case.query.pop("tenantId", None)
