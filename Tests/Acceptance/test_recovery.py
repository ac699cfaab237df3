"""The recovery of an earlier state of a database on PostgreSQL, as docs/backup.md says."""

import subprocess
import time

import pyotp

from support.pages import Pages
from support.postgresql import PROGRAMS
from support.program import DATABASES, Server, run
from support.rest import Api, create_token, ok, refused
from support.waiting import until


def tool(program, *words):
    done = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def sign_in(api, code):
    pending = ok(api.sign_in("ada@example.com"))
    return api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": pending["mfaPendingCredential"],
        "mfaEnrollmentId": pending["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": code}})


def test_a_recovered_database_is_served_once_what_was_valid_has_ended(tmp_path):
    data, file = tmp_path / "data", tmp_path / "audit.jsonl"
    data.mkdir(mode=0o700)
    url = DATABASES.add(data)
    flags = "--audit-file", file
    with Server(data, *flags) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("recovered")
        token = create_token(data, "recovered", "owner")
        api = Api(server.url, "recovered", pages.api_key("recovered"), token)
        api.switch_totp_on(5)
        user = api.sign_up("ada@example.com")
        api.verify_email(user["localId"])
        otp, _ = api.enroll(ok(api.sign_in("ada@example.com"))["idToken"], ago=120)
        session = ok(sign_in(api, otp.at(int(time.time()) - 60)))["refreshToken"]
        tool("pg_dump", "-Fc", "-f", tmp_path / "backup", url)
        # Accepted after the backup.
        code = otp.at(int(time.time()))
        ok(sign_in(api, code))
        pages.create_project("lost-app")
        until(lambda: "lost-app" in file.read_text(), "the audit file has the entry")
        running = run("restored", "--data", data)
        assert running.returncode == 75 and "Stop it first" in running.stderr, running.stderr
        assert server.stop() == 0
    tool("pg_restore", "--clean", "--if-exists", "-d", url, tmp_path / "backup")
    stopped = run("serve", "--data", data, "--listen", "127.0.0.1:0", *flags)
    assert stopped.returncode == 78, stopped.stderr
    assert "an earlier state of the database was recovered" in " ".join(stopped.stderr.split())
    assert f"countersign restored --data {data} --database" in " ".join(stopped.stderr.split())
    done = run("restored", "--data", data)
    assert done.returncode == 0, done.stderr
    assert "One-time codes up to now are marked as used" in " ".join(done.stdout.split())
    with Server(data, *flags) as server:
        api.http = Api(server.url, "recovered", api.key).http
        refused(sign_in(api, code), "INVALID_CODE")
        renewed = api.http.post("/v1/token", params={"key": api.key}, data={
            "grant_type": "refresh_token", "refresh_token": session})
        assert renewed.status_code == 400 and "TOKEN_EXPIRED" in renewed.text, renewed.text
        assert pages.http.get(f"{server.url}/projects").status_code == 303
        until(lambda: "instance.restore" in file.read_text(), "the file goes on")
