"""A project of Identity Platform, connected by command to a running server: against a double of Google."""

import re

import httpx
import pytest

from support import google_answers
from support.connected import connect, connection, history, read_again, users, wait_for_read
from support.google import READ, Google
from support.google_answers import PROJECT, authenticator, phone, totp, user
from support.pages import Pages
from support.program import Server, free_port, query, run
from support.waiting import until

TENANT = "shop-ab001"


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    """The double, with a service account that may read."""
    with Google(tmp_path_factory.mktemp("google")) as google:
        google.key = google.add_key(google.add_account())
        yield google


@pytest.fixture
def google(double):
    """A project with 60 users, one of whom has an authenticator, and a tenant with one user."""
    double.reset()
    for account in double.accounts.values():
        account.permissions[:], account.disabled = READ, False
    double.mfa = totp(0)
    double.add_users(user("anna", factors=[authenticator()]), *[user(f"user-{number:02}") for number in range(59)])
    double.add_tenant(TENANT, totp(3))
    double.add_users(user("buyer", factors=[phone()]), tenant=TENANT)
    return double


@pytest.fixture
def server(google, tmp_path):
    """A server that has read the project; it was connected while the server ran."""
    port = free_port()
    with Server(tmp_path / "data", *google.flags, "--metrics-listen", f"127.0.0.1:{port}") as server:
        server.metrics = f"http://127.0.0.1:{port}/metrics"
        added = connect(server, PROJECT, google.key, tmp_path, *google.flags)
        assert added.returncode == 0, added.stdout + added.stderr
        assert wait_for_read(server, PROJECT) == "working", connection(server, PROJECT)
        yield server


def expect_as_there(google, server):
    """Expects the copy to have the users that the double has."""
    for tenant, pool in {"": google.users, **{id: one.users for id, one in google.tenants.items()}}.items():
        assert users(server, PROJECT, tenant) == {uid: one["email"] for uid, one in pool.items()}


def tenants(server):
    """Returns the states of the tenants."""
    return dict(query(
        server.data, "SELECT s.tenant_id, m.state FROM scope s JOIN mirror m ON m.scope_key = s.scope_key "
        "WHERE s.project_id = ? AND s.tenant_id <> ''", PROJECT))


def test_users_and_policies_are_shown_beside_hosted_ones(google, server):
    expect_as_there(google, server)
    assert history(server, PROJECT, "connection.walk") == ["Google", "Google"]
    assert history(server, PROJECT, "account.change") == []
    owner = Pages(server.url).set_up(server.setup_code)
    owner.create_project("hosted-app")
    projects = owner.get("/projects").text
    assert projects.count(">Google</span>") == 1 and "1 hosted, 1 connected" in projects
    assert "0 or default" in owner.get(f"/projects/{PROJECT}/policy").text
    listed = owner.get(f"/projects/{PROJECT}/users?q=anna").text
    assert "anna@example.com" in listed and "as of" in listed
    page = owner.get(f"/projects/{PROJECT}/tenants/{TENANT}/users/buyer").text
    assert "+16505550102" in page and "aGFzaC1ub3QtcmVkYWN0ZWQ=" not in page
    assert "buyer@example.com" in owner.get("/users?q=buyer").text
    assert ">Google</span>" in owner.get("/review").text
    # Nothing of it is served, or written there.
    made = run("token", "create", "--data", server.data, "--project", PROJECT, "--role", "owner")
    assert made.returncode == 1 and "connected" in made.stderr
    assert google.changes == []
    found = connection(server, PROJECT)
    assert (found["kind"], found["remoteProject"], found["access"], found["state"]) == (
        "identity-platform", PROJECT, "read", "working")
    assert found["readAt"] and found["message"] is None
    measured = httpx.get(server.metrics).text
    assert 0 <= float(re.search(rf'_mirror_age_seconds{{project="{PROJECT}"}} (\S+)', measured)[1]) < 300
    assert int(re.search(r'_remote_calls_total{result="ok"} (\d+)', measured)[1]) > 5
    for secret in [*google.tokens, google.key.split('"private_key": "')[1][40:100]]:
        assert secret not in server.text
    [(sealed,)] = query(server.data, "SELECT sealed_credential FROM connection WHERE project_id = ?", PROJECT)
    assert google.key.encode().hex()[:80] not in sealed


def test_what_changed_there_is_here_after_the_next_read(google, server):
    google.users["user-01"]["email"] = "moved@example.com"
    google.users["user-02"]["displayName"] = "Renamed"
    google.users["anna"]["mfaInfo"] = []
    del google.users["user-03"]
    google.add_users(user("zoe"))
    google.mfa, google.tenants[TENANT].disabled = totp(4), True
    google.add_tenant("new-ab002", totp(1))
    assert read_again(server, PROJECT) == "working"
    gone = users(server, PROJECT, condition="a.gone_at IS NOT NULL")
    assert gone == {"user-03": "user-03@example.com"}
    assert users(server, PROJECT)["user-01"] == "moved@example.com" and "zoe" in users(server, PROJECT)
    # Names aren't recorded. A disabled tenant's users stay.
    assert history(server, PROJECT, "account.change") == ["Google", "Google"]
    assert history(server, PROJECT, "policy.change", "") == ["Google"]
    assert history(server, PROJECT, "account.gone") == ["Google"]
    assert users(server, PROJECT, TENANT) == {"buyer": "buyer@example.com"}
    assert tenants(server) == {TENANT: "disabled", "new-ab002": "present"}

    google.add_users(user("user-03"))
    google.tenants[TENANT].disabled, google.tenants[TENANT].deleted = False, True
    assert read_again(server, PROJECT) == "working"
    assert users(server, PROJECT)["user-03"] and users(server, PROJECT, TENANT) == {"buyer": "buyer@example.com"}
    assert history(server, PROJECT, "tenant.gone") == ["Google"]
    assert tenants(server)[TENANT] == "gone"
    google.tenants[TENANT].deleted = False
    google.add_users(user("second"), tenant=TENANT)
    assert read_again(server, PROJECT) == "working"
    expect_as_there(google, server)
    assert history(server, PROJECT, "tenant.gone") == ["Google", "Google"]


@pytest.mark.parametrize("fault, state", [
    (google_answers.empty, "paused"), (google_answers.short, "paused"), (google_answers.unsorted, "failing"),
    (google_answers.repeated, "failing"),
], ids=["empty", "short", "unsorted", "repeated"])
def test_a_wrong_page_removes_nobody(google, server, fault, state):
    google.largest_page = 20 if state == "failing" else 1000
    google.after["batchGet"] = fault() if fault is google_answers.repeated else fault
    assert read_again(server, PROJECT) == state
    assert len(users(server, PROJECT)) == 60
    found = connection(server, PROJECT)
    if state == "paused":
        assert "returned fewer users than expected" in found["message"]
        until(lambda: f"The project {PROJECT} is paused: " in server.text, "the pause is logged")
    google.after, google.largest_page = {}, 1000
    assert read_again(server, PROJECT) == "working"
    expect_as_there(google, server)
    assert users(server, PROJECT, condition="a.gone_at IS NOT NULL") == {}


def test_pages_that_change_while_they_are_read_lead_to_the_same_users_in_the_end(google, server):
    google.largest_page, asked = 10, []

    def change(request):
        asked.append(request)
        number = len(asked)
        google.users.pop(f"user-{number * 5:02}", None)
        google.add_users(user(f"a-{number}"), user(f"user-{number * 5:02}x"))
    google.before["batchGet"] = change
    assert read_again(server, PROJECT) == "working"
    assert len(asked) > 5
    google.before = {}
    assert read_again(server, PROJECT) == "working"
    expect_as_there(google, server)


# The call, the error, and what's said.
ERRORS = [
    ("token", "token/invalid-signature", "Google rejects the key "),
    ("config", "error/permission-denied", "lacks firebaseauth.configs.get"),
    ("config", "error/api-off", "is off in"),
    ("tenants", "error/permission-denied", "lacks identitytoolkit.tenants.list"),
    ("batchGet", "error/not-initialized-v1", "Authentication was never set up"),
    ("query", "error/insufficient-permission-v1", "lacks firebaseauth.users.get"),
    ("batchGet", (200, "{"), "is no Identity Toolkit API"),
]


def test_an_error_makes_it_failing_until_it_is_over(google, server):
    for call, error, sentence in ERRORS:
        if call == "token":
            google.revoke_tokens()
        google.fail(call, error)
        assert read_again(server, PROJECT) == "failing", sentence
        found = connection(server, PROJECT)
        assert sentence in found["message"]
        until(lambda: any(
            f"The project {PROJECT} can't be read: " in line and sentence in line for line in server.output), sentence)
        google.mend()
    assert len(users(server, PROJECT)) == 60
    assert read_again(server, PROJECT) == "working"
    until(lambda: f"The project {PROJECT} is read again." in server.text, "it's logged")
    expect_as_there(google, server)


def test_leaving_deletes_the_users_and_the_credential_here_only(google, server, tmp_path):
    removed = run("connection", "remove", "--data", server.data, "--project", PROJECT)
    assert removed.returncode == 0, removed.stderr
    until(lambda: users(server, PROJECT, condition="1 = 1") == {}, "the users are deleted")
    assert query(server.data, "SELECT sealed_credential FROM connection") == [(None,)]
    assert connection(server, PROJECT)["state"] == "disconnected"
    assert google.changes == [] and len(google.users) == 60
    again = until(lambda: (lambda added: added.returncode == 0 and added)(
        connect(server, PROJECT, google.key, tmp_path, *google.flags)), "it can be connected again", 60)
    assert "Connected the project" in again.stderr
    assert wait_for_read(server, PROJECT) == "working"
    expect_as_there(google, server)
    assert len(history(server, PROJECT, "connection.create")) == 2


def test_a_stopped_server_reads_it_after_its_start(google, tmp_path):
    with Server(tmp_path / "data", *google.flags) as server:
        assert server.stop() == 0
    added = connect(server, PROJECT, google.key, tmp_path, *google.flags, "--id", "elsewhere-app")
    assert added.returncode == 0, added.stdout + added.stderr
    with Server(tmp_path / "data", *google.flags) as server:
        assert wait_for_read(server, "elsewhere-app") == "working"
        assert len(users(server, "elsewhere-app")) == 60
