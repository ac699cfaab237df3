"""What Google answers: the recorded bodies, those quoted in public, and the shapes of users and policies."""

import functools
import json
import re

from .program import ROOT

RECORDINGS = ROOT / "Tests/Fixtures/connect"
PROJECT, NUMBER = "demo-connected", "100000000001"
CREATED = 1790164342579


@functools.cache
def recordings():
    """Returns the recorded exchanges by their IDs."""
    lines = [line for file in sorted(RECORDINGS.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return {exchange["id"]: exchange for exchange in map(json.loads, filter(None, lines))}


def recorded(name):
    """Returns the status and a copy of the body of a recorded exchange."""
    exchange = recordings()[name]
    return exchange["status"], json.loads(json.dumps(exchange["response"]))


def v1(message, status=400, reason="invalid", domain="global"):
    """An error of version 1, which has a list of errors."""
    return status, {"error": {"code": status, "message": message, "errors": [
        {"message": message, "domain": domain, "reason": reason}]}}


def v2(status, word, message, *details):
    """An error of version 2, which has a status word."""
    return status, {"error": {"code": status, "message": message, "status": word, **(
        {"details": list(details)} if details else {})}}


def info(reason, service="identitytoolkit.googleapis.com", **metadata):
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
            "metadata": {"consumer": f"projects/{NUMBER}", "service": service, **metadata}}


def grant(description, status=400, word="invalid_grant"):
    """An error of the token endpoint (RFC 6749 section 5.2)."""
    return status, {"error": word, "error_description": description}


def api_off(service="identitytoolkit.googleapis.com", title="Identity Toolkit API", number=NUMBER):
    link = f"https://console.developers.google.com/apis/api/{service}/overview?project={number}"
    return v2(
        403, "PERMISSION_DENIED",
        f"{title} has not been used in project {number} before or it is disabled. Enable it by visiting {link} "
        "then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our "
        "systems and retry.",
        {"@type": "type.googleapis.com/google.rpc.Help", "links": [
            {"description": "Google developers console API activation", "url": link}]},
        info("SERVICE_DISABLED", service, consumer=f"projects/{number}"))


# Quoted in public, but not among the recordings.
QUOTED = {
    "token/robot-disabled": grant("Robot is disabled."),
    "token/no-verifier": grant("Invalid JWT: No valid verifier found for issuer."),
    "token/invalid-user": grant("Invalid email or User ID"),
    "token/unauthorized-client": grant(
        "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of "
        "the scopes requested.", 401, "unauthorized_client"),
    "token/unavailable": (503, "<!DOCTYPE html><title>Error 503 (Service Unavailable)</title>"),
    "error/api-off": api_off(),
    "error/api-off-elsewhere": api_off(number="200000000002"),
    "error/api-off-before-details": v1(
        "Access Not Configured. Identity Toolkit API has not been used in project 100000000001 before or it is "
        "disabled.", 403, "accessNotConfigured", "usageLimits"),
    "error/resource-manager-off": api_off(
        "cloudresourcemanager.googleapis.com", "Cloud Resource Manager API"),
    "error/project-deleted": v2(
        403, "PERMISSION_DENIED", f"Project {PROJECT} has been deleted.", info("USER_PROJECT_DENIED")),
    "error/no-credential": v1("Login Required.", 401, "required"),
    "error/too-many-requests": v2(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Admin read requests' and limit 'Admin read "
        f"requests per minute' of service 'identitytoolkit.googleapis.com' for consumer 'project_number:{NUMBER}'.",
        info("RATE_LIMIT_EXCEEDED")),
    "error/quota-exceeded": v2(400, "INVALID_ARGUMENT", "QUOTA_EXCEEDED : Exceeded quota for getting accounts."),
    "error/rate-limit-403": v2(
        403, "PERMISSION_DENIED", "Quota exceeded for quota metric 'Admin read requests' and limit 'Admin read "
        f"requests per minute' of service 'identitytoolkit.googleapis.com' for consumer 'project_number:{NUMBER}'.",
        info("RATE_LIMIT_EXCEEDED")),
    "error/unavailable": v1("Error code: 39", 503, "backendError"),
    "error/html": (502, "<!DOCTYPE html><title>Error 502 (Server Error)</title>"),
}

def answer(error):
    """Returns the status and body of an error: a recorded one, a quoted one, or the pair itself."""
    if isinstance(error, tuple):
        return error
    return QUOTED[error] if error in QUOTED else recorded(error)


def unknown_parameter(name):
    message = (f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. Field \'{name}\' '
               "could not be found in request message.")
    return v2(400, "INVALID_ARGUMENT", message, {
        "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"description": message}]})


def totp(intervals=5, state="ENABLED", outer="ENABLED", sms=False):
    """The MFA of a project or tenant; `intervals` is None if they're unset, and `outer` is the other switch."""
    entry = {} if intervals is None else {"adjacentIntervals": intervals}
    return {"state": outer, **({"enabledProviders": ["PHONE_SMS"]} if sms else {}),
            "providerConfigs": [{"state": state, "totpProviderConfig": entry}]}


def as_shown(mfa):
    """Returns MFA as it's read: 0 intervals look like unset ones, and entries without TOTP are dropped."""
    shown = {name: value for name, value in mfa.items() if name != "providerConfigs"}
    entries = []
    for entry in mfa.get("providerConfigs", []):
        if "totpProviderConfig" in entry:
            intervals = entry["totpProviderConfig"].get("adjacentIntervals")
            entries.append({"totpProviderConfig": {"adjacentIntervals": intervals} if intervals else {},
                            **({"state": entry["state"]} if "state" in entry else {})})
    return {**shown, **({"providerConfigs": entries} if entries else {})}


def user(uid, email=None, factors=(), **more):
    """A user with a password, as `accounts:batchGet` has them."""
    email = email or f"{uid}@example.com"
    return {
        "localId": uid, "email": email, "passwordHash": "aGFzaC1ub3QtcmVkYWN0ZWQ=", "salt": "c2FsdA==", "version": 0,
        "emailVerified": True, "passwordUpdatedAt": CREATED, "providerUserInfo": [
            {"providerId": "password", "federatedId": email, "email": email, "rawId": email}],
        "validSince": str(CREATED // 1000), "disabled": False, "createdAt": str(CREATED),
        "lastLoginAt": str(CREATED), "lastRefreshAt": "2026-09-23T11:52:22.579Z",
        **({"mfaInfo": list(factors)} if factors else {}), **more}


def authenticator(number=1, name="Authenticator"):
    return {"mfaEnrollmentId": f"5e000000-0000-4000-8000-{number:012}", "displayName": name,
            "enrolledAt": "2026-09-23T11:52:22.579123Z", "totpInfo": {}}


def phone(number=2, to="+16505550102"):
    return {"phoneInfo": to, "mfaEnrollmentId": f"5e000000-0000-4000-8000-{number:012}", "displayName": "Phone",
            "enrolledAt": "2026-09-23T11:52:22.579123Z"}


def mask_of(text):
    """Reads `fields`, such as `name,signIn(email,phoneNumber.enabled)`, as nested dictionaries."""
    levels = [{}]
    node = levels[0]
    for part in re.findall(r"[,()./]|[^,()./]+", text):
        if part == "(":
            levels.append(node)
        elif part == ")":
            levels.pop()
        elif part not in "./,":
            node = node.setdefault(part, {})
        if part in ",)":
            node = levels[-1]
    return levels[0]


def masked(value, mask):
    """Returns the members of a value that a mask names; all if it names none."""
    if not mask:
        return value
    if isinstance(value, list):
        return [masked(item, mask) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: masked(value[name], below) for name, below in mask.items() if name in value}


# What may be wrong with the pages of a list: each gets the body of a page, and the query, and returns the body.

def empty(body, query):
    return {name: value for name, value in body.items() if name not in ("users", "nextPageToken")}


def short(body, query):
    """Ends the list with the first half of the page."""
    users = body.get("users", [])
    return {**empty(body, query), "users": users[:len(users) // 2]}


def unsorted(body, query):
    return {**body, "users": body.get("users", [])[::-1]}


def repeated():
    """Answers each page with the users of the first one that isn't the last."""
    first = []

    def repeat(body, query):
        if not first and "nextPageToken" in body:
            first.extend(body["users"])
        return {**body, "users": list(first)} if first else body
    return repeat
