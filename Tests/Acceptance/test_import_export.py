"""Import and export of users on the command line, while the server runs."""

import base64
import csv
import hashlib
import io
import json
import stat

import pytest

from support.program import run
from support.rest import ok

HASHES = ["--hash-algo", "SHA256", "--rounds", "1"]


def row(number, **members):
    salt = b"salt%d" % number
    digest = hashlib.sha256(salt + b"secret %d" % number).digest()
    return {
        "localId": f"cli-{number}", "email": f"cli-{number}@example.com", "emailVerified": True,
        "passwordHash": base64.b64encode(digest).decode(), "salt": base64.b64encode(salt).decode(),
        "displayName": f'Person "{number}", éàü', "createdAt": "1500000000000",
        "lastSignedInAt": "1600000000000", **members,
    }


def write(path, users):
    path.write_text(json.dumps({"users": users}, indent=1))
    return path


def import_users(standalone, api, path, *words):
    return run("import", "--data", standalone.data, "--project", api.project, *words, path)


def export_users(standalone, api, path, *words):
    return run("export", "--data", standalone.data, "--project", api.project, *words, path)


def test_an_import_works_while_the_server_runs_and_can_be_repeated(standalone, api, tmp_path):
    users = [row(number) for number in range(2500)]
    path = write(tmp_path / "users.json", users)
    result = import_users(standalone, api, path, *HASHES)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "2,500 users read: 2,500 imported.\n"
    signed_in = ok(api.sign_in("cli-2499@example.com", "secret 2499"))
    assert signed_in["displayName"] == 'Person "2499", éàü'
    again = import_users(standalone, api, path, *HASHES)
    assert again.returncode == 0
    assert again.stdout == (
        "2,500 users read: 0 imported, 2,500 already existed, left unchanged.\n")
    # A user who has signed in since has a new hash and keeps it.
    ok(api.sign_in("cli-2499@example.com", "secret 2499"))
    write(path, [row(2499, displayName="Another")])
    assert "1 replaced" in import_users(standalone, api, path, *HASHES, "--overwrite").stdout
    assert ok(api.sign_in("cli-2499@example.com", "secret 2499"))["displayName"] == "Another"


def test_rejected_users_are_listed(standalone, api, tmp_path):
    users = [row(1), row(2, email="nobody"), row(3, phoneNumber="12"), {"email": "x@example.com"}, 7]
    result = import_users(standalone, api, write(tmp_path / "users.json", users), *HASHES)
    assert result.returncode == 1
    assert result.stdout == "5 users read: 1 imported, 4 rejected.\n"
    lines = result.stderr.strip().splitlines()
    assert lines[0].endswith("user 1 (cli-2): email is invalid")
    assert lines[0].startswith("line 13, ")
    assert lines[1].endswith("user 2 (cli-3): phone number format is invalid")
    assert lines[2].endswith("user 3: localId is missing")
    assert lines[3].endswith("user 4: The user isn't a JSON object.")


@pytest.mark.parametrize("words,code,word", [
    (["--hash-algo", "NONE"], 64, "hash algorithm"), (["--rounds", "x"], 64, "--rounds"),
    (["--hash-algo", "SCRYPT"], 64, "--hash-key"), (["--tenant", "nowhere"], 78, "tenant"),
    (["--hash-algo", "PBKDF2_SHA256", "--rounds", "2000001"], 64, "2000000"),
], ids=str)
def test_invalid_usage_of_import_is_refused(standalone, api, tmp_path, words, code, word):
    result = import_users(standalone, api, write(tmp_path / "users.json", [row(1)]), *words)
    assert result.returncode == code and word in result.stderr


def test_unreadable_files_are_refused(standalone, api, tmp_path):
    missing = import_users(standalone, api, tmp_path / "none.json")
    assert missing.returncode == 78
    assert missing.stderr == f"{tmp_path}/none.json can't be read: No such file or directory\n"
    folder = import_users(standalone, api, tmp_path, "--format", "json")
    assert folder.returncode == 78 and "can't be read: Is a directory" in folder.stderr
    unnamed = tmp_path / "users"
    unnamed.write_text("{}")
    assert import_users(standalone, api, unnamed).returncode == 64
    for text in ("", "[]", '{"users": [', '{"people": []}'):
        path = tmp_path / "broken.json"
        path.write_text(text)
        result = import_users(standalone, api, path)
        assert result.returncode == 1 and "couldn't be read" in result.stderr
    # The users before the error are imported.
    path = tmp_path / "half.json"
    whole = json.dumps({"users": [row(number) for number in range(3)]})
    path.write_text(whole[:-5])
    result = import_users(standalone, api, path, *HASHES)
    assert result.returncode == 1 and "2 imported" in result.stdout


def test_exported_users_can_be_imported(standalone, api, tenant_api, tmp_path):
    users = [row(number) for number in range(1200)]
    users[0]["providerUserInfo"] = [
        {"providerId": "google.com", "rawId": "g-1", "email": "g@example.com"}]
    users[1]["customAttributes"] = '{"role":"a,b"}'
    users[2]["disabled"] = True
    users[3]["mfaInfo"] = [{"phoneInfo": "+15555550100", "displayName": "Phone"}]
    assert import_users(standalone, api, write(tmp_path / "in.json", users), *HASHES).returncode == 0
    out = tmp_path / "out.json"
    result = export_users(standalone, api, out)
    assert result.returncode == 0 and "Exported 1,200 users" in result.stdout
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []
    exported = {user["localId"]: user for user in json.loads(out.read_text())["users"]}
    assert len(exported) == 1200
    assert exported["cli-0"]["providerUserInfo"][0]["rawId"] == "g-1"
    assert exported["cli-1"]["customAttributes"] == '{"role":"a,b"}'
    assert exported["cli-2"]["disabled"] is True
    assert exported["cli-3"]["mfaInfo"][0]["phoneInfo"] == "+15555550100"
    assert exported["cli-4"]["createdAt"] == "1500000000000"
    assert exported["cli-4"]["lastSignedInAt"] == "1600000000000"
    assert export_users(standalone, api, out).returncode == 78, "export overwrote a file"
    # The export includes the hash parameters, so the import needs no options.
    result = import_users(standalone, api, out, "--tenant", tenant_api.tenant)
    assert result.returncode == 0, result.stderr
    ok(tenant_api.sign_in("cli-7@example.com", "secret 7"))


def test_a_csv_file_is_imported_and_exported(standalone, api, tenant_api, tmp_path):
    fields = [""] * 28
    fields[0], fields[1], fields[2] = "csv-1", "csv-1@example.com", "true"
    fields[3], fields[4] = row(1)["passwordHash"], row(1)["salt"]
    fields[5], fields[6] = 'Dr. "Who", PhD', "https://img.example.com/1.png"
    fields[7:11] = ["g-1", "g@example.com", "G", ""]
    fields[23], fields[24], fields[25], fields[26] = "1500000000000", "", "+15555550123", "false"
    fields[27] = '{"role":"a,b"}'
    text = io.StringIO()
    csv.writer(text).writerow(fields + [""])
    path = tmp_path / "users.csv"
    path.write_text(text.getvalue())
    result = import_users(standalone, api, path, *HASHES)
    assert result.returncode == 0, result.stderr
    ok(api.sign_in("csv-1@example.com", "secret 1"))
    user = ok(api.admin("POST", "accounts:lookup", {"localId": ["csv-1"]}))["users"][0]
    assert user["displayName"] == 'Dr. "Who", PhD' and user["phoneNumber"] == "+15555550123"
    assert user["customAttributes"] == '{"role":"a,b"}' and user["createdAt"] == "1500000000000"
    assert {"google.com"} < {provider["providerId"] for provider in user["providerUserInfo"]}
    out = tmp_path / "out.csv"
    assert export_users(standalone, api, out).returncode == 0
    [written] = list(csv.reader(out.open()))
    assert written[0] == "csv-1" and written[5] == 'Dr. "Who", PhD' and written[7] == "g-1"
    assert written[27] == '{"role":"a,b"}' and written[-1] == ""
    assert import_users(standalone, api, out, "--tenant", tenant_api.tenant).returncode == 0


def test_an_export_counts_what_csv_cannot_hold(standalone, api, tmp_path):
    users = [row(number) for number in range(4)]
    users[0]["mfaInfo"] = [{"phoneInfo": "+15555550100", "displayName": "Phone"}]
    users[1]["providerUserInfo"] = [{"providerId": "saml.corp", "rawId": "s-1"}]
    users[2]["providerUserInfo"] = [{"providerId": "google.com", "rawId": "g-1"}]
    path = write(tmp_path / "in.json", users)
    assert import_users(standalone, api, path, *HASHES).returncode == 0
    result = export_users(standalone, api, tmp_path / "out.csv")
    assert "1 of them has a phone factor, which CSV files can't contain" in result.stderr
    assert "1 of them has an identity of a provider without a column" in result.stderr
    result = export_users(standalone, api, tmp_path / "out.json")
    assert result.returncode == 0 and "of them has" not in result.stderr


def test_k2_totp_secrets_are_not_exported(standalone, api, owner, tmp_path):
    api.switch_totp_on()
    uid, id_token = api.user("app@example.com")
    authenticator, _ = api.enroll(id_token)
    result = export_users(standalone, api, tmp_path / "out.json")
    assert "1 of them has a TOTP factor, which isn't exported." in result.stderr
    text = (tmp_path / "out.json").read_text()
    assert authenticator.secret not in text and "totp" not in text.lower()
