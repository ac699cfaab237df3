"""API keys and service tokens: who can call what."""

import httpx
import pytest

from conftest import new_project
from support.program import run
from support.rest import Api, create_token, ok, refused


def test_a_call_without_an_api_key_is_refused(api):
    error = refused(
        api.http.post("/v1/accounts:signUp", json={}),
        "Method doesn't allow unregistered callers", status=403)
    assert error["status"] == "PERMISSION_DENIED"


def test_an_invalid_api_key_is_refused(api):
    answer = api.http.post("/v1/accounts:signUp", params={"key": "wrong"}, json={})
    error = refused(answer, "API key not valid")
    assert error["details"][0]["reason"] == "API_KEY_INVALID"
    assert error["errors"][0]["reason"] == "keyInvalid"


def test_an_api_key_is_accepted_in_the_header(api):
    answer = api.http.post(
        "/v1/accounts:signUp", json={"email": "h@example.com", "password": "bright-swordfish"},
        headers={"X-Goog-Api-Key": api.key})
    assert ok(answer)["email"] == "h@example.com"


def test_an_admin_call_without_a_token_is_refused(api):
    path = f"/v2/projects/{api.project}/config"
    refused(api.http.get(path), "Request is missing required authentication", status=401)
    # Admin calls don't accept an API key.
    refused(api.http.get(path, params={"key": api.key}), "Request is missing", status=401)
    for token in ("wrong", "owner", "ya29.x", api.token[:-1], api.token + "x"):
        answer = api.http.get(path, headers={"Authorization": f"Bearer {token}"})
        refused(answer, "Request had invalid authentication credentials", status=401)


ROLES = {
    "owner": {"config", "change", "lookup", "create", "list"},
    "policy": {"config", "change"},
    "support": {"lookup"},
    "auditor": {"config", "lookup"},
    "application": {"lookup", "create", "list"},
    "connection-read": {"config", "lookup", "list"},
    "connection-support": {"config", "lookup", "create", "list"},
    "connection-policy": {"config", "change", "lookup", "create", "list"},
}


def attempts(api):
    return {
        "config": api.admin("GET", "config", version="v2"),
        "change": api.admin("PATCH", "config", {"mfa": {}}, version="v2",
                            params={"updateMask": "mfa"}),
        "lookup": api.admin("POST", "accounts:lookup", {"localId": ["nobody"]}),
        "create": api.admin("POST", "accounts", {}),
        "list": api.admin("GET", "accounts:batchGet"),
    }


@pytest.mark.parametrize("role", ROLES)
def test_a_role_allows_its_calls_only(standalone, api, role):
    token = create_token(standalone.data, api.project, role)
    answers = attempts(Api(api.url, api.project, api.key, token))
    assert {name for name, answer in answers.items() if answer.status_code == 200} == ROLES[role]
    assert all(answer.status_code in (200, 403) for answer in answers.values())


def test_support_and_auditor_tokens_change_nothing(standalone, api):
    uid = api.sign_up("eve@example.com")["localId"]
    for role in ("support", "auditor"):
        other = Api(api.url, api.project, api.key, create_token(standalone.data, api.project, role))
        refused(other.admin("POST", "accounts:update", {"localId": uid, "mfa": {}}),
                "PERMISSION_DENIED", status=403)
        refused(other.admin("POST", "accounts:delete", {"localId": uid}),
                "PERMISSION_DENIED", status=403)


def test_a_token_is_limited_to_its_scope(standalone, api, owner):
    mine, other = (owner.create_tenant(api.project, name) for name in ("mine", "other"))
    token = create_token(standalone.data, api.project, "owner", tenant=mine)
    elsewhere = new_project(standalone, owner)
    places = {
        (api.project, mine): 200, (api.project, other): 403, (api.project, None): 403,
        (elsewhere.project, None): 403, ("nobody-has-this", None): 403,
    }
    for (project, tenant), status in places.items():
        place = Api(api.url, project, api.key, token, tenant)
        answer = place.admin("POST", "accounts:lookup", {"localId": ["nobody"]})
        assert answer.status_code == status, (project, tenant)


def test_a_revoked_token_is_refused(standalone, api):
    words = ["--data", standalone.data, "--project", api.project]
    listed = run("token", "list", *words).stdout
    id = listed.split("\t")[0]
    assert run("token", "revoke", *words, id).returncode == 0
    answer = api.admin("GET", "config", version="v2")
    refused(answer, "Request had invalid authentication credentials", status=401)


def test_a_user_of_one_tenant_does_not_exist_in_another(api, owner, standalone):
    one, other = (Api(api.url, api.project, api.key, api.token, owner.create_tenant(api.project, n))
                  for n in ("tenant-one", "tenant-two"))
    uid, id_token = one.user("eve@example.com")
    assert "users" not in ok(other.admin("POST", "accounts:lookup", {"localId": [uid]}))
    assert "users" not in ok(api.admin("POST", "accounts:lookup", {"localId": [uid]}))
    refused(other.sign_in("eve@example.com"), "")
    answer = httpx.post(
        f"{api.url}/v1/accounts:lookup", params={"key": api.key},
        json={"idToken": id_token, "tenantId": other.tenant})
    refused(answer, "TENANT_ID_MISMATCH")


def test_an_id_token_of_another_project_is_refused(standalone, api, owner):
    elsewhere = new_project(standalone, owner)
    _, id_token = elsewhere.user("eve@example.com")
    refused(api.client(":lookup", {"idToken": id_token}), "INVALID_ID_TOKEN")
    for forged in (unsigned(id_token), id_token[:-4] + "AAAA", "a.b.c", ""):
        refused(elsewhere.client(":lookup", {"idToken": forged}), "")


def unsigned(token):
    """Returns the same claims without a signature, as the emulator issues them."""
    return "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + token.split(".")[1] + "."
