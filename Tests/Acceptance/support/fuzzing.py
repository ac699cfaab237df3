"""Schemathesis hooks that replace some generated values with real ones.

With random ID tokens and user IDs, no call would get past the first check, so every second one is
replaced with those of a user created for the call. A tenant that is changed or deleted is also
created for the call.
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


def create(path, body):
    """Returns what a call created, or nothing if an earlier configuration change forbids it."""
    answer = http.post(path, json=body)
    return answer.json() if answer.status_code == 200 else {}


def tenant():
    return create(f"/v2/projects/{PROJECT}/tenants", {
        "displayName": "thrown-away", "allowPasswordSignup": True, "enableAnonymousUser": True,
    }).get("name", "").rpartition("/")[2]


def user(name):
    """Returns a field of a new user, without a password because hashing is slow."""
    return create(f"/v1/accounts:signUp?key={KEY}", {}).get(name)


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
            # The new user doesn't belong to a tenant.
            case.body.pop("tenantId", None)
            case.query.pop("tenantId", None)
