"""Backup and restore: the documented drill, and revocations that a restore keeps."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import textwrap
import time

import pytest

from support.pages import Pages
from support.program import PROGRAM, ROOT, Server, environment, execute_file, initialize, preloaded, run
from support.rest import Api, create_token, ok, refused
from support.writers import Writers
from test_data_folder import found

pytestmark = pytest.mark.sqlite

BACKUP = (ROOT / "docs/backup.md").read_text()
INCIDENTS = (ROOT / "docs/incidents.md").read_text()


def drill():
    """Returns the commands of the documented drill."""
    return re.search(r"<!-- drill -->\n```sh\n(.*?)```", BACKUP, re.S).group(1).splitlines()


@pytest.fixture
def served(tmp_path):
    """A server with a project, and its API."""
    with Server(tmp_path / "data") as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("acme-app")
        token = create_token(server.data, "acme-app", "owner")
        yield server, pages, Api(server.url, "acme-app", pages.api_key("acme-app"), token)


def backed_up(server, tmp_path):
    file = tmp_path / "monday.sqlite"
    created = run("backup", "--data", server.data, "--check", file)
    assert created.returncode == 0 and "intact" in created.stdout, created.stderr
    return file


def restore(data, file, *words):
    result = run("restore", "--data", data, *words, file)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_restore_to_a_folder_that_cannot_be_written_says_so(tmp_path):
    data = tmp_path / "data"
    assert run("init", "--data", data).returncode == 0
    file = tmp_path / "monday.sqlite"
    assert run("backup", "--data", data, file).returncode == 0
    # Leaves the files with the locks.
    restore(data, file)
    data.chmod(0o500)
    try:
        # Without its capabilities, root can't write it either.
        prefix = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
        refused_ = run("restore", "--data", data, file, prefix=prefix)
    finally:
        data.chmod(0o700)
    assert refused_.returncode == 78, refused_.stderr
    assert refused_.stderr == (f"The backup couldn't be restored: cannot write to {data}/restore.draft: "
                               "Permission denied\n")
    restore(data, file)


def test_the_documented_drill_works(served, tmp_path):
    server, _, api = served
    uid, _ = api.user("eve@example.com")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "countersign").symlink_to(PROGRAM)
    *steps, serve = drill()
    for step in steps:
        result = subprocess.run(
            ["sh", "-ec", step], cwd=tmp_path, capture_output=True, text=True, timeout=60,
            env={**environment(), "PATH": f"{programs}:/usr/bin:/bin"})
        assert result.returncode == 0, f"{step}: {result.stderr}"
    assert serve.startswith("countersign serve --data drill ")
    with Server(tmp_path / "drill") as copy:
        there = Api(copy.url, "acme-app", api.key, api.token)
        [user] = ok(there.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"]
        assert user["email"] == "eve@example.com"
    # The original server still works.
    ok(api.admin("POST", "accounts:lookup", {"localId": [uid]}))


def test_a_restore_does_not_revive_what_was_revoked(served, tmp_path):
    server, pages, api = served
    api.switch_totp_on()
    uid, id_token = api.user("eve@example.com")
    # With a code from the beginning of the window, so that the codes after it aren't used.
    authenticator, session = api.enroll(id_token, ago=120)
    create_token(server.data, "acme-app", "auditor")
    ok(api.admin("POST", "accounts:sendOobCode", {
        "requestType": "PASSWORD_RESET", "email": "eve@example.com", "returnOobLink": True}))
    file = backed_up(server, tmp_path)
    id = re.search(r"^(\S+)\tauditor", run(
        "token", "list", "--data", server.data, "--project", "acme-app").stdout, re.M).group(1)
    assert run("token", "revoke", id, "--data", server.data, "--project", "acme-app").returncode == 0
    factor = ok(api.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"][0]["mfaInfo"][0]
    ok(api.admin("POST", "accounts:update", {"localId": uid, "mfa": {"enrollments": []}}))
    running = run("restore", "--data", server.data, file)
    assert running.returncode == 75 and "command is using" in running.stderr
    # After a kill, the write-ahead log remains.
    server.kill()
    assert (server.data / "countersign.sqlite-wal").stat().st_size > 0
    restored_at = int(time.time())
    result = restore(server.data, file)
    assert "doesn't include removals or revocations after its last change" in result
    assert "used recovery codes" not in result
    [aside] = server.data.glob("before-restore-*")
    assert (aside / "countersign.sqlite-wal").stat().st_size > 0
    former = sqlite3.connect(aside / "countersign.sqlite")
    assert former.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert former.execute("SELECT count(*) FROM factor").fetchone() == (0,)
    former.close()

    with Server(server.data) as again:
        there = Api(again.url, "acme-app", api.key, api.token)
        assert there.client(":lookup", {"idToken": session["idToken"]}).status_code == 400
        answer = there.http.post("/v1/token", params={"key": api.key}, json={
            "grant_type": "refresh_token", "refresh_token": session["refreshToken"]})
        assert answer.status_code == 400, answer.text
        assert pages.http.get(again.url + "/projects").status_code != 200
        # Codes of intervals up to the restore are no longer accepted.
        signed = ok(there.sign_in("eve@example.com"))

        def finalize(at):
            return there.factor("mfaSignIn:finalize", {
                "mfaPendingCredential": signed["mfaPendingCredential"],
                "mfaEnrollmentId": factor["mfaEnrollmentId"],
                "totpVerificationInfo": {"verificationCode": authenticator.at(at)}})
        refused(finalize(restored_at), "INVALID_CODE")
        ok(finalize(int(time.time()) + 60))
    database = sqlite3.connect(server.data / "countersign.sqlite")
    assert database.execute(
        "SELECT count(*) FROM oob_code WHERE expires_at > ?",
        (int(time.time() * 1_000_000),)).fetchone() == (0,)
    row = database.execute(
        "SELECT actor_kind, new_value FROM audit JOIN audit_change USING (audit_id) "
        "WHERE action = 'instance.restore' AND field = 'file-name'").fetchall()
    assert row == [("command line", "monday.sqlite")]
    database.close()


def test_a_restore_without_a_database_does_not_say_that_it_is_kept(served, tmp_path):
    server, _, _ = served
    file = backed_up(server, tmp_path)
    # The log remains.
    server.kill()
    (server.data / "countersign.sqlite").unlink()
    said = " ".join(restore(server.data, file).split())
    assert "The previous database is in" not in said
    [aside] = server.data.glob("before-restore-*")
    assert f"The -wal and -shm files of a missing database are in {aside}." in said
    assert "There's no previous database in" in said


def recovery():
    """Returns the documented commands that copy a deleted database from the process."""
    commands = re.search(r"```sh\n( +PROCESS=.*?)```", INCIDENTS, re.S).group(1)
    return textwrap.dedent(commands).splitlines()


def test_the_documented_recovery_of_a_deleted_database_has_every_acknowledged_write(served, tmp_path):
    server, _, api = served
    file = backed_up(server, tmp_path)
    # The service isn't one of systemd here, and its user doesn't exist.
    before = [f"systemctl() {{ if [ $1 = show ]; then echo {server.process.pid}; fi; }}",
              "chown() { :; }", f"DATA={server.data}"]

    def shell(commands):
        result = subprocess.run(["sh", "-ec", "\n".join(before + commands)], capture_output=True,
                                text=True, timeout=60)
        assert result.returncode == 0, result.stderr
        return result.stdout
    with Writers(server, api, "acme-app") as writers:
        writers.wait(50, "users are created")
        for part in server.data.glob("countersign.sqlite*"):
            part.unlink()
        writers.wait(100, "users are created in the deleted file")
        # What's said about the missing file leads there.
        for result in (run("doctor", "--data", server.data), run("restore", "--data", server.data, file),
                       run("check-config", "--data", server.data, "--assets", ROOT),
                       run("backup", "--data", server.data, tmp_path / "another.sqlite")):
            said = " ".join((result.stdout + result.stderr).split())
            assert "Don't stop a server" in said and "restore a backup" not in said, said
            assert '"The database file is missing" in /usr/share/doc/countersign/docs/incidents.md' in said
            assert result.returncode != 0
        assert "\n### The database file is missing\n" in INCIDENTS

        listed = shell(recovery()[:2])
        numbers = {suffix: re.search(rf"(\d+) -> \S+/countersign\.sqlite{suffix} \(deleted\)", listed)[1]
                   for suffix in ("", "-wal")}
        commands = "\n".join(recovery())
        assert commands.count("/fd/12 ") == commands.count("/fd/13\n") == 1
        shell(commands.replace("/fd/12 ", f"/fd/{numbers['']} ")
              .replace("/fd/13\n", f"/fd/{numbers['-wal']}\n").splitlines())
    server.wait()
    assert len(writers.acknowledged) >= 150
    with Server(server.data) as again:
        assert found(again, "acme-app", api.token, writers.acknowledged) == set(writers.acknowledged)
        findings = json.loads(run("doctor", "--data", server.data, "--json").stdout)
        assert [finding["severity"] for finding in findings if finding["check"] == "integrity"] == ["ok"]


def test_sessions_can_be_kept(served, tmp_path):
    server, _, api = served
    _, id_token = api.user("eve@example.com")
    file = backed_up(server, tmp_path)
    server.stop()
    assert "Sessions were kept" in restore(server.data, file, "--keep-sessions")
    with Server(server.data) as again:
        ok(Api(again.url, "acme-app", api.key, api.token).client(":lookup", {"idToken": id_token}))


def test_an_invalid_backup_changes_nothing(served, tmp_path):
    server, _, _ = served
    good = backed_up(server, tmp_path)
    server.stop()
    before = (server.data / "countersign.sqlite").read_bytes()
    bad = tmp_path / "bad.sqlite"
    content = bytearray(good.read_bytes())
    content[4096 * 5:4096 * 9] = b"\xff" * 4096 * 4
    bad.write_bytes(content)
    (tmp_path / "text.sqlite").write_text("This is no database. " * 500)
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE t (x)")
    in_use = tmp_path / "in-use.sqlite"
    shutil.copy(good, in_use)
    (tmp_path / "in-use.sqlite-wal").write_bytes(b"x" * 100)
    (tmp_path / "link.sqlite").symlink_to(in_use)
    for name in ("bad", "text", "other", "in-use", "link", "missing"):
        for words in (["restore"], *([["backup", "--check"]] if name != "missing" else [])):
            result = run(*words, "--data", server.data, tmp_path / f"{name}.sqlite")
            assert result.returncode == 78 and result.stderr.strip(), (name, words, result.stdout)
    initialize(tmp_path / "elsewhere")
    foreign = run("restore", "--data", tmp_path / "elsewhere", good)
    assert foreign.returncode == 78 and "master key" in foreign.stderr
    (tmp_path / "nothing").mkdir()
    keyless = run("restore", "--data", tmp_path / "nothing", good)
    assert keyless.returncode == 78 and "master.key" in keyless.stderr
    assert (server.data / "countersign.sqlite").read_bytes() == before
    assert not list(server.data.glob("*restore*"))


def test_a_backup_that_cannot_be_verified_never_gets_its_name(tmp_path):
    data, folder = tmp_path / "data", tmp_path / "backups"
    initialize(data)
    folder.mkdir(mode=0o700)
    execute_file(data, "INSERT INTO verification_code VALUES (x'00', 999, 'of a missing pool')")
    for words in (["--check", folder / "monday.sqlite"], ["--keep", "1", folder]):
        refused_ = run("backup", "--data", data, *words)
        assert refused_.returncode == 78 and "a row in verification_code" in refused_.stderr
        assert "Created" not in refused_.stdout
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2 and all(name.endswith(".sqlite.unverified") for name in names), names


def test_a_damaged_database_with_a_log_is_replaced(served, tmp_path):
    server, _, api = served
    uid, _ = api.user("eve@example.com")
    file = backed_up(server, tmp_path)
    api.user("lost@example.com")
    server.kill()
    (server.data / "countersign.sqlite").write_bytes(b"This is no database. " * 1000)
    result = restore(server.data, file)
    assert "doesn't include removals or revocations after its last change" in result
    assert "used recovery codes" in result
    with Server(server.data) as again:
        there = Api(again.url, "acme-app", api.key, api.token)
        assert ok(there.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"]
    database = sqlite3.connect(server.data / "countersign.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()


def test_a_restore_that_cannot_be_made_durable_is_finished_by_the_next_start(served, tmp_path):
    server, _, _ = served
    file = backed_up(server, tmp_path)
    server.stop()
    env = {**preloaded(tmp_path, "unsynced"), "UNSYNCED": str(server.data)}
    stopped = run("restore", "--data", server.data, file, env=env)
    assert stopped.returncode == 75 and stopped.stdout == "", stopped.stdout
    assert f"The restore to {server.data} can't be finished yet: " in stopped.stderr
    assert "Input/output error. The next start or command finishes it.\n" in stopped.stderr
    with Server(server.data) as again:
        assert "Finished an interrupted restore." in again.text


def test_after_a_kill_at_any_step_the_database_is_the_old_or_the_new_one(served, tmp_path):
    server, _, api = served
    early, _ = api.user("early@example.com")
    file = backed_up(server, tmp_path)
    late, _ = api.user("late@example.com")
    # After a kill, the write-ahead log remains.
    server.kill()
    env = preloaded(tmp_path, "rename")
    found = []
    while True:
        data = tmp_path / f"copy-{len(found)}"
        shutil.copytree(server.data, data)
        result = run("restore", "--data", data, file, env={
            **env, "KILL_AT_RENAME": str(len(found) + 1)})
        if result.returncode == 0:
            break
        assert result.returncode == -signal.SIGKILL, result.stderr
        with Server(data) as again:
            there = Api(again.url, "acme-app", api.key, api.token)
            users = ok(there.admin("POST", "accounts:lookup", {"localId": [early, late]}))["users"]
            assert again.stop() == 0
        is_new = [user["localId"] for user in users] == [early]
        assert is_new or sorted(user["localId"] for user in users) == sorted([early, late])
        found.append(is_new)
        assert is_new == ("Finished an interrupted restore." in again.text)
        names = {path.name for path in data.iterdir() if "restore" in path.name}
        former = list(data.glob("before-restore-*"))
        assert names - {"restore.draft"} == {path.name for path in former}
        databases = [data / "countersign.sqlite", *(path / "countersign.sqlite" for path in former)]
        assert len(databases) == (2 if is_new else 1)
        for path in databases:
            database = sqlite3.connect(path)
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            database.close()
        if is_new:
            database = sqlite3.connect(databases[1])
            assert database.execute(
                "SELECT count(*) FROM account WHERE uid = ?", (late,)).fetchone() == (1,)
            database.close()
    # The old database until the draft is renamed; the new one after that.
    assert found[0] is False and found.count(True) >= 3 and sorted(found) == found


def test_a_backup_can_be_written_to_standard_output(served, tmp_path):
    server, _, _ = served
    # What earlier versions left when they were killed.
    (server.data / "backup.draft-1").write_text("users")
    result = subprocess.run(
        [str(PROGRAM), "backup", "--data", str(server.data), "-"], capture_output=True,
        env=environment(), timeout=60)
    assert result.returncode == 0, result.stderr
    file = tmp_path / "streamed.sqlite"
    file.write_bytes(result.stdout)
    checked = run("backup", "--data", server.data, "--check", file)
    assert checked.returncode == 0 and "intact" in checked.stdout, checked.stderr
    assert not list(server.data.glob("backup*")) and not (tmp_path / "-").exists()
    on_terminal = subprocess.run(
        ["script", "-qec", f"'{PROGRAM}' backup --data '{server.data}' -", "/dev/null"],
        capture_output=True, text=True, env=environment(), timeout=60)
    assert on_terminal.returncode == 64 and "terminal" in on_terminal.stdout
