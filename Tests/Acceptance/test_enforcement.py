"""Enforcement of mandatory enrollment by the server, set in the console and seen by applications."""

import pytest

from support.rest import claims, ok
from test_policy import change

CLAIM = {"enforcement": "claim", "enforced-from": "2020-01-01", "grace": "0"}


def enrollment_policy(api, token=None):
    scope = f"projects/{api.project}" + (f"/tenants/{api.tenant}" if api.tenant else "")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return api.http.get(
        f"/v2/{scope}/enrollmentPolicy", params={"key": api.key}, headers=headers)


@pytest.fixture(params=["project", "tenant"])
def pool(request, api, tenant_api):
    return tenant_api if request.param == "tenant" else api


def test_applications_learn_who_should_have_enrolled(pool, owner):
    address = f"/projects/{pool.project}" + (f"/tenants/{pool.tenant}" if pool.tenant else "")
    pool.switch_totp_on(1)
    _, before = pool.user("ada@example.com")
    assert "countersign" not in claims(before)
    assert ok(enrollment_policy(pool))["enforcement"] == "OFF"
    page = change(owner, address + "/policy", pattern="mandatory", **CLAIM)
    assert "Reported by the server" in page
    session = ok(pool.sign_in("ada@example.com"))
    assert claims(session["idToken"])["countersign"] == {"mfa_enrollment_required": True}
    policy = ok(enrollment_policy(pool, session["idToken"]))
    assert policy["enforcement"] == "CLAIM" and policy["user"]["due"] is True
    _, enrolled = pool.enroll(session["idToken"])
    assert "countersign" not in claims(enrolled["idToken"])
    user = ok(enrollment_policy(pool, enrolled["idToken"]))["user"]
    assert user == {"enrolled": True, "due": False}
