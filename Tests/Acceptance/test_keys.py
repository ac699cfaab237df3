"""Keys: publication, rotation, and session cookies."""

import datetime
import re
import signal
import stat
import subprocess
import time

import httpx
import jwt
import pytest
from cryptography import x509

from support.demo import SAVED
from support.pages import Pages
from support.program import PROGRAM, Server, environment, execute, query, run
from support.rest import Api, create_token, ok, refused
from support.sdk import auth
from support.waiting import until

ACCOUNT = "securetoken@system.gserviceaccount.com"
X509 = f"/www.googleapis.com/robot/v1/metadata/x509/{ACCOUNT}"
JWK = f"/www.googleapis.com/service_accounts/v1/jwk/{ACCOUNT}"
COOKIE_X509 = "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys"


@pytest.fixture
def keyed_server(tmp_path):
    """A separate server with a project, because keys belong to the whole server."""
    with Server(tmp_path / "data") as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("keyed-app")
        token = create_token(server.data, "keyed-app", "application")
        yield server, Api(server.url, "keyed-app", pages.api_key("keyed-app"), token)


def published(url):
    return httpx.get(url + X509).json()


def key_id(token):
    return jwt.get_unverified_header(token)["kid"]


def verify(url, token, audience="keyed-app", issuer="https://securetoken.google.com/keyed-app"):
    """Verifies a token as applications do: with the JWK set and with the certificates."""
    by_set = jwt.decode(
        token, jwt.PyJWKClient(url + JWK).get_signing_key_from_jwt(token).key, ["RS256"],
        audience=audience, issuer=issuer)
    certificate = x509.load_pem_x509_certificate(published(url)[key_id(token)].encode())
    by_certificate = jwt.decode(
        token, certificate.public_key(), ["RS256"], audience=audience, issuer=issuer)
    assert by_set == by_certificate
    return by_set


def cookie(api, id_token, **more):
    path = f"/v1/projects/{api.project}:createSessionCookie"
    return api.http.post(
        path, json={"idToken": id_token, **more}, headers={"Authorization": f"Bearer {api.token}"})


def test_a_session_cookie_verifies_and_has_the_requested_lifetime(keyed_server):
    server, api = keyed_server
    uid, id_token = api.user("ada@example.com")
    created = ok(cookie(api, id_token, validDuration="432000"))["sessionCookie"]
    claims = verify(server.url, created, issuer="https://session.firebase.google.com/keyed-app")
    assert claims["exp"] - claims["iat"] == 432000
    original = verify(server.url, id_token)
    changed = {"iss", "iat", "exp"}
    assert {k: v for k, v in claims.items() if k not in changed} == {
        k: v for k, v in original.items() if k not in changed}
    # The documents for verifying cookies have the same keys.
    for path in (COOKIE_X509, "/v1/publicKeys"):
        answer = httpx.get(server.url + path)
        assert answer.json() == published(server.url)
        assert answer.headers["cache-control"] == "public, max-age=3600"
    keys = httpx.get(server.url + "/v1/sessionCookiePublicKeys").json()
    assert keys == httpx.get(server.url + JWK).json()
    refused(cookie(api, id_token, validDuration=299), "INVALID_DURATION")
    refused(cookie(api, created), "INVALID_ID_TOKEN")
    refused(api.http.post(
        "/v1/projects/keyed-app:createSessionCookie", params={"key": api.key},
        json={"idToken": id_token}), "Request is missing", 401)


def test_firebase_admin_creates_and_verifies_session_cookies(sdk):
    """Uses the emulator profile; tenants have no session cookies."""
    uid, id_token = sdk.api.user("ada@example.com")
    days = datetime.timedelta(days=5)
    created = auth.create_session_cookie(id_token, days, app=sdk.app)
    claims = auth.verify_session_cookie(created, check_revoked=True, app=sdk.app)
    assert claims["uid"] == uid
    assert claims["exp"] - claims["iat"] == days.total_seconds()
    with pytest.raises(auth.InvalidIdTokenError):
        auth.verify_id_token(created, app=sdk.app)
    until(lambda: time.time() > claims["iat"] + 1, "the next second", 5)
    auth.revoke_refresh_tokens(uid, app=sdk.app)
    with pytest.raises(auth.RevokedSessionCookieError):
        auth.verify_session_cookie(created, check_revoked=True, app=sdk.app)
    tenant = sdk.tenants().create_tenant("acme", allow_password_sign_up=True, app=sdk.app)
    _, id_token = sdk.in_tenant(tenant.tenant_id).user("bob@example.com")
    with pytest.raises(Exception, match="TENANT_ID_MISMATCH"):
        auth.create_session_cookie(id_token, days, app=sdk.app)


@pytest.mark.parametrize("host", ["", "/securetoken.google.com"])
def test_discovery_leads_from_the_issuer_to_the_keys(keyed_server, host):
    server, api = keyed_server
    document = ok(httpx.get(f"{server.url}{host}/keyed-app/.well-known/openid-configuration"))
    _, id_token = api.user("ada@example.com")
    assert document["issuer"] == verify(server.url, id_token)["iss"]
    keys = httpx.get(document["jwks_uri"]).json()["keys"]
    assert key_id(id_token) in [key["kid"] for key in keys]


def test_signing_keys_are_rotated_while_the_server_runs(keyed_server):
    server, api = keyed_server
    _, old_token = api.user("ada@example.com")
    old = key_id(old_token)
    created = run("keys", "rotate", "--data", server.data)
    assert created.returncode == 0, created.stderr
    new = re.search(r"Created (\w+)\.", created.stdout)[1]
    until(lambda: new in published(server.url), "the running server publishes the new key", 20)
    # Verifiers may not have it for an hour, so it doesn't sign yet.
    assert key_id(ok(api.sign_in("ada@example.com"))["idToken"]) == old
    again = run("keys", "rotate", "--data", server.data)
    assert again.returncode == 78 and "signs from" in again.stderr
    listed = run("keys", "list", "--data", server.data).stdout
    assert re.search(rf"{new}\twaiting", listed) and re.search(rf"{old}\tsigning", listed)

    # Skips the hour.
    execute(server.data, "UPDATE signing_key SET signs_from = created_at WHERE key_id = ?", new)
    token = until(
        lambda: (t := ok(api.sign_in("ada@example.com"))["idToken"]) and key_id(t) == new and t,
        "the new key signs", 20)
    assert verify(server.url, token)["email"] == "ada@example.com"
    assert verify(server.url, old_token)["email"] == "ada@example.com"
    ok(api.client(":lookup", {"idToken": old_token}))

    # A key that may be compromised can be retired immediately.
    retired = run("keys", "retire", "--data", server.data, old)
    assert retired.returncode == 0, retired.stderr
    until(lambda: list(published(server.url)) == [new], "the old key is gone", 20)
    refused(api.client(":lookup", {"idToken": old_token}), "INVALID_ID_TOKEN")
    ok(api.client(":lookup", {"idToken": token}))
    last = run("keys", "retire", "--data", server.data, new)
    assert last.returncode == 78 and "Create another first" in last.stderr


def master_keys(server_or_folder):
    folder = getattr(server_or_folder, "data", server_or_folder)
    text = (folder / "master.key").read_text()
    return re.findall(r"countersign-master-key-1 (\w{8}) ", text)


def sealing(folder):
    """Returns the IDs of the master keys that encrypt stored values."""
    boxes = [box for sql in (
        "SELECT sealed_secret FROM factor WHERE sealed_secret IS NOT NULL",
        "SELECT totp_secret FROM administrator WHERE totp_secret IS NOT NULL",
        "SELECT sealed_key FROM signing_key",
        "SELECT sealed_text FROM outbox WHERE sealed_text IS NOT NULL")
        for box, in query(folder, sql)]
    # After `\\x` and the version.
    return {box[4:12] for box in boxes}


def let_an_hour_pass(folder):
    execute(folder, "UPDATE master_key SET first_used_at = first_used_at - 3600000000")


def code_signs_in(api, email, authenticator, offset):
    first = ok(api.sign_in(email))
    ok(api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {
            "verificationCode": authenticator.at(time.time() + offset)}}))


def test_the_master_key_is_rotated_while_the_server_runs(keyed_server):
    server, api = keyed_server
    token = create_token(server.data, "keyed-app", "owner")
    Api(api.url, api.project, api.key, token).switch_totp_on(10)
    _, id_token = api.user("ada@example.com")
    authenticator, _ = api.enroll(id_token)
    [old] = master_keys(server)
    created = run("keys", "rotate-master", "--data", server.data, timeout=90)
    assert created.returncode == 0, created.stderr + created.stdout
    assert "running server" in created.stdout
    new, kept = master_keys(server)
    assert kept == old and sealing(server.data) == {new}
    assert stat.S_IMODE((server.data / "master.key").stat().st_mode) == 0o600
    code_signs_in(api, "ada@example.com", authenticator, 30)
    # New values are encrypted with the new key.
    _, other = api.user("bob@example.com")
    api.enroll(other)
    assert sealing(server.data) == {new}
    listed = run("keys", "list", "--data", server.data).stdout
    assert f"{new}\tmaster, encrypts" in listed and f"{old}\tmaster, decrypts only" in listed

    let_an_hour_pass(server.data)
    until(lambda: master_keys(server) == [new], "the previous key is removed", 30)
    code_signs_in(api, "ada@example.com", authenticator, 60)
    assert server.stop() == 0
    with Server(server.data) as restarted:
        code_signs_in(
            Api(restarted.url, "keyed-app", api.key), "ada@example.com", authenticator, 90)


def test_a_master_key_rotation_resumes_after_a_kill(tmp_path):
    """Uses the demo, which has thousands of factors."""
    folder = tmp_path / "data"
    SAVED.copy(folder)
    [old] = master_keys(folder)
    command = [str(PROGRAM), "keys", "rotate-master", "--data", str(folder)]
    process = subprocess.Popen(
        command, env=environment(words=command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if line.startswith("Re-encrypted "):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    ids = master_keys(folder)
    assert len(ids) == 2 and ids[1] == old
    assert sealing(folder) == set(ids), "the rotation wasn't interrupted"

    again = run("keys", "rotate-master", "--data", folder, timeout=120)
    assert again.returncode == 0, again.stderr
    assert "Continuing it" in again.stdout
    assert master_keys(folder) == ids, "a third key was created"
    assert sealing(folder) == {ids[0]}
    let_an_hour_pass(folder)
    last = run("keys", "rotate-master", "--data", folder, timeout=120)
    assert last.returncode == 0 and "Removed the previous key" in last.stdout
    assert master_keys(folder) == [ids[0]]
    with Server(folder) as server:
        assert httpx.get(server.url + X509).json()


def test_a_rotated_key_from_the_environment_is_printed(tmp_path):
    with Server(tmp_path) as server:
        server.stop()
    key = (tmp_path / "master.key").read_text().strip()
    (tmp_path / "master.key").unlink()
    env = {"COUNTERSIGN_MASTER_KEY": key}
    created = run("keys", "rotate-master", "--data", tmp_path, env=env)
    assert created.returncode == 0, created.stderr
    assert not (tmp_path / "master.key").exists()
    both = created.stdout
    ids = re.findall(r"countersign-master-key-1 (\w{8}) ", both)
    assert len(ids) == 2
    with Server(tmp_path, env={"COUNTERSIGN_MASTER_KEY": both}) as server:
        until(lambda: sealing(tmp_path) == {ids[0]}, "the first key encrypts everything", 30)
        let_an_hour_pass(tmp_path)
        server.wait_for_line(r"(You can remove the others)", 30)
        assert server.stop() == 0
    first = next(line for line in both.splitlines() if ids[0] in line)
    with Server(tmp_path, env={"COUNTERSIGN_MASTER_KEY": first}) as server:
        assert server.stop() == 0
