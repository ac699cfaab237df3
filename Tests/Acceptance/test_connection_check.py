"""`countersign connection check`: against a double of Google, and against another Countersign."""

import json
import re

import pytest

from support import google_answers
from support.connect_proxy import ConnectProxy
from support.google import MANAGER, READ, TOKENS, TOOLKIT, Google
from support.google_answers import PROJECT, authenticator, phone, recordings, totp, user
from support.program import free_port, run
from support.rest import create_token

HOSTS = {TOKENS, TOOLKIT, MANAGER}
STEPS = ["credential", "project", "mfa", "tenants", "users", "permissions"]


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    """The double, with a service account that may read."""
    with Google(tmp_path_factory.mktemp("google")) as google:
        account = google.add_account()
        google.key = google.add_key(account)
        yield google


@pytest.fixture
def google(double):
    """A project with two users, three tenants, and three users in one of these."""
    double.reset()
    for account in double.accounts.values():
        account.permissions[:], account.disabled = READ, False
    double.mfa = totp(0, sms=True)
    double.add_users(user("anna", factors=[authenticator()]), user("ben", factors=[phone()]))
    add_shops(double, range(3))
    double.add_users(*[user(f"buyer-{number}") for number in range(3)], tenant="shop-01-ab001")
    return double


def add_shops(google, numbers):
    for number in numbers:
        google.add_tenant(f"shop-{number:02}-ab{number:03}", totp(number))


def check(google, folder, *words, access="read", key=None, flags=None, **more):
    """Checks the project of the double; the credential and its tokens must not be printed."""
    text = google.key if key is None else key
    (folder / "key.json").write_text(text)
    checked = run(
        "connection", "check", "--kind", "identity-platform", "--project", PROJECT, "--access", access,
        "--credential-file", folder / "key.json", *(google.flags if flags is None else flags), *words, **more)
    lines = re.findall(r"[A-Za-z0-9+/=]{60,}", text.replace("\\n", "\n"))
    for secret in [*google.tokens, *lines]:
        assert secret not in checked.stdout + checked.stderr
    return checked


def steps(checked):
    """Returns the steps that were checked, and whether each one passed."""
    found = re.findall(r"^(ok|error)\t(\w+): ", checked.stdout, re.M)
    return {step: result == "ok" for result, step in found}


def expect_failure(checked, step, sentence):
    assert checked.returncode == 1, checked.stdout + checked.stderr
    found = steps(checked)
    assert list(found.items())[-1] == (step, False), checked.stdout
    assert list(found) == STEPS[:STEPS.index(step) + 1] and list(found.values()).count(False) == 1
    line = next(line for line in checked.stdout.splitlines() if line.startswith("error\t"))
    assert re.search(sentence, line), line


def expect_success(checked):
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert steps(checked) == dict.fromkeys(STEPS, True), checked.stdout


def test_a_project_is_described_and_nothing_is_changed_or_stored(google, tmp_path):
    add_shops(google, range(3, 8))
    google.tenants["shop-07-ab007"].disabled = True
    google.largest_page = 3
    (tmp_path / "empty").mkdir()
    checked = check(google, tmp_path, cwd=tmp_path / "empty")
    expect_success(checked)
    assert re.search(r"^ok\ttenants: 8 tenants", checked.stdout, re.M), checked.stdout
    assert re.search(r"^ok\tusers: 5 users \(tenants counted: 7\)", checked.stdout, re.M), checked.stdout
    for tenant, found in google.tenants.items():
        assert f"{tenant}\t{found.name}\n" in checked.stdout
    assert list((tmp_path / "empty").iterdir()) == []
    assert google.changes == [] and google.names == HOSTS
    assert {request.method for request in google.requests} == {"GET", "POST"}
    assert len(google.calls("token")) == 1 and len(google.calls("tenants")) == 3
    assert all(request.path.endswith((":query", ":testIamPermissions", "/token"))
               for request in google.requests if request.method == "POST")
    # Hashes, keys, and test numbers aren't even sent.
    assert all("fields" in request.query for request in google.requests if request.method == "GET")


def test_json_has_the_same_results(google, tmp_path):
    checked = check(google, tmp_path, "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    found = json.loads(checked.stdout)
    assert [one["check"] for one in found["checks"]] == STEPS
    assert all(one["passed"] and one["detail"] is None for one in found["checks"])
    assert found["users"] == 5 and found["missing"] == found["excess"] == []
    assert found["tenants"][1] == {"id": "shop-01-ab001", "displayName": "shop-01"}
    google.fail("tenants", "error/permission-denied")
    failed = check(google, tmp_path, "--json")
    assert failed.returncode == 1
    found = json.loads(failed.stdout)
    assert [one["passed"] for one in found["checks"]] == [True, True, True, False]
    assert found["checks"][-1]["detail"] == "The caller does not have permission"
    assert found["users"] is None and found["missing"] is None


ACCOUNT_GONE = r"The service account mirror@\S+ is deleted or disabled\."
# The call, the error, the step that fails, and what is said.
ERRORS = [
    ("token", "token/invalid-signature", "credential", r"Google rejects the key [0-9a-f]{40}\."),
    ("token", "token/clock-new-text", "credential", r"The clock of this server is \d+ seconds? "),
    ("token", "token/account-not-found", "credential", ACCOUNT_GONE),
    ("token", "token/account-deleted", "credential", ACCOUNT_GONE),
    ("token", "token/deleted-client", "credential", ACCOUNT_GONE),
    ("token", "token/robot-disabled", "credential", ACCOUNT_GONE),
    ("token", "token/no-verifier", "credential", "is no service account of an existing project"),
    ("token", "token/not-an-email", "credential", "The client_email of the key is invalid"),
    ("token", "token/invalid-user", "credential", "The client_email of the key is invalid"),
    ("token", "token/scope", "credential", "rejected the request: invalid_scope"),
    ("token", "token/unauthorized-client", "credential", "rejected the request: unauthorized_client"),
    ("token", "token/internal", "credential", "Google is unreachable"),
    ("token", "token/unavailable", "credential", "Google is unreachable"),
    ("config", "error/not-initialized-v2", "project", "Authentication was never set up"),
    ("batchGet", "error/not-initialized-v1", "users", "Authentication was never set up"),
    ("config", "error/user-project-denied", "project", f"may not use the quota of {PROJECT}"),
    ("config", "error/permission-denied", "project", "lacks firebaseauth.configs.get"),
    ("tenants", "error/permission-denied", "tenants", "lacks identitytoolkit.tenants.list"),
    ("batchGet", "error/insufficient-permission-v1", "users", "lacks firebaseauth.users.get"),
    ("query", "error/insufficient-permission-v1", "users", "lacks firebaseauth.users.get"),
    ("config", "error/invalid-credential", "project", "Google rejects the access token"),
    ("config", "error/no-credential", "project", "Google rejects the access token"),
    ("config", "error/api-off", "project", r"is off in 100000000001\. .*https://\S+100000000001"),
    ("config", "error/api-off-before-details", "project", f"is off in {PROJECT}"),
    ("config", "error/project-deleted", "project", f"Google has no project {PROJECT}"),
    ("config", "error/too-many-requests", "project", r"wants fewer requests\. Try again in 7 seconds"),
    ("batchGet", "error/quota-exceeded", "users", "wants fewer requests"),
    ("batchGet", "error/rate-limit-403", "users", "wants fewer requests"),
    ("config", "error/unavailable", "project", "Google is unreachable"),
    ("config", "error/html", "project", "Google is unreachable"),
    ("tenants", (404, "<title>Error 404</title>"), "tenants", "is no Identity Toolkit API"),
    ("config", (200, "{"), "project", "is no Identity Toolkit API"),
    ("config", google_answers.v2(418, "UNKNOWN", "TEAPOT : short"), "project", "rejected the request: TEAPOT"),
]


@pytest.mark.parametrize("call, error, step, sentence", ERRORS, ids=lambda value: str(value)[:40])
def test_an_error_says_what_to_do_in_one_sentence(google, tmp_path, call, error, step, sentence):
    google.fail(call, error, **({"retry_after": 7} if error == "error/too-many-requests" else {}))
    checked = check(google, tmp_path)
    expect_failure(checked, step, sentence)
    assert "\n\tDetails: " in checked.stdout or error == (200, "{")
    if isinstance(error, str) and error.startswith("token/") and error != "token/unavailable":
        assert google_answers.answer(error)[1]["error"] in checked.stdout


def test_every_recorded_error_is_among_these():
    wanted = {name for name, exchange in recordings().items()
              if name.startswith(("error/", "token/")) and exchange["status"] != 200}
    assert wanted - {error for _, error, _, _ in ERRORS if isinstance(error, str)} == set()


@pytest.mark.parametrize("ahead, words", [(-420, "ahead of"), (420, None), (7200, "behind")])
def test_the_difference_of_the_clocks_is_told(google, tmp_path, ahead, words):
    google.ahead = ahead
    checked = check(google, tmp_path)
    if words is None:
        # The assertion is a minute old, and valid for an hour.
        expect_success(checked)
        return
    expect_failure(checked, "credential", rf"is [\d,]+ seconds {words} that of Google")
    told = re.search(r"is ([\d,]+) seconds", checked.stdout)[1].replace(",", "")
    assert abs(int(told) - abs(ahead)) <= 5, told


def test_a_disabled_account_and_a_deleted_key_are_told_apart(google, tmp_path):
    account = next(iter(google.accounts.values()))
    account.disabled = True
    expect_failure(check(google, tmp_path), "credential", ACCOUNT_GONE)
    account.disabled = False
    other = google.add_key(account)
    name = json.loads(other)["private_key_id"]
    del account.keys[name]
    expect_failure(check(google, tmp_path, key=other), "credential", f"rejects the key {name}")


def test_an_access_token_that_is_refused_once_is_renewed_once(google, tmp_path):
    google.fail("config", "error/invalid-credential", times=1)
    expect_success(check(google, tmp_path))
    assert len(google.calls("token")) == 2 and len(google.calls("config")) == 2
    google.requests.clear()
    google.fail("config", "error/invalid-credential")
    check(google, tmp_path)
    assert len(google.calls("token")) == 2 and len(google.calls("config")) == 2


def test_the_quota_of_the_project_is_used_if_that_of_the_account_cant_be(google, tmp_path):
    account = next(iter(google.accounts.values()))
    key = google.add_key(account, project_id="elsewhere-1234")
    google.fail("config", "error/api-off-elsewhere", times=1)
    expect_success(check(google, tmp_path, key=key))
    named = [request.fields.get("x-goog-user-project") for request in google.calls("config")]
    assert named == [None, PROJECT]
    assert {request.fields.get("x-goog-user-project") for request in google.calls("batchGet")} == {PROJECT}


def test_a_project_without_what_isnt_required_passes(google, tmp_path):
    google.has_tenants, google.knows_fields = False, False
    google.fail("testIamPermissions", "error/resource-manager-off")
    checked = check(google, tmp_path)
    expect_success(checked)
    assert "0 tenants." in checked.stdout and "Whether more is permitted is unknown." in checked.stdout


def test_a_project_without_identity_platform_fails(google, tmp_path):
    google.subtype = "FIREBASE_AUTH"
    expect_failure(check(google, tmp_path), "mfa", "Upgrade it to Identity Platform")


def test_permissions_that_are_missing_or_too_many_are_named(google, tmp_path):
    lacking = r"lacks firebaseauth\.users\.update, identitytoolkit\.tenants\.update"
    expect_failure(check(google, tmp_path, access="support"), "permissions", lacking)
    account = next(iter(google.accounts.values()))
    account.permissions += ["firebaseauth.configs.getHashConfig", "firebaseauth.users.delete"]
    checked = check(google, tmp_path)
    expect_success(checked)
    assert "may do more than read needs" in checked.stdout
    for name in account.permissions[-2:]:
        assert name in checked.stdout
    # Without the Cloud Resource Manager API, an account that doesn't exist is updated.
    google.fail("testIamPermissions", "error/resource-manager-off")
    expect_failure(check(google, tmp_path, access="support"), "permissions", "lacks firebaseauth.users.update")
    account.permissions += ["firebaseauth.users.update"]
    expect_success(check(google, tmp_path, access="support"))
    assert google.changes == []


def test_a_page_that_is_too_large_is_asked_for_in_halves(google, tmp_path):
    google.knows_fields = False

    def pad(body, query):
        return {**body, "padding": "x" * (16 << 20)} if int(query["pageSize"]) > 300 else body
    google.after["tenants"] = pad
    expect_success(check(google, tmp_path))
    sizes = [int(request.query["pageSize"]) for request in google.calls("tenants") if "fields" not in request.query]
    assert sizes == [1000, 500, 250]


def test_the_certificate_must_be_googles(google, tmp_path):
    checked = check(google, tmp_path, flags=google.flags[:2])
    expect_failure(checked, "credential", "The certificate of Google is not trusted.*--outbound-ca")
    assert google.requests == []


def test_an_address_where_nothing_listens_is_unreachable(google, tmp_path):
    closed = ["--google-address", f"127.0.0.1:{free_port()}"]
    expect_failure(check(google, tmp_path, flags=closed), "credential", "Google is unreachable")


def test_a_proxy_opens_tunnels_to_googles_hosts_and_sees_nothing_else(google, tmp_path):
    with ConnectProxy(google.port) as proxy:
        flags = ["--outbound-proxy", proxy.url, *google.flags[2:]]
        expect_success(check(google, tmp_path, flags=flags, env={"no_proxy": "*", "NO_PROXY": "*"}))
        assert set(proxy.targets) == {f"{host}:443" for host in HOSTS}
        assert not any(word in head.lower() for head in proxy.heads for word in ("authorization", "bearer"))
    assert google.names == HOSTS
    with ConnectProxy(google.port, status=403) as proxy:
        checked = check(google, tmp_path, flags=["--outbound-proxy", proxy.url, *google.flags[2:]])
        expect_failure(checked, "credential", "Google is unreachable. Check the firewall and the proxy")
        assert "403" in checked.stdout


def test_a_key_that_was_pasted_with_its_escapes_works_and_its_addresses_are_ignored(google, tmp_path):
    elsewhere = "https://127.0.0.1:1/token"
    file = json.loads(google.key)
    pasted = {**file, "private_key": file["private_key"].replace("\n", "\\n"), "token_uri": elsewhere,
              "auth_uri": elsewhere, "client_x509_cert_url": elsewhere}
    expect_success(check(google, tmp_path, key=json.dumps(pasted)))


@pytest.mark.parametrize("changes, words", [
    ({"type": "authorized_user"}, "authorized_user"), ({"type": "external_account"}, "external_account"),
    ({"universe_domain": "example.com"}, "example.com"), ({"client_email": "nobody"}, "client_email"),
    ({"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQ"}, "private key"), (None, "cut off"),
])
def test_another_file_is_refused_before_anything_is_sent(google, tmp_path, changes, words):
    key = google.key[:700] if changes is None else json.dumps({**json.loads(google.key), **changes})
    checked = check(google, tmp_path, key=key)
    assert checked.returncode == 78 and words in checked.stderr, checked.stderr
    assert checked.stdout == "" and google.requests == []


# Another Countersign.

def check_other(server, project, token, folder, *flags, access="read"):
    (folder / "token").write_text(token + "\n")
    checked = run(
        "connection", "check", "--kind", "countersign", "--project", project, "--url", server.url,
        "--access", access, "--credential-file", folder / "token", *flags)
    assert token not in checked.stdout + checked.stderr
    return checked


ALLOW = ["--outbound-allow", "127.0.0.0/8"]


def test_another_countersign_is_described_without_the_proxy_for_google(standalone, owner, api, google, tmp_path):
    for number in range(3):
        api.sign_up(f"user{number}@example.com")
    tenant = owner.create_tenant(api.project, "acme")
    token = create_token(standalone.data, api.project, "connection-read")
    with ConnectProxy(google.port) as proxy:
        checked = check_other(standalone, api.project, token, tmp_path, *ALLOW, "--outbound-proxy", proxy.url)
        assert proxy.heads == [] and google.requests == []
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert steps(checked) == dict.fromkeys(STEPS[1:], True)
    assert re.search(r"^ok\tusers: 3 users", checked.stdout, re.M), checked.stdout
    assert f"{tenant}\tacme" in checked.stdout


def test_the_address_of_another_countersign_must_be_allowed(standalone, api, tmp_path):
    token = create_token(standalone.data, api.project, "connection-read")
    checked = check_other(standalone, api.project, token, tmp_path)
    assert checked.returncode == 1 and steps(checked) == {"project": False}
    assert "is private" in checked.stdout and "--outbound-allow" in checked.stdout


def test_a_token_of_another_countersign_needs_the_role_of_its_level(standalone, api, tmp_path):
    read = create_token(standalone.data, api.project, "connection-read")
    checked = check_other(standalone, api.project, read, tmp_path, *ALLOW, access="support")
    assert checked.returncode == 1 and "lacks the role connection-support" in checked.stdout, checked.stdout
    support = create_token(standalone.data, api.project, "connection-support")
    checked = check_other(standalone, api.project, support, tmp_path, *ALLOW, access="support")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    application = create_token(standalone.data, api.project, "application")
    checked = check_other(standalone, api.project, application, tmp_path, *ALLOW)
    assert checked.returncode == 1 and "lacks the role connection-read" in checked.stdout, checked.stdout
    unknown = read[:-8] + ("A" * 8 if read[-8:] != "A" * 8 else "B" * 8)
    checked = check_other(standalone, api.project, unknown, tmp_path, *ALLOW)
    assert checked.returncode == 1 and "rejects the service token" in checked.stdout, checked.stdout
