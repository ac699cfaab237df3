"""The real firebase-admin for Python against the emulator profile: sessions, cookies, and links."""

import datetime
import json
import time

import httpx
import pytest

from support.rest import claims, ok, refused
from support.sdk import auth, query_of
from support.waiting import until

EMAIL = "ada@example.com"
SETTINGS = auth.ActionCodeSettings("https://localhost/after?cart=7&lang=en", True)


@pytest.fixture
def ada(sdk):
    return auth.create_user(
        uid="ada", email=EMAIL, password="bright-swordfish", email_verified=True, app=sdk.app)


def test_revoked_sessions_are_refused(sdk, ada):
    session = ok(sdk.api.sign_in(EMAIL))
    assert auth.verify_id_token(session["idToken"], sdk.app, check_revoked=True)["uid"] == "ada"
    # The SDK compares the second in which the token was issued, which may follow that of the sign-in.
    until(lambda: time.time() >= claims(session["idToken"])["iat"] + 1, "the next second")
    auth.revoke_refresh_tokens("ada", sdk.app)
    user = auth.get_user("ada", sdk.app)
    assert user.tokens_valid_after_timestamp // 1000 > claims(session["idToken"])["auth_time"]
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(session["idToken"], sdk.app, check_revoked=True)
    refused(sdk.api.http.post("/v1/token", params={"key": "k"}, json={
        "grantType": "refresh_token", "refreshToken": session["refreshToken"]}), "TOKEN_EXPIRED")
    again = ok(sdk.api.sign_in(EMAIL))["idToken"]
    assert auth.verify_id_token(again, sdk.app, check_revoked=True)["uid"] == "ada"


def test_the_token_of_a_disabled_user_is_refused(sdk, ada):
    session = ok(sdk.api.sign_in(EMAIL))
    auth.update_user("ada", disabled=True, app=sdk.app)
    with pytest.raises((auth.UserDisabledError, auth.RevokedIdTokenError)):
        auth.verify_id_token(session["idToken"], sdk.app, check_revoked=True)


def test_a_token_of_another_project_is_refused_by_the_sdk(sdk, ada):
    other = sdk.api.http.post(
        "/v1/projects/somewhere-else/accounts", headers={"Authorization": "Bearer owner"},
        json={"email": EMAIL, "password": "bright-swordfish"})
    ok(other)
    session = sdk.api.http.post(
        "/v1/accounts:signInWithPassword", headers={"Authorization": "Bearer owner"},
        json={"email": EMAIL, "password": "bright-swordfish", "returnSecureToken": True,
              "targetProjectId": "somewhere-else"})
    with pytest.raises(auth.InvalidIdTokenError, match="aud"):
        auth.verify_id_token(ok(session)["idToken"], sdk.app)


def test_a_session_cookie_is_created_verified_and_revoked(sdk, ada):
    id_token = ok(sdk.api.sign_in(EMAIL))["idToken"]
    cookie = auth.create_session_cookie(id_token, datetime.timedelta(days=5), sdk.app)
    decoded = auth.verify_session_cookie(cookie, check_revoked=True, app=sdk.app)
    assert decoded["uid"] == "ada" and decoded["email"] == EMAIL
    assert decoded["iss"] == "https://session.firebase.google.com/demo-project"
    assert decoded["exp"] - decoded["iat"] == 5 * 86400
    assert decoded["auth_time"] == claims(id_token)["auth_time"]
    assert decoded["firebase"] == claims(id_token)["firebase"]
    # ID tokens and session cookies aren't interchangeable.
    with pytest.raises(auth.InvalidSessionCookieError):
        auth.verify_session_cookie(id_token, app=sdk.app)
    with pytest.raises(auth.InvalidIdTokenError):
        auth.verify_id_token(cookie, sdk.app)
    refused(sdk.api.client(":lookup", {"idToken": cookie}), "INVALID_ID_TOKEN")
    with pytest.raises(auth.InvalidIdTokenError):
        auth.create_session_cookie("not.a.token", datetime.timedelta(hours=1), sdk.app)
    until(lambda: time.time() >= decoded["iat"] + 1, "the next second")
    auth.revoke_refresh_tokens("ada", sdk.app)
    with pytest.raises(auth.RevokedSessionCookieError):
        auth.verify_session_cookie(cookie, check_revoked=True, app=sdk.app)


def test_a_custom_token_signs_in(sdk):
    auth.create_user(uid="bob", email="bob@example.com", app=sdk.app)
    for uid, new in (("bob", False), ("made-by-the-token", True)):
        token = auth.create_custom_token(uid, {"premium": True}, sdk.app).decode()
        session = ok(sdk.api.client(
            ":signInWithCustomToken", {"token": token, "returnSecureToken": True}))
        assert session["isNewUser"] is new
        assert "localId" not in session and "email" not in session
        decoded = auth.verify_id_token(session["idToken"], sdk.app, check_revoked=True)
        assert decoded["uid"] == uid and decoded["premium"] is True
        assert decoded["firebase"]["sign_in_provider"] == "custom"
        # The token's claims stay with the session.
        refreshed = ok(sdk.api.http.post("/v1/token", params={"key": "k"}, json={
            "grantType": "refresh_token", "refreshToken": session["refreshToken"]}))
        assert claims(refreshed["id_token"])["premium"] is True
    with pytest.raises(auth.InvalidIdTokenError, match="custom token"):
        auth.verify_id_token(token, sdk.app)


# Every claim that the SDK doesn't refuse itself, though tokens have it, with what Ada's tokens say.
OWN = {
    "email": EMAIL, "email_verified": True, "phone_number": None, "provider_id": None,
    "user_id": "ada", "countersign": None,
}
GIVEN = {**dict.fromkeys(OWN, "mallory@example.com"), "plan": "gold"}


def expect_own_values(sdk, token):
    decoded = auth.verify_id_token(token, sdk.app)
    assert {name: decoded.get(name) for name in OWN} == OWN
    assert decoded["plan"] == "gold"


def test_claims_that_the_sdk_allows_are_stored_and_replace_nothing(sdk, ada):
    token = auth.create_custom_token("ada", GIVEN, sdk.app).decode()
    expect_own_values(sdk, ok(sdk.api.client(":signInWithCustomToken", {
        "token": token, "returnSecureToken": True}))["idToken"])
    auth.set_custom_user_claims("ada", GIVEN, sdk.app)
    assert auth.get_user("ada", sdk.app).custom_claims == GIVEN
    expect_own_values(sdk, ok(sdk.api.sign_in(EMAIL))["idToken"])
    record = auth.ImportUserRecord("bob", email="bob@example.com", custom_claims=GIVEN)
    assert auth.import_users([record], app=sdk.app).failure_count == 0
    assert auth.get_user("bob", sdk.app).custom_claims == GIVEN


def test_claims_that_the_sdk_refuses_are_refused_without_it_too(sdk, ada):
    for name in auth._token_gen.RESERVED_CLAIMS:  # pylint: disable=protected-access
        with pytest.raises(ValueError):
            auth.create_custom_token("ada", {name: "x"}, sdk.app)
        refused(sdk.api.admin("POST", "accounts:update", {
            "localId": "ada", "customAttributes": json.dumps({name: "x"})}),
            f"FORBIDDEN_CLAIM : {name}")


def test_a_link_verifies_an_email(sdk):
    auth.create_user(uid="bob", email="bob@example.com", password="bright-swordfish", app=sdk.app)
    link = auth.generate_email_verification_link("bob@example.com", app=sdk.app)
    query = query_of(link)
    assert query["mode"] == "verifyEmail" and query["apiKey"] and query["lang"] == "en"
    assert "tenantId" not in query
    done = ok(sdk.api.client(":update", {"oobCode": query["oobCode"]}))
    assert done["email"] == "bob@example.com" and done["emailVerified"] is True
    assert auth.get_user("bob", sdk.app).email_verified
    refused(sdk.api.client(":update", {"oobCode": query["oobCode"]}), "INVALID_OOB_CODE")


def test_a_link_resets_a_password_also_when_opened_directly(sdk, ada):
    query = query_of(auth.generate_password_reset_link(EMAIL, SETTINGS, app=sdk.app))
    assert query["mode"] == "resetPassword"
    assert query["continueUrl"] == "https://localhost/after?cart=7&lang=en"
    checked = ok(sdk.api.client(":resetPassword", {"oobCode": query["oobCode"]}))
    assert (checked["email"], checked["requestType"]) == (EMAIL, "PASSWORD_RESET")
    link = auth.generate_password_reset_link(EMAIL, app=sdk.app)
    opened = httpx.get(link + "&newPassword=a-new-password")
    assert opened.status_code == 200 and "success" in opened.json()["authEmulator"]
    ok(sdk.api.sign_in(EMAIL, "a-new-password"))
    refused(sdk.api.sign_in(EMAIL, "bright-swordfish"), "INVALID_")


def test_a_link_signs_in(sdk):
    link = auth.generate_sign_in_with_email_link("new@example.com", SETTINGS, sdk.app)
    query = query_of(link)
    assert query["mode"] == "signIn"
    session = ok(sdk.api.client(
        ":signInWithEmailLink", {"email": "new@example.com", "oobCode": query["oobCode"]}))
    decoded = auth.verify_id_token(session["idToken"], sdk.app)
    assert decoded["email"] == "new@example.com" and decoded["email_verified"] is True
    assert auth.get_user(decoded["uid"], sdk.app).email_verified


def test_a_link_for_an_unknown_email_is_refused(sdk):
    with pytest.raises(auth.EmailNotFoundError):
        auth.generate_password_reset_link("nobody@example.com", app=sdk.app)


def test_the_emulator_lists_sent_codes(sdk, ada):
    ok(sdk.api.client(":sendOobCode", {"requestType": "PASSWORD_RESET", "email": EMAIL}))
    url = f"{sdk.server.url}/emulator/v1/projects/demo-project/oobCodes"
    [code] = [code for code in httpx.get(url).json()["oobCodes"] if code["email"] == EMAIL]
    assert code["requestType"] == "PASSWORD_RESET"
    assert query_of(code["oobLink"])["oobCode"] == code["oobCode"]


def test_provider_configurations_are_stored(sdk):
    oidc = auth.create_oidc_provider_config(
        "oidc.acme", "client-id", "https://issuer.example", display_name="Acme", enabled=True,
        app=sdk.app)
    assert (oidc.client_id, oidc.issuer, oidc.enabled) == (
        "client-id", "https://issuer.example", True)
    changed = auth.update_oidc_provider_config("oidc.acme", display_name="Other", app=sdk.app)
    assert (changed.display_name, changed.client_id) == ("Other", "client-id")
    listed = list(auth.list_oidc_provider_configs(app=sdk.app).iterate_all())
    assert [one.provider_id for one in listed] == ["oidc.acme"]
    auth.delete_oidc_provider_config("oidc.acme", app=sdk.app)
    with pytest.raises(auth.ConfigurationNotFoundError):
        auth.get_oidc_provider_config("oidc.acme", app=sdk.app)
    saml = auth.create_saml_provider_config(
        "saml.acme", "IDP_ENTITY", "https://idp.example/sso", ["CERTIFICATE"], "RP_ENTITY",
        "https://app.example/callback", display_name="Acme", enabled=False, app=sdk.app)
    assert auth.get_saml_provider_config("saml.acme", app=sdk.app).idp_entity_id == "IDP_ENTITY"
    assert saml.x509_certificates == ["CERTIFICATE"] and saml.enabled is False
    auth.delete_saml_provider_config("saml.acme", app=sdk.app)
    with pytest.raises(auth.ConfigurationNotFoundError):
        auth.get_saml_provider_config("saml.acme", app=sdk.app)
