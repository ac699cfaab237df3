"""Google's API client for Python, generated from Google's description of the service, against the
standalone profile: only the URL and the token are ours."""

import json
import time

import httplib2
import pyotp
import pytest
from google.auth.exceptions import RefreshError
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

from support.rest import claims, create_token


def service(api, version, token=None, key=None):
    """Builds the service from a discovery document included in the client."""
    path = "/www.googleapis.com/identitytoolkit/v3/relyingparty/" if version == "v3" else "/"
    return build(
        "identitytoolkit", version, client_options={"api_endpoint": api.url + path},
        static_discovery=True, developerKey=key,
        **({"http": httplib2.Http(timeout=60)} if key else {"credentials": Credentials(token)}))


@pytest.fixture
def v2(api):
    return service(api, "v2", api.token)


def message_of(error):
    return json.loads(error.value.content)["error"]["message"]


MFA = [
    {"state": "ENABLED", "enabledProviders": ["PHONE_SMS"], "providerConfigs": [
        {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 3}}]},
    {"state": "MANDATORY", "providerConfigs": [
        {"state": "MANDATORY", "totpProviderConfig": {"adjacentIntervals": 10}}]},
    {"state": "DISABLED", "providerConfigs": [{"state": "DISABLED", "totpProviderConfig": {}}]},
    {"state": "DISABLED"},
]


@pytest.mark.parametrize("mfa", MFA, ids=[one["state"] + str(n) for n, one in enumerate(MFA)])
def test_a_projects_mfa_is_read_back_as_written(api, v2, mfa):
    name = f"projects/{api.project}/config"
    changed = v2.projects().updateConfig(name=name, updateMask="mfa", body={"mfa": mfa}).execute()
    read = v2.projects().getConfig(name=name).execute()
    assert changed["mfa"] == read["mfa"] == mfa
    assert read["subtype"] == "IDENTITY_PLATFORM" and read["name"].endswith("/config")


def test_other_members_of_a_config_are_read_back_as_written(api, v2):
    name = f"projects/{api.project}/config"
    before = v2.projects().getConfig(name=name).execute()
    body = {
        "signIn": {"email": {"enabled": True, "passwordRequired": False},
                   "phoneNumber": {"enabled": True, "testPhoneNumbers": {"+15551230001": "123456"}},
                   "anonymous": {"enabled": True}},
        "authorizedDomains": ["localhost", "shop.example"],
        "emailPrivacyConfig": {"enableImprovedEmailPrivacy": True},
        "smsRegionConfig": {"allowlistOnly": {"allowedRegions": ["DE", "FR"]}},
        "passwordPolicyConfig": {
            "passwordPolicyEnforcementState": "ENFORCE",
            "passwordPolicyVersions": [{"customStrengthOptions": {"minPasswordLength": 9}}]},
        "client": {"permissions": {"disabledUserSignup": True}},
    }
    mask = ("signIn.email,signIn.phoneNumber,signIn.anonymous,authorizedDomains,"
            "emailPrivacyConfig.enableImprovedEmailPrivacy,smsRegionConfig,passwordPolicyConfig,"
            "client.permissions.disabledUserSignup")
    v2.projects().updateConfig(name=name, updateMask=mask, body=body).execute()
    read = v2.projects().getConfig(name=name).execute()
    # False values are omitted.
    del body["signIn"]["email"]["passwordRequired"]
    assert contains(read, body), read
    assert read["mfa"] == before["mfa"]
    # Setting one member of a oneof clears the other.
    v2.projects().updateConfig(
        name=name, updateMask="smsRegionConfig.allowByDefault.disallowedRegions",
        body={"smsRegionConfig": {"allowByDefault": {"disallowedRegions": ["US"]}}}).execute()
    read = v2.projects().getConfig(name=name).execute()
    assert read["smsRegionConfig"] == {"allowByDefault": {"disallowedRegions": ["US"]}}


def contains(whole, part):
    """Returns whether a value contains a part."""
    if isinstance(part, dict):
        return all(name in whole and contains(whole[name], value) for name, value in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return whole == part


@pytest.mark.parametrize("intervals", [-1, 11])
def test_a_window_out_of_range_is_refused(api, v2, intervals):
    mfa = {"providerConfigs": [
        {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": intervals}}]}
    with pytest.raises(HttpError) as error:
        v2.projects().updateConfig(
            name=f"projects/{api.project}/config", updateMask="mfa", body={"mfa": mfa}).execute()
    assert error.value.status_code == 400
    assert message_of(error) == (
        "INVALID_ADJACENT_INTERVAL_RANGE : Allowed number of adjacent intervals must be between "
        "0 and 10, inclusive")


def test_tenants_are_created_listed_updated_and_deleted(api, v2):
    parent = f"projects/{api.project}"
    tenants = v2.projects().tenants()
    api_config = {"multiTenant": {"allowTenants": True}}
    v2.projects().updateConfig(
        name=f"{parent}/config", updateMask="multiTenant.allowTenants", body=api_config).execute()
    created = tenants.create(parent=parent, body={
        "displayName": "acme", "allowPasswordSignup": True, "mfaConfig": MFA[0],
        "testPhoneNumbers": {"+15551230001": "123456"}}).execute()
    id = created["name"].rsplit("/", 1)[1]
    assert id.startswith("acme-") and created["mfaConfig"] == MFA[0]
    # The name, which has the number of the project, is the address of what was returned.
    name = created["name"]
    assert name != f"{parent}/tenants/{id}"
    assert tenants.get(name=name).execute()["testPhoneNumbers"] == {"+15551230001": "123456"}
    for mfa in MFA[1:]:
        changed = tenants.patch(
            name=name, updateMask="mfaConfig", body={"mfaConfig": mfa}).execute()
        assert changed["mfaConfig"] == mfa == tenants.get(name=name).execute()["mfaConfig"]
        assert changed["allowPasswordSignup"] is True
    # As with Node's mask: only the given members, and whole lists.
    one = {"providerConfigs": [{"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 1}}]}
    changed = tenants.patch(
        name=name, updateMask="mfaConfig.providerConfigs", body={"mfaConfig": one}).execute()
    assert changed["mfaConfig"] == {"state": "DISABLED", **one}

    others = [tenants.create(parent=parent, body={"displayName": f"other-{n}"}).execute()["name"]
              for n in range(3)]
    listed, request = [], tenants.list(parent=parent, pageSize=2)
    while request is not None:
        page = request.execute()
        listed += [tenant["name"] for tenant in page.get("tenants", [])]
        request = tenants.list_next(request, page)
    assert sorted(others + [created["name"]]) == listed
    assert tenants.delete(name=name).execute() == {}
    with pytest.raises(HttpError) as error:
        tenants.get(name=name).execute()
    assert error.value.status_code == 404 and message_of(error).startswith("TENANT_NOT_FOUND")
    for body in ({"displayName": "1st"}, {"displayName": "has space"}, {}):
        with pytest.raises(HttpError) as error:
            tenants.create(parent=parent, body=body).execute()
        assert "DISPLAY_NAME" in message_of(error)


def test_a_returned_name_is_the_address_of_its_resource(api, v2):
    config = v2.projects().getConfig(name=f"projects/{api.project}/config").execute()
    changed = v2.projects().updateConfig(
        name=config["name"], updateMask="authorizedDomains",
        body={"authorizedDomains": ["shop.example"]}).execute()
    assert changed["authorizedDomains"] == ["shop.example"]
    assert v2.projects().getConfig(name=config["name"]).execute() == changed

    providers = v2.projects().oauthIdpConfigs()
    created = providers.create(
        parent=f"projects/{api.project}", oauthIdpConfigId="oidc.acme",
        body={"clientId": "client", "issuer": "https://oidc.example"}).execute()
    changed = providers.patch(
        name=created["name"], updateMask="displayName", body={"displayName": "Acme"}).execute()
    assert changed == {**created, "displayName": "Acme"}
    assert providers.get(name=created["name"]).execute() == changed
    assert providers.delete(name=created["name"]).execute() == {}
    with pytest.raises(HttpError) as error:
        providers.get(name=created["name"]).execute()
    assert error.value.status_code == 404


def test_a_tokens_role_is_enforced(standalone, api):
    name = f"projects/{api.project}/config"
    application = service(api, "v2", create_token(standalone.data, api.project, "application"))
    with pytest.raises(HttpError) as error:
        application.projects().getConfig(name=name).execute()
    assert error.value.status_code == 403
    # After a 401, the client tries to refresh the token and can't.
    with pytest.raises(RefreshError):
        service(api, "v2", "not-a-token").projects().getConfig(name=name).execute()


def test_a_users_lifecycle_works_with_the_described_service(api, v2):
    """Uses version 1 for the account and version 2 for the factor, with an API key."""
    name = f"projects/{api.project}/config"
    v2.projects().updateConfig(name=name, updateMask="mfa", body={"mfa": MFA[1]}).execute()
    accounts = service(api, "v1", key=api.key).accounts()
    factors = service(api, "v2", key=api.key).accounts()
    admin = service(api, "v1", api.token).projects().accounts()
    user = {"email": "ada@example.com", "password": "bright-swordfish", "returnSecureToken": True}

    uid = accounts.signUp(body=user).execute()["localId"]
    admin.update(targetProjectId=api.project,
                 body={"localId": uid, "emailVerified": True}).execute()
    id_token = accounts.signInWithPassword(body=user).execute()["idToken"]
    started = factors.mfaEnrollment().start(
        body={"idToken": id_token, "totpEnrollmentInfo": {}}).execute()["totpSessionInfo"]
    totp = pyotp.TOTP(started["sharedSecretKey"])
    session = factors.mfaEnrollment().finalize(body={
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": started["sessionInfo"], "verificationCode": totp.now()}}).execute()
    first = accounts.signInWithPassword(body=user).execute()
    [factor] = first["mfaInfo"]
    second = factors.mfaSignIn().finalize(body={
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": factor["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": totp.at(time.time() + 30)}}).execute()
    assert claims(second["idToken"])["firebase"]["sign_in_second_factor"] == "totp"
    [shown] = admin.lookup(
        targetProjectId=api.project, body={"localId": [uid]}).execute()["users"]
    assert shown["mfaInfo"] == [factor] and shown["emailVerified"] is True
    withdrawn = factors.mfaEnrollment().withdraw(body={
        "idToken": second["idToken"], "mfaEnrollmentId": factor["mfaEnrollmentId"]}).execute()
    assert "sign_in_second_factor" not in claims(withdrawn["idToken"])["firebase"]
    with pytest.raises(HttpError) as error:
        accounts.lookup(body={"idToken": session["idToken"]}).execute()
    assert message_of(error) == "TOKEN_EXPIRED"
    listed = admin.batchGet(targetProjectId=api.project, maxResults=10).execute()
    assert [one["localId"] for one in listed["users"]] == [uid]
    assert admin.delete(targetProjectId=api.project, body={"localId": uid}).execute()["kind"]


def test_the_calls_of_version_3_work_as_described(api):
    """iOS and the import and export commands still use version 3."""
    party = service(api, "v3", key=api.key).relyingparty()
    admin = service(api, "v3", api.token).relyingparty()
    user = {"email": "ada@example.com", "password": "bright-swordfish", "returnSecureToken": True}
    uid = party.signupNewUser(body=user).execute()["localId"]
    session = party.verifyPassword(body=user).execute()
    [shown] = party.getAccountInfo(body={"idToken": session["idToken"]}).execute()["users"]
    assert shown["localId"] == uid
    changed = party.setAccountInfo(
        body={"idToken": session["idToken"], "displayName": "Ada"}).execute()
    assert changed["displayName"] == "Ada"
    assert party.getProjectConfig().execute()["projectId"]
    assert party.getPublicKeys().execute()
    uploaded = admin.uploadAccount(body={
        "targetProjectId": api.project,
        "users": [{"localId": "bob", "email": "bob@example.com"}]}).execute()
    assert "error" not in uploaded
    down = admin.downloadAccount(
        body={"targetProjectId": api.project, "maxResults": 10}).execute()
    assert {one["localId"] for one in down["users"]} == {uid, "bob"}
    with pytest.raises(HttpError) as error:
        admin.downloadAccount(body={"maxResults": 10}).execute()
    assert message_of(error).startswith("INSUFFICIENT_PERMISSION")
    assert party.deleteAccount(body={"idToken": session["idToken"]}).execute()["kind"]
