"""The export and erasure of everything about one user, with and without a running server."""

import json

import pytest

from support.pages import Pages
from support.program import Server, query, run
from support.rest import Api, create_token, ok, refused

PROJECT = "user-data"
MARK = "erased-person"


def words(data, uid):
    return ["--data", data, "--project", PROJECT, "--uid", uid]


def rows(data, table):
    return query(data, f"SELECT * FROM {table}")


@pytest.mark.parametrize("is_running", [True, False])
def test_a_user_is_exported_and_erased_from_the_command_line(tmp_path, is_running):
    data = tmp_path / "data"
    with Server(data) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project(PROJECT)
        token = create_token(data, PROJECT, "owner")
        api = Api(server.url, PROJECT, pages.api_key(PROJECT), token)
        api.switch_totp_on(5)
        uid, id_token = api.user(f"{MARK}@example.com")
        authenticator, session = api.enroll(id_token, name=f"{MARK}'s phone")
        other, _ = api.user("stays@example.com")
        if not is_running:
            assert server.stop() == 0

        exported = run("user", "export", *words(data, uid), tmp_path / "person.json")
        assert exported.returncode == 0, exported.stderr
        file = json.loads((tmp_path / "person.json").read_text())
        assert (tmp_path / "person.json").stat().st_mode & 0o777 == 0o600
        assert file["account"]["email"] == f"{MARK}@example.com"
        assert file["factors"][0]["displayName"] == f"{MARK}'s phone"
        assert authenticator.secret not in json.dumps(file)
        assert "factor.enroll" in {entry["action"] for entry in file["auditLog"]}

        refused_ = run("user", "erase", *words(data, uid), "--reason", "request 17")
        assert refused_.returncode == 64 and f"--confirm {uid}" in refused_.stderr
        erased = run("user", "erase", *words(data, uid), "--reason", "request 17", "--confirm", uid,
                     timeout=120)
        assert erased.returncode == 0, erased.stderr
        assert "Erasure 1" in erased.stdout
        again = run("user", "erase", *words(data, uid), "--reason", "request 17", "--confirm", uid)
        assert again.returncode == 78 and "Nothing is stored" in again.stderr
        if is_running:
            refused(api.sign_in(f"{MARK}@example.com"), "INVALID_LOGIN_CREDENTIALS")
            # The session ended with the account.
            answer = api.client(":lookup", {"idToken": session["idToken"]})
            refused(answer, "USER_NOT_FOUND")
            assert ok(api.admin("POST", "accounts:lookup", {"localId": [other]}))["users"]
            assert server.stop() == 0
    files = {path.name: path.read_bytes() for path in data.iterdir() if path.is_file()}
    for name, content in files.items():
        assert MARK.encode() not in content and uid.encode() not in content, name
    verified = run("audit", "verify", "--data", data)
    assert verified.returncode == 0, verified.stderr
    assert "erased" in verified.stdout
    assert any("request 17" in map(str, row) for row in rows(data, "audit"))
