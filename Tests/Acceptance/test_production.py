"""Compares Countersign's responses with recorded ones of Google's production: equal, or listed as
different with a reason that docs/reference/production.md repeats."""

import os
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from support.faults import expect_none
from support.production import (
    PROFILES, Recording, TenantRecording, allowed, document, documented, exchanges, name_of, sections, table)
from support.program import Server, run
from support.replay import OWNER, reset_project
from support.rest import ok

SECTIONS = sections()
DIFFERING = {name: answer for group in allowed() for name, answer in group["exchanges"].items()}


@pytest.fixture(scope="module")
def own_emulator(tmp_path_factory):
    """A separate server, whose configuration these tests change."""
    with Server(tmp_path_factory.mktemp("recordings"), profile="emulator") as server:
        yield server


@pytest.fixture
def places(own_emulator, request):
    """Returns a function that connects to a fresh project in either profile."""
    def reach(profile):
        if profile == "emulator":
            reset_project(own_emulator.url)
            return own_emulator.url, "demo-project", "any-key", OWNER["Authorization"].split()[1]
        api = request.getfixturevalue("api")
        # Production's projects start without a policy, the console's with one.
        ok(api.admin("PATCH", "config", {"passwordPolicyConfig": {}}, version="v2",
                     params={"updateMask": "passwordPolicyConfig"}))
        return api.url, api.project, api.key, api.token
    return reach


def custom_tokens(url, project):
    """Registers a key for custom tokens, and returns valid and invalid tokens."""
    def signed(key, algorithm="RS256", **claims):
        now = int(time.time())
        issuer = "backend@acme.example"
        payload = {"iss": issuer, "sub": issuer, "iat": now, "exp": now + 3600, "uid": "signed", "aud": (
            "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit")}
        return jwt.encode({**payload, **claims}, key, algorithm)

    key, other = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    added = run(
        "token-key", "add", "--data", Server.folders[url], "--project", project,
        "--issuer", "backend@acme.example", input=key.public_key().public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo).decode())
    assert added.returncode == 0, added.stderr
    valid = signed(key)
    header, payload, signature = valid.split(".")
    return {
        "valid": valid,
        "other-project-signer": signed(other, iss="other@b.example", sub="other@b.example"),
        "tampered-signature": f"{header}.{payload}.{signed(other).split('.')[2]}",
        "stripped-signature": f"{header}.{payload}.",
        "alg-none": signed(None, "none"),
        "tampered-payload": f"{header}.{signed(key, uid='x').split('.')[1]}.{signature}",
        "wrong-audience": signed(key, aud=project),
        "iss-not-sub": signed(key, sub="other@acme.example"),
    }


@pytest.mark.parametrize("path", SECTIONS, ids=map(name_of, SECTIONS))
def test_responses_match_production(places, path):
    place = places(PROFILES[path.parent.name])
    recording = Recording(*place, DIFFERING)
    if path.parent.name == "signed":
        recording.kept["custom"] = custom_tokens(*place[:2])
    expect_none(recording.run(path))


# Tenants don't support phones as first factors or several accounts per email.
OF_TENANTS = [path for path in SECTIONS
              if path.parent.name == "account" and path.stem not in ("phone", "duplicate-email")]


@pytest.mark.parametrize("path", OF_TENANTS, ids=map(name_of, OF_TENANTS))
def test_a_tenant_responds_like_a_project(places, path):
    url, project, key, token = places("emulator")
    created = httpx.post(f"{url}/v2/projects/{project}/tenants", headers=OWNER, json={
        "displayName": "recorded", "allowPasswordSignup": True, "enableEmailLinkSignin": True,
        "enableAnonymousUser": True, "emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}})
    tenant = created.json()["name"].rsplit("/")[-1]
    recording = TenantRecording(url, project, key, token, DIFFERING, tenant)
    expect_none(recording.run(path))


def test_every_listed_difference_is_an_exchange():
    assert set(DIFFERING) <= set(exchanges())
    assert len(DIFFERING) == sum(len(group["exchanges"]) for group in allowed())


def test_the_documentation_lists_the_differences():
    if os.environ.get("COUNTERSIGN_RECORD_SNAPSHOTS") == "1":
        document()
        pytest.fail("recorded docs/reference/production.md; run again without COUNTERSIGN_RECORD_SNAPSHOTS")
    assert documented() == table()


def test_the_comparison_detects_differences(own_emulator):
    """Checks what the comparison accepts and refuses."""
    check = Recording(own_emulator.url, "p", "k", "t", {})._differences
    refusal = {"error": {"code": 400, "message": "A : b", "status": "INVALID_ARGUMENT"}}
    body = {"users": [{"email": "a", "disabled": False}]}
    assert not check(400, refusal, {"status": 400, "message": "A : b"})
    assert not check(200, body, {"status": 200, "facts": {
        "users.0.email": "a", "users.0.name": "$absent", "users.1": "$absent", "users": "$present",
        "users.0.disabled": False}})
    assert not check(200, body, {"status": 200, "body": {
        "users": [{"email": "$text", "disabled": False}]}})
    assert check(200, body, {"status": 200, "body": {"users": [{"email": "$text"}]}})
    assert check(400, refusal, {"status": 400, "message": "A"})
    assert check(400, refusal, {"status": 404, "message": "A : b"})
    for place, value in [("users.0.email", "b"), ("users.0.email", "$absent"),
                         ("users.0.name", "$present"), ("users.0.disabled", 0)]:
        assert check(200, body, {"status": 200, "facts": {place: value}}), place
