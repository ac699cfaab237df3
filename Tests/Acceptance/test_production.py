"""Compares Countersign's responses with recorded ones of Google's production: equal, or listed as
different with a reason that docs/reference/production.md repeats."""

import os

import httpx
import pytest

from support.faults import expect_none
from support.production import (
    PROFILES, Recording, TenantRecording, allowed, document, documented, exchanges, name_of, sections, table)
from support.program import Server
from support.replay import OWNER, reset_project

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
        return api.url, api.project, api.key, api.token
    return reach


@pytest.mark.parametrize("path", SECTIONS, ids=map(name_of, SECTIONS))
def test_responses_match_production(places, path):
    recording = Recording(*places(PROFILES[path.parent.name]), DIFFERING)
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
