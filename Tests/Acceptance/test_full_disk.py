"""A full disk: a clear error, no partial writes, and reads still work."""

import contextlib
import json
import shutil
import sqlite3
import time
from pathlib import Path

import httpx
import pytest

from support.pages import Pages
from support.program import ROOT, Server, in_mounts_of, new_instance, on_small_disk, run
from support.rest import Api, claims, create_token, ok, refused
from support.waiting import until

pytestmark = pytest.mark.sqlite


@pytest.fixture
def disk(tmp_path):
    """A folder on a small file system that only the server sees."""
    folder = tmp_path / "disk"
    folder.mkdir()
    prefix = on_small_disk(folder, "size=8m,mode=700")
    if prefix is None:
        pytest.skip("mounting isn't allowed on this system")
    return folder, prefix


def test_c13_a_full_disk_refuses_writes_and_recovers(disk):
    folder, prefix = disk
    with Server(folder, prefix=prefix) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("full-disk")
        token = create_token(folder, "full-disk", "owner", prefix=in_mounts_of(server))
        api = Api(server.url, "full-disk", pages.api_key("full-disk"), token)
        api.switch_totp_on(5)
        config = ok(api.admin("GET", "config", version="v2"))
        _, id_token = api.user("before@example.com")
        authenticator, _ = api.enroll(id_token)
        first = ok(api.sign_in("before@example.com"))

        def second_factor():
            return api.factor("mfaSignIn:finalize", {
                "mfaPendingCredential": first["mfaPendingCredential"],
                "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
                "totpVerificationInfo": {"verificationCode": code}})

        ballast = f"/proc/{server.process.pid}/root{folder}/ballast"
        with open(ballast, "wb", buffering=0) as file:
            try:
                while file.write(b"\0" * 4096):
                    pass
            except OSError:
                pass

        written, refusal = [], None
        for number in range(5000):
            answer = api.admin("POST", "accounts", {
                "localId": f"user-{number}", "displayName": "x" * 200})
            if answer.status_code != 200:
                refusal = answer
                break
            written.append(f"user-{number}")
        assert refusal is not None, "the disk never became full"

        # The error is clear and in the right format, for programs and for people.
        error = refused(refusal, "", status=refusal.status_code)
        assert refusal.status_code in (503, 507) and error["message"]
        page = pages.post("/projects/new", {"id": "one-more", "name": "One more"})
        assert page.status_code in (503, 507)
        assert page.headers["content-type"] == "text/html; charset=utf-8"

        # A sign-in that can't be recorded is refused and doesn't use up its code.
        code = authenticator.at(time.time() + 30)
        assert second_factor().status_code in (503, 507)

        # Reads still work.
        assert httpx.get(server.url + "/healthz").text == "ok\n"
        assert pages.get("/projects").status_code == 200
        assert pages.get("/projects/full-disk/users").status_code == 200
        assert ok(api.admin("GET", "config", version="v2")) == config
        assert ok(api.client(":lookup", {"idToken": id_token}))["users"]

        # There are no partial writes: exactly the acknowledged users exist.
        users = {user["localId"] for user in every_user(api)}
        assert set(written) <= users and f"user-{len(written)}" not in users
        assert pages.get("/projects/one-more").status_code == 404

        # With free space, writes work again without a restart.
        with open(ballast, "wb"):
            pass
        ok(api.admin("POST", "accounts", {"localId": "after"}))
        pages.create_project("one-more")
        assert claims(ok(second_factor())["idToken"])["firebase"]["sign_in_second_factor"] == "totp"
        refused(second_factor(), "")
        assert server.process.poll() is None
        copy = folder.parent / "copy.sqlite"
        assert run("backup", "--data", folder, copy, prefix=in_mounts_of(server)).returncode == 0
        check_integrity(copy)


def test_a_start_on_a_full_disk_is_worth_repeating(disk):
    folder, prefix = disk
    script = ('source=$1 target=$2; shift 2; cp -p "$source"/* "$target"; '
              'dd if=/dev/zero of="$target/ballast" bs=4k 2>/dev/null; exec "$@"')
    refusal = run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", folder,
                  prefix=[*prefix, "sh", "-c", script, "sh", str(new_instance()), str(folder)])
    # A service manager restarts it.
    assert refusal.returncode == 75, refusal.stderr
    assert str(folder) in refusal.stderr


@pytest.mark.parametrize("option", ["--access-log", "--audit-file"])
def test_a_start_whose_log_is_on_a_full_disk_is_worth_repeating(tmp_path, option):
    folder = tmp_path / "disk"
    folder.mkdir()
    shutil.copytree(new_instance(), tmp_path / "data")
    refusal = run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", tmp_path / "data",
                  option, folder / "log", prefix=small_disk(folder, files=0))
    assert refusal.returncode == 75, refusal.stderr
    assert str(folder / "log") in refusal.stderr and "No space left on device" in refusal.stderr


def test_an_audit_file_on_a_full_disk_is_a_warning_and_no_line_is_cut(disk, tmp_path):
    folder, prefix = disk
    with Server(tmp_path / "data", "--audit-file", folder / "audit.jsonl", prefix=prefix) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        inside = Path(f"/proc/{server.process.pid}/root{folder}")
        file = inside / "audit.jsonl"
        until(lambda: b'"type":"head"' in file.read_bytes(), "a head is written")
        # The rest of the block that the last line ends in is free, too: it takes a part of a later one.
        with open(file, "ab") as lines:
            size = len(file.read_bytes())
            lines.write(b" " * (4095 - 100 - size % 4096) + b"\n")
        with open(inside / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(b"\0" * 4096):
                pass
        pages.create_project("later-on")
        server.wait_for_line(r"(audit\.jsonl can't be written: No space left on device)", 90)
        assert httpx.get(f"{server.url}/readyz").text == "ready; warnings: audit-file\n"
        before = file.read_bytes()
        assert before.endswith(b"\n")
        (inside / "ballast").unlink()
        server.wait_for_line(r"(is written to \S+audit\.jsonl again)")
        until(lambda: httpx.get(f"{server.url}/readyz").text == "ready\n", "it's ready")
        later = file.read_bytes().removeprefix(before).splitlines()
        assert later and all(json.loads(line)["sequence"] for line in later)



def test_an_import_on_a_full_disk_says_what_it_stored_and_can_be_repeated(disk, tmp_path):
    folder, prefix = disk
    users = tmp_path / "users.json"
    users.write_text(json.dumps({"users": [
        {"localId": f"user-{number}", "displayName": "x" * 200} for number in range(20_000)]}))
    with Server(folder, prefix=prefix) as server:
        Pages(server.url).set_up(server.setup_code).create_project("full-disk")
        inside = in_mounts_of(server)
        ballast = Path(f"/proc/{server.process.pid}/root{folder}/ballast")
        ballast.write_bytes(b"\0" * (1 << 20))
        stopped = run("import", "--data", folder, "--project", "full-disk", users, prefix=inside)
        assert stopped.returncode == 75, stopped.stderr
        assert "users read: " in stopped.stdout
        assert "The database can't be used: database or disk is full\n" in stopped.stderr
        assert "Repeat the command to import the rest" in stopped.stderr
        assert "unavailable(" not in stopped.stderr and "COMMIT" not in stopped.stderr
        stored = int(stopped.stdout.split("imported")[0].split()[-1].replace(",", ""))
        ballast.unlink()
        again = run("import", "--data", folder, "--project", "full-disk", users, prefix=inside)
        # It skips what's stored, and goes on until the disk is full again.
        assert again.returncode == 75 and "already existed" in again.stdout, again.stdout
        rotated = run("keys", "rotate", "--data", folder, prefix=inside)
        assert rotated.returncode in (0, 75) and "unavailable(" not in rotated.stderr
        assert stored > 0


def test_a_backup_of_a_stopped_server_on_a_full_disk_names_the_cause(disk, tmp_path):
    folder, prefix = disk
    script = ('source=$1 target=$2; shift 2; cp -p "$source"/* "$target"; '
              'dd if=/dev/zero of="$target/ballast" bs=4k 2>/dev/null; exec "$@"')
    refusal = run("backup", "--data", folder, tmp_path / "copy.sqlite", prefix=[
        *prefix, "sh", "-c", script, "sh", str(new_instance()), str(folder)])
    assert refusal.returncode == 75 and "database or disk is full" in refusal.stderr, refusal.stderr


def test_a_backup_that_would_leave_a_server_no_space_is_not_begun(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    # The backup would fit, but a server is ready only with 64 MiB.
    prefix = on_small_disk(folder, "size=48m,mode=700")
    if prefix is None:
        pytest.skip("mounting isn't allowed on this system")
    script = '"$@"; code=$?; ls -A "$0"; exit $code'
    for target in (folder, folder / "copy.sqlite"):
        refusal = run("backup", "--data", new_instance(), target, prefix=[
            *prefix, "sh", "-c", script, str(folder)])
        assert refusal.returncode == 75, refusal.stderr
        assert refusal.stdout == "" and "Nothing was written" in refusal.stderr
        assert str(folder) in refusal.stderr and "48 MiB is free" in refusal.stderr


def test_a_restore_on_a_full_disk_is_worth_repeating(disk, tmp_path):
    folder, prefix = disk
    backup = tmp_path / "monday.sqlite"
    assert run("backup", "--data", new_instance(), backup).returncode == 0
    script = ('cp -p "$1/master.key" "$2"; touch "$2/server.lock" "$2/keys.lock"; '
              'dd if=/dev/zero of="$2/ballast" bs=4k 2>/dev/null; shift 2; exec "$@"')
    refusal = run("restore", "--data", folder, backup, prefix=[
        *prefix, "sh", "-c", script, "sh", str(new_instance()), str(folder)])
    assert refusal.returncode == 75, refusal.stderr
    assert "No space left on device" in refusal.stderr


def test_a_demo_on_a_full_disk_is_worth_repeating(disk):
    folder, prefix = disk
    refusal = run("demo", "--data", folder, prefix=prefix)
    assert refusal.returncode == 75, refusal.stderr
    assert refusal.stderr == "The database can't be used: database or disk is full\n"


def test_a_command_that_cannot_create_its_lock_on_a_full_disk_is_worth_repeating(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    script = 'cp -p "$1/countersign.sqlite" "$1/master.key" "$2"; shift 2; exec "$@"'
    refusal = run("admin", "list", "--data", folder, prefix=[
        *small_disk(folder, files=2), "sh", "-c", script, "sh", str(new_instance()), str(folder)])
    assert refusal.returncode == 75, refusal.stderr
    assert "keys.lock" in refusal.stderr and "No space left on device" in refusal.stderr


def small_disk(folder, files):
    """The prefix that mounts a file system with room for a number of files, visible to one command."""
    # One is for its root.
    prefix = on_small_disk(folder, f"size=8m,mode=700,nr_inodes={files + 1}")
    if prefix is None:
        pytest.skip("mounting isn't allowed on this system")
    return prefix


def every_user(api):
    """Yields every user, with a call that isn't audited: batchGet audits that it exports hashes."""
    offset = 0
    while True:
        page = ok(api.admin("POST", "accounts:query", {
            "returnUserInfo": True, "limit": "500", "offset": str(offset)}))
        users = page.get("userInfo", [])
        yield from users
        offset += len(users)
        if len(users) < 500:
            return


def check_integrity(path):
    database = sqlite3.connect(path)
    rows = database.execute("SELECT integrity_check FROM pragma_integrity_check").fetchall()
    database.close()
    assert rows == [("ok",)]
