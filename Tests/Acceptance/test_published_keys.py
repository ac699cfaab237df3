"""Verifies tokens with the published keys only, using PyJWT and cryptography."""

import time

import httpx
import jwt
import pytest
from cryptography.x509 import load_pem_x509_certificate

from conftest import new_project
from support.rest import ok

ACCOUNT = "securetoken@system.gserviceaccount.com"
TOKEN_KEYS = [
    f"/www.googleapis.com/service_accounts/v1/jwk/{ACCOUNT}",
    f"/service_accounts/v1/jwk/{ACCOUNT}",
]
TOKEN_CERTIFICATES = [
    f"/www.googleapis.com/robot/v1/metadata/x509/{ACCOUNT}", f"/robot/v1/metadata/x509/{ACCOUNT}",
]
COOKIE_CERTIFICATES = [
    "/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys",
    "/identitytoolkit.googleapis.com/v1/publicKeys",
]
COOKIE_KEYS = ["/identitytoolkit.googleapis.com/v1/sessionCookiePublicKeys",
               "/v1/sessionCookiePublicKeys"]


def by_key_set(url, token, **more):
    key = jwt.PyJWKClient(url).get_signing_key_from_jwt(token)
    return jwt.decode(token, key.key, algorithms=["RS256"], **more)


def by_certificate(url, token, **more):
    answer = httpx.get(url)
    assert "max-age" in answer.headers["cache-control"]
    certificate = load_pem_x509_certificate(
        answer.json()[jwt.get_unverified_header(token)["kid"]].encode())
    now = time.time()
    assert certificate.not_valid_before_utc.timestamp() <= now
    assert certificate.not_valid_after_utc.timestamp() > now
    return jwt.decode(token, certificate.public_key(), algorithms=["RS256"], **more)


@pytest.fixture
def id_token(api):
    api.switch_totp_on()
    _, id_token = api.user("ada@example.com")
    _, session = api.enroll(id_token)
    return session["idToken"]


@pytest.mark.parametrize("path", TOKEN_KEYS + TOKEN_CERTIFICATES)
def test_an_id_token_verifies(api, id_token, path):
    check = by_key_set if path in TOKEN_KEYS else by_certificate
    decoded = check(api.url + path, id_token, audience=api.project,
                    issuer=f"https://securetoken.google.com/{api.project}",
                    options={"require": ["exp", "iat", "sub", "aud", "iss"]})
    assert decoded["exp"] == decoded["iat"] + 3600 and decoded["auth_time"] <= decoded["iat"]
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    # It isn't valid for another project.
    with pytest.raises(jwt.InvalidAudienceError):
        check(api.url + path, id_token, audience="another-project")


def test_an_id_token_verifies_through_discovery(api, id_token):
    document = httpx.get(f"{api.url}/{api.project}/.well-known/openid-configuration").json()
    decoded = by_key_set(document["jwks_uri"], id_token, audience=api.project,
                         issuer=document["issuer"])
    assert decoded["email"] == "ada@example.com"


@pytest.mark.parametrize("path", COOKIE_CERTIFICATES + COOKIE_KEYS)
def test_a_session_cookie_verifies(api, id_token, path):
    answer = api.http.post(
        f"/v1/projects/{api.project}:createSessionCookie",
        headers={"Authorization": f"Bearer {api.token}"},
        json={"idToken": id_token, "validDuration": "86400"})
    cookie = ok(answer)["sessionCookie"]
    check = by_key_set if path in COOKIE_KEYS else by_certificate
    decoded = check(api.url + path, cookie, audience=api.project,
                    issuer=f"https://session.firebase.google.com/{api.project}")
    assert decoded["exp"] == decoded["iat"] + 86400
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    # It isn't accepted as an ID token.
    assert api.client(":lookup", {"idToken": cookie}).json()["error"]["message"].startswith(
        "INVALID_ID_TOKEN")


def test_a_token_is_valid_for_one_project_only(standalone, api, owner, id_token):
    """All projects share the signing keys; the audience distinguishes them."""
    other = new_project(standalone, owner)
    answer = other.http.post("/v1/accounts:lookup", params={"key": other.key},
                             json={"idToken": id_token})
    assert answer.json()["error"]["message"].startswith("INVALID_ID_TOKEN")


def test_a_changed_token_does_not_verify(api, id_token):
    head, body, signature = id_token.split(".")
    forged = ".".join([head, body[:-2] + ("AA" if body[-2:] != "AA" else "BB"), signature])
    for path in TOKEN_KEYS[:1]:
        with pytest.raises((jwt.InvalidSignatureError, jwt.DecodeError)):
            by_key_set(api.url + path, forged, audience=api.project)
    refused = api.client(":lookup", {"idToken": forged})
    assert refused.json()["error"]["message"].startswith("INVALID_ID_TOKEN")
