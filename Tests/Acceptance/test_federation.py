"""Federated sign-in: tokens signed by PyJWT and by firebase-admin, as backends and identity
providers sign them."""

import base64
import hashlib
import json
import time
from urllib.parse import urlencode

import firebase_admin
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from firebase_admin import auth, credentials

from support.program import run
from support.rest import claims, ok, refused

AUDIENCE = (
    "https://identitytoolkit.googleapis.com/"
    "google.identity.identitytoolkit.v1.IdentityToolkit")
BACK_END = "back-end@acme.example"


def new_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.fixture(scope="module")
def key():
    return new_key()


def custom_token(key, algorithm="RS256", headers=None, **more):
    now = int(time.time())
    payload = {
        "iss": BACK_END, "sub": BACK_END, "aud": AUDIENCE, "iat": now, "exp": now + 3600,
        "uid": "user-1", **more}
    return jwt.encode(
        {name: value for name, value in payload.items() if value is not None}, key, algorithm,
        headers=headers)


def register(server, project, key, *more):
    answer = run(
        "token-key", "add", "--data", server.data, "--project", project, "--issuer", BACK_END, *more,
        input=pem(key))
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()[1].strip(",")


def sign_in(api, token):
    return api.client(":signInWithCustomToken", {"token": token, "returnSecureToken": True})


def test_a_custom_token_of_a_back_end_signs_in(standalone, api, key):
    register(standalone, api.project, key)
    answer = ok(sign_in(api, custom_token(key, claims={"plan": "gold"})))
    assert answer["isNewUser"] is True
    token = claims(answer["idToken"])
    assert (token["sub"], token["plan"]) == ("user-1", "gold")
    assert token["firebase"]["sign_in_provider"] == "custom"
    refreshed = ok(api.http.post("/v1/token", params={"key": api.key}, data={
        "grant_type": "refresh_token", "refresh_token": answer["refreshToken"]}))
    assert claims(refreshed["id_token"])["plan"] == "gold"


def test_keys_are_listed_and_revoked_on_the_command_line(standalone, api, key):
    signer = register(standalone, api.project, key, "--key-id", "k1")
    again = run(
        "token-key", "add", "--data", standalone.data, "--project", api.project, "--issuer", BACK_END,
        input=pem(key))
    assert again.returncode == 78 and "already registered" in again.stderr
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()).decode()
    refusal = run(
        "token-key", "add", "--data", standalone.data, "--project", api.project, "--issuer", BACK_END,
        input=private)
    assert refusal.returncode == 78 and "private key" in refusal.stderr
    listed = run("token-key", "list", "--data", standalone.data, "--project", api.project).stdout
    assert signer in listed and "k1" in listed and "active" in listed
    ok(sign_in(api, custom_token(key, headers={"kid": "k1"})))
    assert run(
        "token-key", "revoke", "--data", standalone.data, "--project", api.project, signer
    ).returncode == 0
    refused(sign_in(api, custom_token(key)), "CREDENTIAL_MISMATCH")


def invalid_tokens(key):
    now = int(time.time())
    good = custom_token(key)
    head, payload, signature = good.split(".")
    other = base64.urlsafe_b64encode(json.dumps({"uid": "root"}).encode()).decode().rstrip("=")
    return {
        "another key": custom_token(new_key()),
        "no signature": custom_token(None, "none"),
        "a removed signature": f"{head}.{payload}.",
        "another payload": f"{head}.{other}.{signature}",
        "the public key as an HMAC secret": hmac_token(key),
        "an elliptic curve": custom_token(ec.generate_private_key(ec.SECP256R1()), "ES256"),
        "a longer digest": custom_token(key, "RS512"),
        "expired": custom_token(key, iat=now - 7200, exp=now - 3600),
        "issued in the future": custom_token(key, iat=now + 86400, exp=now + 86400 + 60),
        "valid for two hours": custom_token(key, exp=now + 7201),
        "another audience": custom_token(key, aud="https://example.com"),
        "another subject": custom_token(key, sub="x@acme.example"),
        "without an expiration": custom_token(key, exp=None),
        "huge": custom_token(key, claims={"a": "x" * 20_000}),
        "plain JSON": json.dumps({"uid": "root"}),
        "empty": "..",
    }


def hmac_token(key):
    """Returns a token for verifiers that trust the header: HS256, keyed with the public key."""
    import hmac

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    now = int(time.time())
    text = part({"alg": "HS256", "typ": "JWT"}) + b"." + part({
        "iss": BACK_END, "sub": BACK_END, "aud": AUDIENCE, "iat": now, "exp": now + 60,
        "uid": "root"})
    mac = hmac.new(pem(key).encode(), text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


def test_an_invalid_custom_token_is_refused(standalone, api, key):
    register(standalone, api.project, key)
    ok(sign_in(api, custom_token(key)))
    for name, token in invalid_tokens(key).items():
        answer = sign_in(api, token)
        assert answer.status_code == 400, name
        assert answer.json()["error"]["message"].startswith("INVALID_CUSTOM_TOKEN : "), name
    refused(sign_in(api, custom_token(key, claims={"sub": "root"})), "FORBIDDEN_CLAIM : sub")
    refused(sign_in(api, custom_token(key, tenant_id="t")), "TENANT_ID_MISMATCH")
    lookup = ok(api.admin("POST", "accounts:lookup", {"localId": ["root"]}))
    assert "users" not in lookup


def test_a_key_is_not_valid_for_another_project(standalone, api, owner, key):
    from conftest import new_project

    register(standalone, api.project, key)
    elsewhere = new_project(standalone, owner)
    refused(sign_in(elsewhere, custom_token(key)), "CREDENTIAL_MISMATCH")


def test_a_custom_token_of_the_admin_sdk_signs_in(standalone, api, key):
    register(standalone, api.project, key)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()).decode()
    app = firebase_admin.initialize_app(credentials.Certificate({
        "type": "service_account", "project_id": api.project, "private_key_id": "k1",
        "private_key": private, "client_email": BACK_END, "client_id": "1",
        "token_uri": "https://oauth2.googleapis.com/token"}), name=f"tokens-{api.project}")
    try:
        token = auth.create_custom_token("user-2", {"plan": "silver"}, app=app)
    finally:
        firebase_admin.delete_app(app)
    answer = ok(sign_in(api, token.decode()))
    assert claims(answer["idToken"])["sub"] == "user-2"
    assert claims(answer["idToken"])["plan"] == "silver"


# OpenID Connect providers

ISSUER = "https://login.acme.example"


def configure(api, keys, **more):
    return ok(api.admin(
        "POST", "oauthIdpConfigs", {
            "displayName": "Acme login", "enabled": True, "issuer": ISSUER, "clientId": "client-1",
            "jwks": keys, **more},
        version="v2", params={"oauthIdpConfigId": "oidc.acme"}))


def id_token(key, algorithm="RS256", headers=None, **more):
    now = int(time.time())
    return jwt.encode({
        "iss": ISSUER, "aud": "client-1", "sub": "u1", "iat": now, "exp": now + 600,
        "email": "ann@example.com", "email_verified": True, **more}, key, algorithm,
        headers=headers)


def by_provider(api, token, provider="oidc.acme", **more):
    form = {"id_token": token, "providerId": provider, **more.pop("form", {})}
    return api.client(":signInWithIdp", {
        "postBody": urlencode(form), "requestUri": "http://localhost", "returnSecureToken": True,
        "returnIdpCredential": True, **more})


def test_an_id_token_of_a_provider_signs_in(tenant_api, key):
    configure(tenant_api, {"keys": [
        {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": "r1"}]})
    answer = ok(by_provider(tenant_api, id_token(key, headers={"kid": "r1"})))
    assert answer["isNewUser"] is True
    assert answer["tenantId"] == tenant_api.tenant
    token = claims(answer["idToken"])
    assert token["firebase"]["sign_in_provider"] == "oidc.acme"
    assert token["firebase"]["identities"]["oidc.acme"] == ["u1"]
    found = ok(tenant_api.admin("POST", "accounts:lookup", {
        "federatedUserId": [{"providerId": "oidc.acme", "rawId": "u1"}]}))
    assert found["users"][0]["localId"] == answer["localId"]


def test_a_provider_can_sign_with_an_elliptic_curve_key(api):
    key = ec.generate_private_key(ec.SECP256R1())
    kept = configure(api, pem(key))
    assert kept["jwks"]["keys"][0]["crv"] == "P-256"
    ok(by_provider(api, id_token(key, "ES256")))
    refused(
        by_provider(api, id_token(ec.generate_private_key(ec.SECP256R1()), "ES256")),
        "INVALID_IDP_RESPONSE")


def test_the_nonce_must_match_the_token(api, key):
    configure(api, pem(key))
    token = id_token(key, nonce=hashlib.sha256(b"raw").hexdigest())
    refused(by_provider(api, token), "MISSING_OR_INVALID_NONCE")
    refused(by_provider(api, token, form={"nonce": "other"}), "MISSING_OR_INVALID_NONCE")
    ok(by_provider(api, token, form={"nonce": "raw"}))


def test_an_invalid_id_token_of_a_provider_is_refused(api, key):
    configure(api, pem(key))
    now = int(time.time())
    for name, token in {
        "another key": id_token(new_key()), "no signature": id_token(None, "none"),
        "another issuer": id_token(key, iss="https://evil.example"),
        "another client": id_token(key, aud="client-2"),
        "expired": id_token(key, exp=now - 120),
        "issued in the future": id_token(key, iat=now + 86_400, exp=now + 90_000),
        "plain JSON": json.dumps({"sub": "u1"}),
    }.items():
        answer = by_provider(api, token)
        assert answer.status_code == 400, name
        assert answer.json()["error"]["message"].startswith("INVALID_IDP_RESPONSE : "), name
    refused(by_provider(api, id_token(key), provider="google.com"), "OPERATION_NOT_ALLOWED")
    answer = by_provider(api, id_token(key), provider="saml.acme")
    refused(answer, "NOT_IMPLEMENTED", status=501)


def test_a_federated_sign_in_requires_the_second_factor(api, key):
    api.switch_totp_on()
    configure(api, pem(key))
    uid, token = api.user("ann@example.com")
    authenticator, _ = api.enroll(token)
    answer = ok(by_provider(api, id_token(key)))
    assert answer["localId"] == uid
    assert "idToken" not in answer and answer["mfaInfo"][0]["displayName"] == "Phone"
    # The next interval's code: the enrollment used the current one.
    code = authenticator.at(int(time.time()) + 30)
    done = ok(api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": answer["mfaPendingCredential"],
        "mfaEnrollmentId": answer["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": code}}))
    assert claims(done["idToken"])["firebase"]["sign_in_second_factor"] == "totp"
