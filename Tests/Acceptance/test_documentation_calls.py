"""The calls from Google's documentation, run with curl; only host, IDs, and token are replaced."""

import json
import subprocess

import pytest

from support.rest import ok

PROJECT = """
curl -X PATCH "https://identitytoolkit.googleapis.com/admin/v2/projects/PROJECT_ID/config?updateMask=mfa" \\
    -H "Authorization: Bearer $(gcloud auth print-access-token)" \\
    -H "Content-Type: application/json" \\
    -H "X-Goog-User-Project: PROJECT_ID" \\
    -d \\
    '{
        "mfa": {
          "providerConfigs": [{
            "state": "ENABLED",
            "totpProviderConfig": {
              "adjacentIntervals": NUM_ADJ_INTERVALS
            }
          }]
       }
    }'
"""

TENANT = """
curl -X PATCH "https://identitytoolkit.googleapis.com/v2/projects/PROJECT_ID/tenants/TENANT_ID?updateMask=mfaConfig" \\
    -H "Authorization: Bearer $(gcloud auth print-access-token)" \\
    -H "Content-Type: application/json" \\
    -H "X-Goog-User-Project: PROJECT_ID" \\
    -d \\
    '{
        "mfaConfig": {
          "providerConfigs": [{
            "totpProviderConfig": {
              "adjacentIntervals": NUM_ADJ_INTERVALS
            }
          }]
       }
    }'
"""

# The body from the documentation's Node.js sample: only a top-level state.
TENANT_TOP_STATE = TENANT.replace(
    '"mfaConfig": {\n', '"mfaConfig": {\n          "state": "ENABLED",\n')


def curl(api, call, intervals):
    for placeholder, value in {
        "https://identitytoolkit.googleapis.com": api.url, "PROJECT_ID": api.project,
        "TENANT_ID": api.tenant or "", "$(gcloud auth print-access-token)": api.token,
        "NUM_ADJ_INTERVALS": intervals,
    }.items():
        call = call.replace(placeholder, value)
    result = subprocess.run(
        call.replace("curl ", "curl -sS ", 1), shell=True, capture_output=True, text=True,
        timeout=60)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("host", ["", "/identitytoolkit.googleapis.com"])
@pytest.mark.parametrize("intervals", ["5", '"5"', "0", "10"])
def test_totp_is_turned_on_for_a_project(api, host, intervals):
    call = PROJECT.replace("https://identitytoolkit.googleapis.com",
                           "https://identitytoolkit.googleapis.com" + host)
    answer = curl(api, call, intervals)
    number = int(intervals.strip('"'))
    totp = {"adjacentIntervals": number} if number else {}
    expected = {"state": "DISABLED", "providerConfigs": [
        {"state": "ENABLED", "totpProviderConfig": totp}]}
    assert answer["mfa"] == expected
    assert ok(api.admin("GET", "config", version="v2"))["mfa"] == expected


def test_the_unreplaced_placeholder_is_refused(api):
    answer = curl(api, PROJECT, '"NUM_ADJ_INTERVALS"')
    assert answer["error"]["status"] == "INVALID_ARGUMENT"
    assert '(TYPE_INT32), "NUM_ADJ_INTERVALS"' in answer["error"]["message"]


@pytest.mark.parametrize("call", [TENANT, TENANT_TOP_STATE], ids=["rest", "as-node-has-it"])
def test_totp_is_turned_on_for_a_tenant(tenant_api, owner, call):
    answer = curl(tenant_api, call, "5")
    [entry] = answer["mfaConfig"]["providerConfigs"]
    assert entry == {
        "state": "MFA_STATE_UNSPECIFIED", "totpProviderConfig": {"adjacentIntervals": 5}}
    # An unset state is treated as enabled, and the console says so.
    _, id_token = tenant_api.user("eve@example.com")
    tenant_api.enroll(id_token)
    assert "mfaPendingCredential" in ok(tenant_api.sign_in("eve@example.com"))
    page = owner.get(f"/projects/{tenant_api.project}/tenants/{tenant_api.tenant}/policy").text
    assert "TOTP state is unset (treated as enabled)" in page
