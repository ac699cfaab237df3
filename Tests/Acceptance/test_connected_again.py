"""A project of another Countersign that's restored there, or disconnected here, goes on."""

import pytest

from support.connected import ALLOW, PROJECT, Other, connection, history, read_again
from support.pages import Pages
from support.program import Server, query, run
from support.rest import ok

TENANTS, USERS, PHONES = ("east", "south", "west"), 50, 10


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    other = Other(tmp_path_factory.mktemp("other"), TENANTS, USERS, PHONES)
    other.back_up()
    yield other
    other.server.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shown")


@pytest.fixture(scope="module")
def server(other, folder):
    with Server(folder / "data", *ALLOW) as server:
        server.owner = Pages(server.url).set_up(server.setup_code)
        other.connect_to(server, folder)
        yield server


def expect_all_users(server, other):
    for name in TENANTS:
        assert sorted(other.copy_of(server, name)) == [f"{name}-{index:03}" for index in range(USERS)]
    total = len(TENANTS) * USERS
    assert f"{len(TENANTS) * PHONES} of {total} users" in server.owner.get("/projects").text


def state(server, tenant):
    """Returns what's known of a tenant, and whether its users can't sign in."""
    [(state, disabled)] = query(
        server.data, "SELECT m.state, s.disabled FROM mirror m JOIN scope s ON s.scope_key = m.scope_key "
        "WHERE s.tenant_id = ?", tenant)
    return state, disabled


def test_a_tenant_and_a_user_who_were_deleted_return_with_a_backup_of_the_other_server(server, other):
    east, south = (other.tenants[name] for name in ("east", "south"))
    ok(east.admin("DELETE", "", version="v2"))
    ok(south.admin("POST", "accounts:delete", {"localId": "south-049"}))
    assert read_again(server, PROJECT) == "working", connection(server, PROJECT)
    assert state(server, east.tenant) == ("gone", 1) and len(other.copy_of(server, "east")) == USERS
    assert "south-049" not in other.copy_of(server, "south")

    other.restore()
    assert read_again(server, PROJECT) == "working", connection(server, PROJECT)
    assert state(server, east.tenant) == ("present", 0)
    expect_all_users(server, other)
    assert len(history(server, PROJECT, "tenant.gone", east.tenant)) == 2
    assert len(history(server, PROJECT, "account.gone")) == 2
    user = f"/projects/{PROJECT}/tenants/{south.tenant}/users/south-049"
    assert ">gone</span>" not in server.owner.get(user).text


def test_a_project_that_is_disconnected_and_connected_again_goes_on(server, other, folder):
    before = history(server, PROJECT, "connection.create")
    removed = run("connection", "remove", "--data", server.data, "--project", PROJECT)
    assert removed.returncode == 0, removed.stderr
    assert server.owner.get(f"/projects/{PROJECT}").status_code == 404
    other.connect_to(server, folder)
    expect_all_users(server, other)
    assert server.owner.get(f"/projects/{PROJECT}").status_code == 200
    assert len(history(server, PROJECT, "connection.create")) == len(before) + 1
    # The other server was only read.
    assert ok(other.tenants["west"].admin("POST", "accounts:query", {"returnUserInfo": False}))["recordsCount"] == str(
        USERS)
