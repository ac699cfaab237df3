"""The real firebase-admin for Python against the emulator profile: tenants and their users.

The SDK's tenant client ignores the emulator's environment variable. `Sdk.tenants` sets its URL to
the emulator's; the SDK is otherwise unchanged.
"""

import pytest
from firebase_admin import tenant_mgt

from support.rest import claims, ok, refused
from support.sdk import auth, query_of


@pytest.fixture
def tenants(sdk):
    service = sdk.tenants()
    for tenant in service.list_tenants(app=sdk.app).iterate_all():
        service.delete_tenant(tenant.tenant_id, sdk.app)
    return service


def test_tenants_are_created_listed_updated_and_deleted(sdk, tenants):
    created = tenants.create_tenant("acme", allow_password_sign_up=True, app=sdk.app)
    assert created.tenant_id and created.display_name == "acme"
    assert created.allow_password_sign_up and not created.enable_email_link_sign_in
    read = tenants.get_tenant(created.tenant_id, sdk.app)
    assert (read.tenant_id, read.display_name) == (created.tenant_id, "acme")
    changed = tenants.update_tenant(
        created.tenant_id, display_name="acme-two", enable_email_link_sign_in=True, app=sdk.app)
    assert changed.display_name == "acme-two" and changed.enable_email_link_sign_in
    assert changed.allow_password_sign_up, "a member outside the mask changed"
    others = {tenants.create_tenant(f"other-{n}", app=sdk.app).tenant_id for n in range(4)}
    page = tenants.list_tenants(max_results=2, app=sdk.app)
    assert len(page.tenants) == 2 and page.has_next_page
    assert {one.tenant_id for one in page.iterate_all()} == others | {created.tenant_id}
    tenants.delete_tenant(created.tenant_id, sdk.app)
    assert created.tenant_id not in {
        one.tenant_id for one in tenants.list_tenants(app=sdk.app).iterate_all()}


def test_a_tenants_users_are_separate_from_others(sdk, tenants):
    red, blue = (tenants.create_tenant(name, True, True, sdk.app).tenant_id
                 for name in ("red-team", "blue-team"))
    client = tenant_mgt.auth_for_tenant(red, sdk.app)
    user = client.create_user(
        uid="ada", email="ada@example.com", password="bright-swordfish", email_verified=True)
    assert user.tenant_id == red
    other = tenant_mgt.auth_for_tenant(blue, sdk.app)
    for stranger in (other.get_user, lambda uid: auth.get_user(uid, sdk.app)):
        with pytest.raises(auth.UserNotFoundError):
            stranger("ada")
    # Another tenant can have the same uid and email.
    other.create_user(uid="ada", email="ada@example.com", password="another one")
    assert [one.uid for one in client.list_users().iterate_all()] == ["ada"]

    id_token = ok(sdk.in_tenant(red).sign_in("ada@example.com"))["idToken"]
    assert client.verify_id_token(id_token, check_revoked=True)["firebase"]["tenant"] == red
    with pytest.raises(tenant_mgt.TenantIdMismatchError):
        other.verify_id_token(id_token)
    client.set_custom_user_claims("ada", {"captain": True})
    assert claims(ok(sdk.in_tenant(red).sign_in("ada@example.com"))["idToken"])["captain"] is True
    client.delete_user("ada")
    with pytest.raises(auth.UserNotFoundError):
        client.get_user("ada")
    assert other.get_user("ada").uid == "ada"


def test_custom_tokens_links_and_imports_are_limited_to_the_tenant(sdk, tenants):
    red, blue = (tenants.create_tenant(name, True, True, sdk.app).tenant_id
                 for name in ("red-team", "blue-team"))
    client = tenant_mgt.auth_for_tenant(red, sdk.app)
    token = client.create_custom_token("bob").decode()
    session = ok(sdk.in_tenant(red).client(
        ":signInWithCustomToken", {"token": token, "returnSecureToken": True}))
    assert claims(session["idToken"])["firebase"]["tenant"] == red
    refused(sdk.in_tenant(blue).client(":signInWithCustomToken", {"token": token}),
            "TENANT_ID_MISMATCH : Specified tenant ID does not match the custom token.")

    client.update_user("bob", email="bob@example.com", password="bright-swordfish")
    asked = query_of(client.generate_password_reset_link("bob@example.com"))
    assert asked["tenantId"] == red
    code = {"oobCode": asked["oobCode"], "newPassword": "a new password"}
    refused(sdk.in_tenant(blue).client(":resetPassword", code), "INVALID_OOB_CODE")
    ok(sdk.in_tenant(red).client(":resetPassword", code))
    ok(sdk.in_tenant(red).sign_in("bob@example.com", "a new password"))

    record = auth.ImportUserRecord("cyd", email="cyd@example.com")
    assert client.import_users([record]).success_count == 1
    assert client.get_user_by_email("cyd@example.com").tenant_id == red


def test_a_user_of_a_tenant_enrolls_a_second_factor(sdk, tenants):
    """REST turns TOTP on, which the Python SDK can't."""
    red = tenants.create_tenant("red-team", True, app=sdk.app).tenant_id
    api = sdk.in_tenant(red)
    api.switch_totp_on()
    _, id_token = api.user("ada@example.com")
    _, session = api.enroll(id_token)
    decoded = tenant_mgt.auth_for_tenant(red, sdk.app).verify_id_token(
        session["idToken"], check_revoked=True)
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    assert "mfaPendingCredential" in ok(api.sign_in("ada@example.com"))
