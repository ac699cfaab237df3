"""A project of another Countersign, with 12 tenants and 5,000 users: one server shows what the other one hosts."""

import re

import pytest

from support.connected import ALLOW, PROJECT, Other, connection, history, read_again, users
from support.pages import Pages
from support.program import Server, query, reauthenticate
from support.rest import ok

TENANTS = ("east", "south", "west", *(f"shop-{number}" for number in range(9)))
USERS, PHONES, OWN = 416, 30, 8
TOTAL = len(TENANTS) * USERS + OWN


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    other = Other(tmp_path_factory.mktemp("other"), TENANTS, USERS, PHONES, OWN)
    yield other
    other.server.kill()


@pytest.fixture(scope="module")
def server(other, tmp_path_factory):
    """A server to which the project was connected, and which has read it."""
    folder = tmp_path_factory.mktemp("shown")
    with Server(folder / "data", *ALLOW) as server:
        server.owner = Pages(server.url).set_up(server.setup_code)
        other.connect_to(server, folder)
        yield server


@pytest.fixture(scope="module")
def changed(server, other):
    """The same server after a review was signed, and after it read once what then changed at the other one: a policy,
    a factor, addresses that two users swapped, a user and a tenant that were deleted."""
    sign_off(server)
    assert "changed since review" not in server.owner.get("/review").text
    other.tenants["east"].switch_totp_on(4)
    other.change("east", "east-000", mfa={"enrollments": []})
    one, two = "south-001", "south-002"
    other.change("south", one, email="between@example.com")
    other.change("south", two, email=f"{one}@example.com")
    other.change("south", one, email=f"{two}@example.com")
    ok(other.tenants["south"].admin("POST", "accounts:delete", {"localId": f"south-{USERS - 1}"}))
    ok(other.tenants["shop-8"].admin("DELETE", "", version="v2"))
    assert read_again(server, PROJECT) == "working", connection(server, PROJECT)
    return server


def sign_off(server):
    reauthenticate(server.data)
    path = f"/projects/{PROJECT}/review/sign-off"
    page = server.owner.get(path).text
    fields = dict(re.findall(r'name="(digest|last-sign-off|seen|due)" value="([^"]*)"', page))
    answer = server.owner.post(path, {**fields, "note": ""})
    assert answer.status_code == 303, re.findall(r'error">(.*?)<', answer.text)


def pool(other, name):
    return f"/projects/{PROJECT}/tenants/{other.tenants[name].tenant}"


def test_its_users_are_listed_and_found_with_their_factors(server, other):
    assert TOTAL == 5_000 and len(users(server, PROJECT)) == OWN
    assert connection(server, PROJECT)["usersNotStored"] == 0
    for name in TENANTS:
        assert other.copy_of(server, name) == {
            f"{name}-{index:03}": f"{name}-{index:03}@example.com" for index in range(USERS)}
    found = server.owner.get("/users?q=west-007").text
    assert "west-007@example.com" in found and ">Countersign</span>" in found
    page = server.owner.get(f"{pool(other, 'west')}/users/west-007").text
    assert "Phone" in page and "1 factor" in page and "Diagnosis" not in page
    assert "1 factor" not in server.owner.get(f"{pool(other, 'west')}/users/west-070").text
    assert f"{len(TENANTS) * PHONES} of {TOTAL:,} users" in server.owner.get("/projects").text
    removal = server.owner.get(f"{pool(other, 'west')}/users/west-007/factors/phone-west-007/removal")
    assert removal.status_code == 404 and "may only read" in removal.text


def test_a_policy_and_factors_that_change_there_are_recorded_and_make_the_review_stale(changed, other):
    remote = f"Countersign at {other.server.url.split('//')[1]}"
    tenant = other.tenants["east"].tenant
    assert history(changed, PROJECT, "policy.widen", tenant)[-1] == remote
    assert history(changed, PROJECT, "account.change", tenant) == [remote]
    assert "1 factor" not in changed.owner.get(f"{pool(other, 'east')}/users/east-000").text
    assert "changed since review" in changed.owner.get("/review").text
    assert query(changed.data, "SELECT totp_intervals FROM scope WHERE tenant_id = ?", tenant) == [(4,)]
    assert ">Countersign</span>" in changed.owner.get(f"{pool(other, 'east')}/policy").text


def test_users_who_swap_addresses_are_as_they_are_there(changed, other):
    copy = other.copy_of(changed, "south")
    assert (copy["south-001"], copy["south-002"]) == ("south-002@example.com", "south-001@example.com")
    assert len(history(changed, PROJECT, "account.change", other.tenants["south"].tenant)) == 2


def test_a_deleted_user_and_a_deleted_tenant_stay_for_a_while(changed, other):
    deleted = f"south-{USERS - 1}"
    assert ">gone</span>" in changed.owner.get(f"{pool(other, 'south')}/users/{deleted}").text
    assert deleted not in other.copy_of(changed, "south")
    assert len(other.copy_of(changed, "shop-8")) == USERS
    assert len(history(changed, PROJECT, "tenant.gone")) == 1
    assert f"{len(TENANTS) * PHONES - 1} of {TOTAL - 1:,} users" in changed.owner.get("/projects").text
