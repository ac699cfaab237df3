"""The real firebase-admin for Python against the emulator profile: users and their claims."""

import pytest
from firebase_admin import exceptions

from support.rest import claims, ok, refused
from support.sdk import auth

ADA = {"uid": "ada", "email": "ada@example.com", "phone_number": "+15551230001",
       "display_name": "Ada Lovelace", "photo_url": "https://example.com/ada.png",
       "password": "bright-swordfish", "email_verified": True}


def test_a_user_is_created_and_found_by_every_identifier(sdk):
    created = auth.create_user(app=sdk.app, **ADA)
    for user in (created, auth.get_user("ada", sdk.app),
                 auth.get_user_by_email("ADA@example.com", sdk.app),
                 auth.get_user_by_phone_number("+15551230001", sdk.app)):
        assert (user.uid, user.email, user.phone_number) == ("ada", ADA["email"], "+15551230001")
        assert (user.display_name, user.photo_url) == ("Ada Lovelace", ADA["photo_url"])
        assert user.email_verified and not user.disabled and user.tenant_id is None
        assert {one.provider_id for one in user.provider_data} == {"password", "phone"}
        assert user.user_metadata.creation_timestamp > 1_700_000_000_000
        assert user.user_metadata.last_sign_in_timestamp is None
        assert user.custom_claims is None
    id_token = ok(sdk.api.sign_in(ADA["email"]))["idToken"]
    assert auth.verify_id_token(id_token, sdk.app)["uid"] == "ada"
    assert auth.get_user("ada", sdk.app).user_metadata.last_sign_in_timestamp > 1_700_000_000_000


def test_a_user_is_created_without_attributes(sdk):
    user = auth.create_user(app=sdk.app)
    assert len(user.uid) == 28
    assert user.provider_data == [] and user.email is None and not user.email_verified


def test_users_are_found_by_a_list_of_identifiers(sdk):
    auth.create_user(app=sdk.app, **ADA)
    auth.create_user(uid="bob", email="bob@example.com", app=sdk.app)
    auth.create_user(uid="cyd", phone_number="+15551230003", app=sdk.app)
    record = auth.ImportUserRecord("dan", email="dan@example.com", provider_data=[
        auth.UserProvider("dans-google-id", "google.com", email="dan@gmail.example")])
    assert auth.import_users([record], app=sdk.app).failure_count == 0
    asked = [auth.UidIdentifier("ada"), auth.EmailIdentifier("bob@example.com"),
             auth.PhoneIdentifier("+15551230003"),
             auth.ProviderIdentifier("google.com", "dans-google-id"),
             auth.UidIdentifier("nobody"), auth.ProviderIdentifier("google.com", "nobody")]
    found = auth.get_users(asked, sdk.app)
    assert sorted(user.uid for user in found.users) == ["ada", "bob", "cyd", "dan"]
    assert found.not_found == asked[4:]
    [dan] = [user for user in found.users if user.uid == "dan"]
    [google] = [one for one in dan.provider_data if one.provider_id == "google.com"]
    assert (google.uid, google.email) == ("dans-google-id", "dan@gmail.example")


def test_an_update_changes_only_the_given_attributes(sdk):
    auth.create_user(app=sdk.app, **ADA)
    user = auth.update_user(
        "ada", email="countess@example.com", display_name="Countess", disabled=True, app=sdk.app)
    assert (user.email, user.display_name, user.disabled) == (
        "countess@example.com", "Countess", True)
    assert (user.phone_number, user.photo_url) == (ADA["phone_number"], ADA["photo_url"])
    refused(sdk.api.sign_in("countess@example.com"), "USER_DISABLED")
    user = auth.update_user(
        "ada", disabled=False, password="a new password", email_verified=True,
        display_name=auth.DELETE_ATTRIBUTE, photo_url=auth.DELETE_ATTRIBUTE,
        phone_number=auth.DELETE_ATTRIBUTE, app=sdk.app)
    assert (user.display_name, user.photo_url, user.phone_number) == (None, None, None)
    assert [one.provider_id for one in user.provider_data] == ["password"]
    ok(sdk.api.sign_in("countess@example.com", "a new password"))


def test_users_are_listed_in_pages(sdk):
    ids = [f"user-{n:02}" for n in range(25)]
    for id in ids:
        auth.create_user(uid=id, app=sdk.app)
    page = auth.list_users(max_results=10, app=sdk.app)
    assert len(page.users) == 10 and page.has_next_page
    assert [user.uid for user in page.iterate_all()] == ids
    assert [user.uid for user in auth.list_users(app=sdk.app).iterate_all()] == ids


def test_users_are_deleted(sdk):
    for id in ("one", "two", "three"):
        auth.create_user(uid=id, app=sdk.app)
    auth.delete_user("one", sdk.app)
    with pytest.raises(auth.UserNotFoundError):
        auth.get_user("one", sdk.app)
    with pytest.raises(auth.UserNotFoundError):
        auth.delete_user("one", sdk.app)
    # The SDK sets `force`, so users don't have to be disabled first; unknown ones count as deleted.
    result = auth.delete_users(["one", "two", "three", "nobody"], sdk.app)
    assert (result.success_count, result.failure_count) == (4, 0)
    assert auth.list_users(app=sdk.app).users == []


def test_custom_claims_are_in_the_next_token(sdk):
    auth.create_user(app=sdk.app, **ADA)
    auth.set_custom_user_claims("ada", {"admin": True, "teams": ["red", "blue"]}, sdk.app)
    assert auth.get_user("ada", sdk.app).custom_claims == {"admin": True, "teams": ["red", "blue"]}
    decoded = auth.verify_id_token(ok(sdk.api.sign_in(ADA["email"]))["idToken"], sdk.app)
    assert decoded["admin"] is True and decoded["teams"] == ["red", "blue"]
    auth.set_custom_user_claims("ada", None, sdk.app)
    assert auth.get_user("ada", sdk.app).custom_claims is None
    assert "admin" not in claims(ok(sdk.api.sign_in(ADA["email"]))["idToken"])


@pytest.mark.parametrize("change,error", [
    ({"uid": "bob", "email": "ada@example.com"}, auth.EmailAlreadyExistsError),
    ({"uid": "ada"}, auth.UidAlreadyExistsError),
    ({"phone_number": "+15551230001"}, auth.PhoneNumberAlreadyExistsError),
])
def test_a_conflict_raises_the_sdks_error(sdk, change, error):
    auth.create_user(app=sdk.app, **ADA)
    with pytest.raises(error):
        auth.create_user(app=sdk.app, **change)


def test_an_unknown_user_raises_the_sdks_error(sdk):
    for call in (lambda: auth.get_user("nobody", sdk.app),
                 lambda: auth.get_user_by_email("nobody@example.com", sdk.app),
                 lambda: auth.update_user("nobody", email_verified=True, app=sdk.app)):
        with pytest.raises(auth.UserNotFoundError):
            call()
    with pytest.raises(exceptions.InvalidArgumentError, match="WEAK_PASSWORD|at least 6"):
        sdk.app and refused_by_the_server(sdk)


def refused_by_the_server(sdk):
    # The SDK refuses short passwords itself, so its check is replaced.
    from firebase_admin import _auth_utils
    kept, _auth_utils.validate_password = _auth_utils.validate_password, lambda text, *_: text
    try:
        auth.create_user(email="short@example.com", password="short", app=sdk.app)
    finally:
        _auth_utils.validate_password = kept
