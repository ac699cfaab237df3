"""The REST API without an SDK."""

import base64
import json
import time

import httpx
import pyotp

from . import program


class Api:
    """A user pool as an application sees it, with an API key and optionally a token."""

    def __init__(self, url, project, key, token=None, tenant=None, prefix="", verify=True):
        self.url, self.project, self.key, self.token, self.tenant = url, project, key, token, tenant
        self.http = httpx.Client(base_url=url + prefix, timeout=60, verify=verify)

    def client(self, method, body, version="v1", **more):
        """Makes a call with the API key only, such as `:signUp` or `/mfaEnrollment:start`."""
        if self.tenant and "idToken" not in body:
            body = {**body, "tenantId": self.tenant}
        return self.http.post(
            f"/{version}/accounts{method}", params={"key": self.key}, json=body, **more)

    def factor(self, method, body):
        return self.client(f"/{method}", body, version="v2")

    def admin(self, verb, path, body=None, version="v1", **more):
        """Makes a call with the token, below the user pool: `accounts:lookup` or `config`."""
        pool = f"projects/{self.project}" + (f"/tenants/{self.tenant}" if self.tenant else "")
        separator = "/" if path else ""
        return self.http.request(
            verb, f"/{version}/{pool}{separator}{path}", json=body,
            headers={"Authorization": f"Bearer {self.token}"}, **more)

    def switch_totp_on(self, intervals=None):
        """Turns TOTP on with the documentation's call, for a project or a tenant."""
        totp = {} if intervals is None else {"adjacentIntervals": intervals}
        message = {"providerConfigs": [{"state": "ENABLED", "totpProviderConfig": totp}]}
        path, member = ("", "mfaConfig") if self.tenant else ("config", "mfa")
        return ok(self.admin(
            "PATCH", path, {member: message}, version="v2", params={"updateMask": member}))

    def allow_secrets(self):
        """Allows imports to include TOTP secrets, which they can't by default."""
        return ok(self.admin("PATCH", "config", {"importTotpSecrets": True}, version="v2",
                             params={"updateMask": "importTotpSecrets"}))

    def sign_up(self, email, password="bright-swordfish"):
        return ok(self.client(
            ":signUp", {"email": email, "password": password, "returnSecureToken": True}))

    def verify_email(self, uid):
        return ok(self.admin("POST", "accounts:update", {"localId": uid, "emailVerified": True}))

    def sign_in(self, email, password="bright-swordfish"):
        return self.client(":signInWithPassword", {
            "email": email, "password": password, "returnSecureToken": True})

    def user(self, email, password="bright-swordfish"):
        """Creates a user with a verified email who is signed in; returns the uid and ID token."""
        uid = self.sign_up(email, password)["localId"]
        self.verify_email(uid)
        return uid, ok(self.sign_in(email, password))["idToken"]

    def enroll(self, id_token, name="Phone", ago=0):
        """Enrolls an authenticator with its code of `ago` seconds ago; returns it and the new session."""
        start = ok(self.factor(
            "mfaEnrollment:start", {"idToken": id_token, "totpEnrollmentInfo": {}}))
        session = start["totpSessionInfo"]
        authenticator = pyotp.TOTP(session["sharedSecretKey"])
        done = ok(self.factor("mfaEnrollment:finalize", {
            "idToken": id_token, "displayName": name,
            "totpVerificationInfo": {
                "sessionInfo": session["sessionInfo"],
                "verificationCode": authenticator.at(int(time.time()) - ago)}}))
        return authenticator, done


def ok(response):
    """Returns the body of a response that must succeed."""
    assert response.status_code == 200, f"{response.status_code} {response.text}"
    return response.json()


def refused(response, message, status=400):
    """Checks that a call is refused with a message, in the format that SDKs read."""
    assert response.status_code == status, f"{response.status_code} {response.text}"
    assert response.headers["content-type"].startswith("application/json")
    error = response.json()["error"]
    assert error["code"] == status
    assert error["message"].startswith(message), error["message"]
    # Version 1 has a list of errors, version 2 a status word, and early errors have both.
    assert "errors" in error or "status" in error
    return error


def claims(token):
    """Returns the claims of an ID token without verifying it."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def create_token(data, project, role, tenant=None, prefix=()):
    """Creates a service token from the command line."""
    words = ["--data", data, "--project", project, "--role", role]
    created = program.run(
        "token", "create", *words, *(["--tenant", tenant] if tenant else []), prefix=prefix)
    assert created.returncode == 0, created.stderr
    return created.stdout.strip()


def create_administrator(data, email, role, password="correct horse battery", **scope):
    """Creates an administrator from the command line."""
    more = [word for name, value in scope.items() for word in (f"--{name}", value)]
    created = program.run(
        "admin", "create", "--data", data, "--email", email, "--role", role, *more,
        input=password + "\n")
    assert created.returncode == 0, created.stderr
    program.reset_sign_ins(data)
