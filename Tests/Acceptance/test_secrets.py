"""No secret is in a log, an error, a URL, or unencrypted in the database."""

import base64
import re
import time

import httpx
import pyotp
import pytest

from support.pages import Pages
from support.program import Server, run
from support.rest import Api, create_administrator, create_token, ok, refused

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
        drive(server, secrets)
        metrics = httpx.get(server.wait_for_line(r'Metrics: ([^\s"]+)')).text
        server.stop()
        output = server.text.replace("-", "") + log.read_text().replace("-", "")
    # The setup code is printed once, for the person who starts the server: in JSON, as a field too.
    assert output.count(secrets["setup code"]) == (2 if log_format == "json" else 1)
    kept = b"".join(file.read_bytes() for file in (tmp_path / "data").iterdir()
                    if file.name != "master.key")
    for name, secret in secrets.items():
        assert secret not in metrics, f"the metrics have the {name}"
        if name != "setup code":
            assert secret.replace("-", "") not in output, f"the log has the {name}"
        for spelling in {secret, base64.b64encode(secret.encode()).decode()}:
            assert spelling.encode() not in kept, f"the database has the {name}"
    for name in ("TOTP secret", "administrator's TOTP secret"):
        raw = base64.b32decode(secrets[name])
        assert raw not in kept and raw.hex().encode() not in kept
    lines = log.read_text()
    assert "/v1/accounts:signUp" in lines and "?" not in lines and "key=" not in lines


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
    """Makes every call and opens every page that takes a secret, with right and wrong values."""
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
    _, id_token = api.user("eve@example.com", secrets["user's password"])
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
    assert run("backup", "--data", server.data, server.data.parent / f"{server.data.name}-copy.sqlite").returncode == 0
