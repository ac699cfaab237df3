"""The real firebase-admin for Python against the standalone profile, and the web SDK's calls from a
browser. Both use production's hostnames.

The commands and the program are those of docs/connect.md. The SDK is unchanged.
"""

import datetime
import http.server
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import firebase_admin
import httpx
import pyotp
import pytest
from google.auth.transport.requests import AuthorizedSession

from support.browser import launch
from support.nodes import deployment
from support.pages import Pages
from support.program import ROOT
from support.rest import Api, claims, create_token, ok
from support.sdk import query_of
from support.waiting import until

DOCUMENT = (ROOT / "docs/connect.md").read_text()
PRODUCTION = "https://identitytoolkit.googleapis.com"
PROJECT = "acme-app"
EMAIL, PASSWORD = "ada@example.com", "bright-swordfish"


def code_blocks(heading, language):
    """Returns the code blocks below a heading, without a list's indentation."""
    section = DOCUMENT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", section, re.S | re.M)
    return [re.sub(f"^{indent}", "", text, flags=re.M) for indent, text in found]


ADMIN = "Admin SDKs and the standalone profile"
[COMMANDS] = code_blocks(ADMIN, "sh")
[PROGRAM] = code_blocks(ADMIN, "python")
[BROWSER] = code_blocks("The web SDK with production's hostnames", "sh")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a CA and a certificate, created by the document's commands."""
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run(["sh", "-euc", COMMANDS], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory, files):
    """A standalone server with that certificate, and a project."""
    folder, tls = tmp_path_factory.mktemp("standalone"), (files / "tls.pem", files / "tls.key")
    with deployment(folder, tls=tls) as server:
        # The certificate doesn't cover the console's address here.
        owner = Pages(server.url, verify=False).set_up(server.setup_code)
        owner.create_project(PROJECT)
        server.key = owner.api_key(PROJECT)
        yield server


def program(server):
    """Returns the document's program, with the address of this server."""
    address = 'SERVER = ("mfa.example.com", 443)'
    assert address in PROGRAM and f'"{PROJECT}"' in PROGRAM
    return PROGRAM.replace(address, f"SERVER = {server.address}")


@pytest.fixture(scope="module")
def sdk(server, files):
    """The names that the program defines, run in this process for as long as the tests take."""
    with pytest.MonkeyPatch.context() as process:
        process.setattr(socket, "getaddrinfo", socket.getaddrinfo)
        process.setenv("REQUESTS_CA_BUNDLE", str(files / "ca.pem"))
        process.setenv("SERVICE_TOKEN", create_token(server.data, PROJECT, "application"))
        names = {}
        exec(program(server), names)
        yield SimpleNamespace(**names)
        firebase_admin.delete_app(names["app"])


@pytest.fixture
def as_owner(sdk, server, monkeypatch):
    """Gives credentials created from now on an owner's token."""
    monkeypatch.setenv("SERVICE_TOKEN", create_token(server.data, PROJECT, "owner"))


@pytest.fixture
def auth(sdk):
    """The SDK's user management, for a project without users."""
    uids = [user.uid for user in sdk.auth.list_users().iterate_all()]
    if uids:
        assert sdk.auth.delete_users(uids).failure_count == 0
    return sdk.auth


def application(server, files, tenant=None):
    """Returns an application's calls, also to production's hostname."""
    api = Api(PRODUCTION, PROJECT, server.key, None, tenant)
    api.http = httpx.Client(
        base_url=PRODUCTION, timeout=60, verify=ssl.create_default_context(cafile=files / "ca.pem"))
    return api


@pytest.fixture
def api(sdk, server, files):
    api = application(server, files)
    api.token = create_token(server.data, PROJECT, "owner")
    return api


def next_second(token):
    """Waits for the next second: tokens are distinguished by the second they were issued in."""
    until(lambda: time.time() >= claims(token)["iat"] + 1, "the next second")


def test_users_are_created_listed_updated_and_deleted(auth, api):
    created = auth.create_user(uid="ada", email=EMAIL, password=PASSWORD, display_name="Ada")
    assert created.uid == auth.get_user_by_email(EMAIL).uid == "ada"
    changed = auth.update_user("ada", email_verified=True, phone_number="+15551230001")
    assert changed.email_verified and changed.display_name == "Ada"
    records = [auth.ImportUserRecord(f"user-{n}", email=f"user-{n}@example.com") for n in range(4)]
    assert auth.import_users(records).success_count == 4
    page = auth.list_users(max_results=3)
    assert len(page.users) == 3 and page.has_next_page
    assert [user.uid for user in page.iterate_all()] == ["ada", *(one.uid for one in records)]
    found = auth.get_users([auth.PhoneIdentifier("+15551230001"), auth.UidIdentifier("nobody")])
    assert [user.uid for user in found.users] == ["ada"] and len(found.not_found) == 1
    assert ok(api.sign_in(EMAIL))["localId"] == "ada"
    auth.delete_user("ada")
    for call in (auth.get_user, auth.delete_user):
        with pytest.raises(auth.UserNotFoundError):
            call("ada")
    auth.create_user(email=EMAIL)
    with pytest.raises(auth.EmailAlreadyExistsError):
        auth.create_user(email=EMAIL)


def test_tokens_are_verified_with_the_published_certificates_and_can_be_revoked(auth, api):
    auth.create_user(uid="ada", email=EMAIL, password=PASSWORD)
    auth.set_custom_user_claims("ada", {"teams": ["red", "blue"]})
    id_token = ok(api.sign_in(EMAIL))["idToken"]
    decoded = auth.verify_id_token(id_token, check_revoked=True)
    assert decoded["uid"] == "ada" and decoded["teams"] == ["red", "blue"]
    assert decoded["iss"] == f"https://securetoken.google.com/{PROJECT}"
    cookie = auth.create_session_cookie(id_token, datetime.timedelta(days=5))
    assert auth.verify_session_cookie(cookie, check_revoked=True)["uid"] == "ada"
    # Signatures are checked, which they aren't with an emulator.
    head, body, signature = id_token.split(".")
    forged = ".".join([head, body, signature[::-1]])
    unsigned = "eyJhbGciOiJub25lIn0." + body + "."
    for token in (forged, unsigned):
        with pytest.raises(auth.InvalidIdTokenError):
            auth.verify_id_token(token)
    next_second(cookie)
    auth.revoke_refresh_tokens("ada")
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(id_token, check_revoked=True)
    with pytest.raises(auth.RevokedSessionCookieError):
        auth.verify_session_cookie(cookie, check_revoked=True)
    again = ok(api.sign_in(EMAIL))["idToken"]
    assert auth.verify_id_token(again, check_revoked=True)["uid"] == "ada"
    auth.update_user("ada", disabled=True)
    with pytest.raises((auth.UserDisabledError, auth.RevokedIdTokenError)):
        auth.verify_id_token(again, check_revoked=True)


def test_email_links_point_to_the_server(auth, api, server):
    auth.create_user(uid="ada", email=EMAIL, password=PASSWORD)
    link = auth.generate_email_verification_link(EMAIL)
    assert link.startswith(server.url + "/")
    assert ok(api.client(":update", {"oobCode": query_of(link)["oobCode"]}))["emailVerified"] is True
    assert auth.get_user("ada").email_verified


def test_tenants_and_their_users_are_managed(sdk, as_owner, server, files):
    tenants = sdk.tenant_mgt
    created = tenants.create_tenant("acme", allow_password_sign_up=True)
    changed = tenants.update_tenant(created.tenant_id, display_name="acme-two")
    assert changed.allow_password_sign_up
    assert tenants.get_tenant(created.tenant_id).display_name == "acme-two"
    assert [one.tenant_id for one in tenants.list_tenants().iterate_all()] == [created.tenant_id]
    users = tenants.auth_for_tenant(created.tenant_id)
    user = users.create_user(uid="eve", email=EMAIL, password=PASSWORD)
    assert user.tenant_id == created.tenant_id
    with pytest.raises(sdk.auth.UserNotFoundError):
        sdk.auth.get_user("eve")
    id_token = ok(application(server, files, created.tenant_id).sign_in(EMAIL))["idToken"]
    assert users.verify_id_token(id_token)["firebase"]["tenant"] == created.tenant_id
    tenants.delete_tenant(created.tenant_id)
    with pytest.raises(tenants.TenantNotFoundError):
        tenants.get_tenant(created.tenant_id)


def test_the_same_credential_can_change_the_mfa_configuration(sdk, as_owner, auth, api):
    """The SDK has no call for this, but Google's library under it accepts the same credential."""
    session = AuthorizedSession(sdk.app.credential.get_credential())
    url = f"{PRODUCTION}/v2/projects/{PROJECT}/config"
    mfa = {"providerConfigs": [
        {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 3}}]}
    changed = session.patch(url, params={"updateMask": "mfa"}, json={"mfa": mfa})
    assert changed.status_code == 200, changed.text
    assert session.get(url).json()["mfa"]["providerConfigs"] == mfa["providerConfigs"]
    auth.create_user(uid="ada", email=EMAIL, password=PASSWORD, email_verified=True)
    _, enrolled = api.enroll(ok(api.sign_in(EMAIL))["idToken"])
    decoded = auth.verify_id_token(enrolled["idToken"], check_revoked=True)
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    assert "mfaPendingCredential" in ok(api.sign_in(EMAIL))


def run_program(server, call, token, **environment):
    """Runs the program and a call that fails in a separate process; returns its output."""
    kept = {name: value for name, value in os.environ.items() if name != "REQUESTS_CA_BUNDLE"}
    call = f"""
import requests
try:
    {call}
except Exception as error:
    print(type(error).__name__, error)
"""
    result = subprocess.run(
        [sys.executable, "-c", program(server) + call], capture_output=True, text=True, timeout=60,
        env={**kept, "SERVICE_TOKEN": token, **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_process_that_does_not_trust_the_ca_cannot_connect(server, files):
    token, call = create_token(server.data, PROJECT, "application"), 'auth.get_user("nobody")'
    trusting = {"REQUESTS_CA_BUNDLE": str(files / "ca.pem")}
    assert run_program(server, call, token, **trusting).startswith("UserNotFoundError ")
    # google-auth tries to renew a credential that is refused.
    assert run_program(server, call, "owner", **trusting).startswith("RefreshError ")
    # The SDK would retry such a call for minutes; its library doesn't.
    plain = f'requests.get("{PRODUCTION}/v1/projects")'
    assert run_program(server, plain, token, **trusting) == ""
    assert "CERTIFICATE_VERIFY_FAILED" in run_program(server, plain, token)


def test_the_ca_is_constrained_to_these_hosts(files):
    """A stolen CA key can't be used to impersonate other Google hosts."""
    lines = COMMANDS.splitlines()
    leaf = "\n".join(lines[next(n for n, line in enumerate(lines) if "-CA ca.pem" in line):])
    leaf = leaf.replace("tls.", "other.").replace("DNS:www.googleapis.com", "DNS:drive.googleapis.com")
    subprocess.run(["sh", "-euc", leaf], cwd=files, check=True, capture_output=True)
    for name, word in (("tls", "OK"), ("other", "permitted subtree violation")):
        result = subprocess.run(
            ["openssl", "verify", "-x509_strict", "-CAfile", "ca.pem", f"{name}.pem"],
            cwd=files, capture_output=True, text=True)
        assert word in result.stdout + result.stderr


class EmptyPage(http.server.BaseHTTPRequestHandler):
    """Serves an application's empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def page(chromium, server, files):
    """A page of an application, in a browser started as documented."""
    pin, _, command = BROWSER.partition("\nchromium ")
    words = subprocess.run(
        ["bash", "-euc", f"{pin}\nprintf '%s\\0' {command}"], cwd=files, check=True,
        capture_output=True, text=True).stdout.split("\0")[:-1]
    host, port = server.address
    flags = [word.replace("mfa.example.com:443", f"{host}:{port}") for word in words
             if not word.startswith("--user-data-dir=")]
    assert len(flags) == 2
    browser = launch(chromium.browser_type, *flags)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), EmptyPage) as application:
        threading.Thread(target=application.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://localhost:{application.server_port}/")
        yield page
        application.shutdown()
    browser.close()


# The web SDK's headers, which make the browser send a preflight request.
SEND = """async ([url, body]) => {
  const response = await fetch(url, {
    method: "POST", referrerPolicy: "no-referrer", body: JSON.stringify(body),
    headers: {
      "Content-Type": "application/json", "X-Client-Version": "Chrome/JsCore/11.10.0/FirebaseCore-web",
      "X-Firebase-gmpid": "1:1:web:1" } });
  return [response.status, await response.json()];
}"""


def test_the_web_sdk_works_in_a_browser_with_mapped_host_names(page, auth, server, api):
    """The web SDK's flow: sign-up, enrollment, sign-in with a code, and a refresh."""
    api.switch_totp_on()

    def send(path, body, host="identitytoolkit.googleapis.com"):
        status, answer = page.evaluate(SEND, [f"https://{host}{path}?key={server.key}", body])
        assert status == 200, answer
        return answer

    account = {"email": EMAIL, "password": PASSWORD, "returnSecureToken": True,
               "clientType": "CLIENT_TYPE_WEB"}
    uid = send("/v1/accounts:signUp", account)["localId"]
    auth.update_user(uid, email_verified=True)
    session = send("/v1/accounts:signInWithPassword", account)
    start = send("/v2/accounts/mfaEnrollment:start", {
        "idToken": session["idToken"], "totpEnrollmentInfo": {}})["totpSessionInfo"]
    authenticator = pyotp.TOTP(start["sharedSecretKey"])
    now = time.time()
    send("/v2/accounts/mfaEnrollment:finalize", {
        "idToken": session["idToken"], "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": start["sessionInfo"], "verificationCode": authenticator.at(now)}})
    first = send("/v1/accounts:signInWithPassword", account)
    second = send("/v2/accounts/mfaSignIn:finalize", {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": authenticator.at(now + 30)}})
    refreshed = send("/v1/token", {
        "grant_type": "refresh_token", "refresh_token": second["refreshToken"]},
        "securetoken.googleapis.com")
    assert auth.verify_id_token(refreshed["id_token"])["firebase"]["sign_in_second_factor"] == "totp"
