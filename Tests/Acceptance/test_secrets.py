"""No secret is in a log, an error, a URL, or unencrypted in the database."""

import base64
import html
import os
import re
import subprocess
import time

import httpx
import jwt
import pyotp
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from support.agents import set_rules
from support.pages import Pages
from support.program import Server, reauthenticate, run, temporary_folder
from support.rest import Api, create_administrator, create_token, ok, refused
from support.waiting import until

MARKER = "Marker-7fb1c2e9"


# It looks into a backup of the file.
@pytest.mark.sqlite
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_k2_secrets_are_in_no_log_and_encrypted_in_the_database(tmp_path, log_format):
    secrets = {}
    log = tmp_path / "access.log"
    with Server(tmp_path / "data", "--access-log", str(log), "--log-format", log_format,
                "--metrics-listen", "127.0.0.1:0") as server:
        secrets["setup code"] = server.setup_code.replace("-", "")
        api, pages, uid = drive(server, secrets)
        drive_passwords(api, pages, secrets)
        drive_providers(server, api, secrets)
        drive_support(server, pages, api, uid, secrets)
        assert run("backup", "--data", server.data, tmp_path / "copy.sqlite").returncode == 0
        metrics = httpx.get(server.wait_for_line(r'Metrics: ([^\s"]+)')).text
        server.stop()
        output = server.text.replace("-", "") + log.read_text().replace("-", "")
    # The setup code is printed once, for the person who starts the server: in JSON, as a field too.
    assert output.count(secrets["setup code"]) == (2 if log_format == "json" else 1)
    files = [tmp_path / "copy.sqlite", *(tmp_path / "data").iterdir()]
    kept = b"".join(file.read_bytes() for file in files if file.name != "master.key")
    assert b"eve@example.com" in kept
    for name, secret in secrets.items():
        assert secret not in metrics, f"the metrics have the {name}"
        if name != "setup code":
            assert secret.replace("-", "") not in output, f"the log has the {name}"
        for spelling in {secret, secret.replace("-", ""), secret.replace(" ", ""),
                         base64.b64encode(secret.encode()).decode()}:
            assert spelling.encode() not in kept, f"the database has the {name}"
    for name in ("TOTP secret", "administrator's TOTP secret", "imported TOTP secret"):
        raw = base64.b32decode(secrets[name])
        assert raw not in kept and raw.hex().encode() not in kept
    lines = log.read_text()
    assert "/v1/accounts:signUp" in lines and "?" not in lines and "key=" not in lines


def test_processes_of_the_same_user_cannot_read_the_memory_of_the_server():
    user, prefix = os.geteuid(), []
    # Not below pytest's folder, which is root's alone.
    data = temporary_folder("memory-")
    if user == 0:
        user = 65534
        prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        os.chown(data, user, user)

    def can_read(process):
        read = subprocess.run([*prefix, "cat", f"/proc/{process.pid}/environ"], capture_output=True)
        return read.returncode == 0

    with Server(data, "--metrics-listen", "127.0.0.1:0", profile="emulator", prefix=prefix) as server:
        assert not can_read(server.process)
        # It can still read about itself.
        metrics = httpx.get(server.wait_for_line(r'Metrics: ([^\s"]+)')).text
        assert re.search(r"^process_open_fds [1-9]", metrics, re.M)
    with subprocess.Popen([*prefix, "sleep", "60"]) as other:
        try:
            until(lambda: can_read(other), "another process can be read")
        finally:
            other.kill()


def enroll(pages, server, secrets):
    """Enrolls the owner's second factor, and signs in up to the code and with a recovery code."""
    page = pages.get("/account/totp").text
    secrets["factor setup"] = re.search(r'name="ticket" value="([^"]+)"', page).group(1)
    secrets["administrator's TOTP secret"] = re.search(r"secret=([A-Z2-7]{32})", page).group(1)
    done = pages.http.post("/account/totp", headers={"Origin": server.url}, data={
        "csrf": re.search(r'name="csrf" value="([^"]+)"', page).group(1),
        "ticket": secrets["factor setup"],
        "code": pyotp.TOTP(secrets["administrator's TOTP secret"]).now()})
    codes = re.findall(r"(?:[A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}", done.text)
    secrets["recovery code"], secrets["used recovery code"] = codes[0], codes[1]
    other = Pages(server.url)
    other.sign_in(password=secrets["owner's password"])
    secrets["pending sign-in"] = other.http.cookies["countersign-pending"]
    assert other.post("/sign-in/code", {"code": f"{MARKER}-own"}).status_code == 422
    secrets["wrong code of an administrator"] = f"{MARKER}-own"
    answer = other.post("/sign-in/code", {"recovery": secrets["used recovery code"]})
    assert answer.status_code == 303


def drive(server, secrets):
    """Signs administrators and users in, with right and wrong values; returns the user pool, its
    owner's browser, and the user's uid."""
    secrets["owner's password"] = f"{MARKER}-owner"
    pages = Pages(server.url)
    wrong = pages.post("/setup", {
        "code": f"{MARKER}-code", "name": "Ada", "email": "ada@example.com",
        "password": f"{MARKER}-never-used"})
    assert wrong.status_code == 422
    secrets["password typed with a wrong code"] = f"{MARKER}-never-used"
    pages.set_up(server.setup_code, password=secrets["owner's password"])
    secrets["console session"] = pages.http.cookies["countersign-session"]
    secrets["wrong console password"] = f"{MARKER}-wrong"
    Pages(server.url).sign_in("ada@example.com", secrets["wrong console password"])
    # A password entered into the wrong field.
    Pages(server.url).sign_in(f"{MARKER}-in-the-address", "x")
    secrets["password in the wrong field"] = f"{MARKER}-in-the-address"
    secrets["administrator's password"] = f"{MARKER}-support"
    create_administrator(server.data, "sam@example.com", "support",
                         password=secrets["administrator's password"])

    response = pages.post("/administrators/new", {
        "email": "nina@example.com", "name": "Nina", "role": "auditor", "place": "*"})
    secrets["invitation"] = re.search(r"/invitation\?token=([\w-]{43})", response.text).group(1)
    assert pages.get("/invitation", params={"token": secrets["invitation"]}).status_code == 200
    enroll(pages, server, secrets)

    pages.create_project("secret-project")
    secrets["service token"] = create_token(server.data, "secret-project", "owner")
    api = Api(
        server.url, "secret-project", pages.api_key("secret-project"), secrets["service token"])
    api.switch_totp_on(2)
    secrets["wrong token"] = f"{MARKER}-token"
    httpx.get(f"{server.url}/v2/projects/secret-project/config",
              headers={"Authorization": f"Bearer {secrets['wrong token']}"})
    secrets["user's password"] = f"{MARKER}-user"
    uid, id_token = api.user("eve@example.com", secrets["user's password"])
    secrets["user's wrong password"] = f"{MARKER}-user-wrong"
    refused(api.sign_in("eve@example.com", secrets["user's wrong password"]), "")

    start = ok(api.factor("mfaEnrollment:start", {
        "idToken": id_token, "totpEnrollmentInfo": {}}))["totpSessionInfo"]
    secrets["TOTP secret"] = start["sharedSecretKey"]
    secrets["enrollment session"] = start["sessionInfo"]
    totp = pyotp.TOTP(secrets["TOTP secret"])
    done = ok(api.factor("mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": start["sessionInfo"], "verificationCode": totp.now()}}))
    secrets["ID token"], secrets["refresh token"] = done["idToken"], done["refreshToken"]
    first = ok(api.sign_in("eve@example.com", secrets["user's password"]))
    secrets["pending credential"] = first["mfaPendingCredential"]
    for code in (f"{MARKER}-otp", totp.at(time.time() + 30)):
        api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})
    secrets["wrong code"] = f"{MARKER}-otp"
    for token in (secrets["refresh token"], f"{MARKER}-refresh"):
        api.http.post("/v1/token", params={"key": api.key}, data={
            "grant_type": "refresh_token", "refresh_token": token})
    secrets["wrong refresh token"] = f"{MARKER}-refresh"
    api.http.post("/v1/accounts:lookup", params={"key": api.key},
                  json={"idToken": f"{MARKER}-id-token"})
    secrets["wrong ID token"] = f"{MARKER}-id-token"
    # In a URL, where clients put API keys.
    secrets["text in a query"] = f"{MARKER}-query"
    httpx.get(f"{server.url}/v1/projects", params={"key": secrets["text in a query"]})
    httpx.get(f"{server.url}/sign-in", params={"password": secrets["text in a query"]})
    return api, pages, uid


def drive_passwords(api, pages, secrets):
    """Changes passwords: of a user, with a token and with a link, and of an administrator."""
    id_token = api.sign_up("bob@example.com", f"{MARKER}-bob-first")["idToken"]
    secrets["user's first password"] = f"{MARKER}-bob-first"
    ok(api.client(":update", {"idToken": id_token, "password": f"{MARKER}-bob-second"}))
    secrets["user's changed password"] = f"{MARKER}-bob-second"
    link = ok(api.admin("POST", "accounts:sendOobCode", {
        "requestType": "PASSWORD_RESET", "email": "bob@example.com", "returnOobLink": True}))
    secrets["code of a link"] = link["oobCode"]
    assert api.http.get(link["oobLink"]).status_code == 200
    ok(api.client(":resetPassword", {
        "oobCode": link["oobCode"], "newPassword": f"{MARKER}-bob-third"}))
    secrets["user's password after a reset"] = f"{MARKER}-bob-third"
    refused(api.client(":resetPassword", {
        "oobCode": f"{MARKER}-oob", "newPassword": f"{MARKER}-unset"}), "INVALID_OOB_CODE")
    secrets["wrong code of a link"] = f"{MARKER}-oob"
    secrets["password with a wrong code"] = f"{MARKER}-unset"
    ok(api.admin("POST", "accounts:sendOobCode", {
        "requestType": "PASSWORD_RESET", "email": "bob@example.com"}))
    for old, status in ((f"{MARKER}-not-mine", 422), (secrets["owner's password"], 303)):
        changed = pages.post("/account/password", {
            "old-password": old, "new-password": f"{MARKER}-owner-new"})
        assert changed.status_code == status, changed.text
    secrets["wrong old password"] = f"{MARKER}-not-mine"
    secrets["owner's new password"] = f"{MARKER}-owner-new"
    secrets["session after the change"] = pages.http.cookies["countersign-session"]


def drive_providers(server, api, secrets):
    """Uses custom tokens, the client secret of a provider, text messages, and an import."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    issuer, now = "back-end@acme.example", int(time.time())
    added = run("token-key", "add", "--data", server.data, "--project", api.project, "--issuer",
                issuer, input=public)
    assert added.returncode == 0, added.stderr
    secrets["custom token"] = jwt.encode({
        "iss": issuer, "sub": issuer, "iat": now, "exp": now + 3600, "uid": "custom",
        "aud": "https://identitytoolkit.googleapis.com/"
               "google.identity.identitytoolkit.v1.IdentityToolkit"}, key, "RS256")
    signed = ok(api.client(":signInWithCustomToken", {
        "token": secrets["custom token"], "returnSecureToken": True}))
    secrets["refresh token of a custom token"] = signed["refreshToken"]
    api.client(":signInWithCustomToken", {"token": f"{MARKER}.custom.token"})
    secrets["wrong custom token"] = f"{MARKER}.custom.token"

    secrets["client secret"] = f"{MARKER}-client"
    ok(api.admin("POST", "oauthIdpConfigs", {
        "issuer": "https://login.example.com", "clientId": "client-1",
        "clientSecret": secrets["client secret"], "responseType": {"code": True}},
        version="v2", params={"oauthIdpConfigId": "oidc.acme"}))
    ok(api.admin("GET", "oauthIdpConfigs/oidc.acme", version="v2"))

    ok(api.admin("PATCH", "config", {"signIn": {"phoneNumber": {"enabled": True}}}, version="v2",
                 params={"updateMask": "signIn.phoneNumber.enabled"}))
    secrets["session of a text message"] = ok(api.client(":sendVerificationCode", {
        "phoneNumber": "+12025550143", "recaptchaToken": "x"}))["sessionInfo"]
    refused(api.client(":signInWithPhoneNumber", {
        "sessionInfo": secrets["session of a text message"], "code": f"{MARKER}-sms"}), "")
    secrets["wrong code of a text message"] = f"{MARKER}-sms"

    api.allow_secrets()
    secrets["imported TOTP secret"] = pyotp.random_base32()
    secrets["imported password"] = f"{MARKER}-imported"
    answer = ok(api.admin("POST", "accounts:batchCreate", {"users": [{
        "localId": "imported", "email": "imported@example.com", "emailVerified": True,
        "rawPassword": secrets["imported password"], "mfaInfo": [{
            "mfaEnrollmentId": "phone", "enrolledAt": "2026-01-01T00:00:00Z",
            "totpInfo": {"sharedSecretKey": secrets["imported TOTP secret"]}}]}]}))
    assert not answer.get("error"), answer
    pending = ok(api.sign_in("imported@example.com", secrets["imported password"]))
    ok(api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": pending["mfaPendingCredential"], "mfaEnrollmentId": "phone",
        "totpVerificationInfo": {
            "verificationCode": pyotp.TOTP(secrets["imported TOTP secret"]).now()}}))


def drive_support(server, pages, api, uid, secrets):
    """Generates codes and links for a user as an agent and as the user, and uses them."""
    user = f"/projects/{api.project}/users/{uid}"
    set_rules(pages, f"/projects/{api.project}", temporary_codes="on", recovery_codes="on",
              caller_verification="offered")

    def post(path, form, page=None):
        reauthenticate(server.data)
        answer = pages.post(path, form, page)
        assert answer.status_code == 303, answer.text
        return answer

    def sign_in(code):
        first = ok(api.sign_in("eve@example.com", secrets["user's password"]))
        return api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": code}})

    def text_of(pattern):
        """Returns the text of the newest message to the user that matches."""
        for path in re.findall(
                rf'href="(/projects/{api.project}/messages/\d+)"',
                pages.get(f"/projects/{api.project}/messages", params={"q": "eve@example.com"}).text):
            text = html.unescape(pages.post(f"{path}/text", {}, path).text)
            if found := re.search(pattern, text):
                return found
        raise AssertionError(f"no message has {pattern}")

    created = post(f"{user}/temporary-code", {"reason": "lost", "hours": "1"})
    shown = pages.get(created.headers["location"]).text
    secrets["temporary code"] = html.unescape(
        re.search(r'aria-label="code">([^<]+)<', shown).group(1))
    ok(sign_in(secrets["temporary code"]))
    # The two codes before this one are used.
    session = ok(sign_in(pyotp.TOTP(secrets["TOTP secret"]).at(time.time() + 60)))
    recovery = ok(api.factor("mfaRecoveryCodes:generate", {"idToken": session["idToken"]}))
    for number, code in enumerate(recovery["recoveryCodes"]):
        secrets[f"user's recovery code {number}"] = code
    ok(sign_in(recovery["recoveryCodes"][0]))

    post(f"{user}/caller-code", {"return": f"{user}/sessions/end"}, f"{user}/sessions/end")
    secrets["caller code"] = text_of(r"\b\d{4} \d{4}\b").group()
    wrong = pages.post(f"{user}/sessions/end", {"reason": "lost", "caller-code": "0000 0001"})
    assert wrong.status_code == 422
    post(f"{user}/sessions/end", {"reason": "lost", "caller-code": secrets["caller code"]})

    # The link is for users without an app.
    post(f"{user}/factors/removal", {"reason": "lost"})
    post(f"{user}/enrollment-link", {"reason": "enrollment"})
    for name, page in (("enrollment link", "enroll"), ("report link", "not-me")):
        link = text_of(rf"/__/auth/{page}\?code=([\w-]+)\S*")
        secrets[name] = link.group(1)
        visitor = Pages(server.url)
        assert visitor.get(link.group()).status_code == 200, name
        assert visitor.get(f"/__/auth/{page}?code={MARKER}-{page}").status_code != 200
        secrets[f"wrong {name}"] = f"{MARKER}-{page}"
