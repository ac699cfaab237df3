"""The data folder: permissions, contents, and backups."""

import base64
import shutil
import socket
import sqlite3
import stat
import threading

import httpx
import pytest

from support.pages import Pages
from support.program import ROOT, Server, execute_file, initialize, preloaded, read_only, run
from support.rest import Api, create_token, ok

pytestmark = pytest.mark.sqlite


def serve(*words, prefix=(), env=None):
    """Runs a server that is expected to refuse to start."""
    return run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, *words, prefix=prefix, env=env)


@pytest.mark.parametrize("first,second", [("standalone", "emulator"), ("emulator", "standalone")])
def test_a_folder_of_the_other_profile_is_refused(tmp_path, first, second):
    with Server(tmp_path, profile=first) as server:
        assert server.stop() == 0
    refusal = serve("--data", tmp_path, "--profile", second)
    assert refusal.returncode == 78
    assert first in refusal.stderr and refusal.stderr.strip().endswith(".")
    with Server(tmp_path, profile=first) as server:
        assert server.stop() == 0


def test_a_folder_without_locks_is_not_said_to_be_in_use(tmp_path):
    data = tmp_path / "data"
    initialize(data)
    env = preloaded(tmp_path, "unlocked")
    for words in (["admin", "list", "--data", data], ["backup", "--data", data, tmp_path / "copy"]):
        refusal = run(*words, env=env)
        assert refusal.returncode == 78, refusal.stderr
        assert refusal.stderr == (
            f"The lock file {data}/keys.lock can't be locked: No locks available. The data folder "
            "requires a file system with locks.\n")


def test_an_export_that_cannot_be_recorded_leaves_no_file(tmp_path):
    data = tmp_path / "data"
    with Server(data) as server:
        Pages(server.url).set_up(server.setup_code).create_project("acme-app")
    # Refuses what a full disk refuses.
    execute_file(data, "CREATE TRIGGER full_disk BEFORE INSERT ON audit "
                       "BEGIN SELECT RAISE(ABORT, 'full'); END")
    words = ["export", "--data", data, "--project", "acme-app", tmp_path / "users.json"]
    assert run(*words).returncode != 0
    assert not list(tmp_path.glob("users.json*"))


def test_a_second_server_is_refused(tmp_path):
    with Server(tmp_path) as server:
        refusal = serve("--data", tmp_path)
        # Another attempt can succeed, so a service manager restarts it.
        assert refusal.returncode == 75
        assert "Another Countersign server or command is using" in refusal.stderr
        assert httpx.get(server.url + "/healthz").text == "ok\n"


@pytest.mark.parametrize("option", ["--listen", "--metrics-listen"])
def test_a_start_with_an_address_that_is_in_use_is_worth_repeating(tmp_path, option):
    initialize(tmp_path / "data")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        refusal = run("serve", "--data", tmp_path / "data", "--assets", ROOT, "--listen", "127.0.0.1:0",
                      option, f"127.0.0.1:{other.getsockname()[1]}")
    assert refusal.returncode == 75 and "Cannot listen on" in refusal.stderr, refusal.stderr


def test_a_start_with_an_address_that_no_interface_has_yet_is_worth_repeating(tmp_path):
    initialize(tmp_path / "data")
    # From a network for documentation.
    refusal = serve("--data", tmp_path / "data", "--metrics-listen", "192.0.2.1:9090")
    assert refusal.returncode == 75 and "192.0.2.1" in refusal.stderr, refusal.stderr


def test_the_service_is_restarted_after_what_another_attempt_can_solve():
    unit = (ROOT / "packaging/countersign.service").read_text()
    assert "Restart=on-failure\n" in unit and "RestartPreventExitStatus=64 78\n" in unit
    # By default, systemd gives up after five starts in ten seconds.
    assert "StartLimitIntervalSec=0\n" in unit.split("[Service]")[0]


@pytest.mark.parametrize("used_before", [False, True])
def test_a_read_only_folder_is_refused(tmp_path, used_before):
    folder = tmp_path / "data"
    folder.mkdir()
    if used_before:
        with Server(folder) as server:
            server.stop()
    prefix = read_only(folder)
    if prefix is None:
        pytest.skip("root can write everywhere, and mounting isn't allowed")
    refusal = serve("--data", folder, prefix=prefix)
    examined = run("doctor", "--data", folder, "--assets", ROOT, prefix=prefix)
    checked = run("check-config", "--data", folder, "--assets", ROOT, prefix=prefix)
    folder.chmod(0o700)
    # A disk with errors becomes read-only, which isn't a matter of the configuration.
    assert refusal.returncode == (75 if prefix else 78)
    assert examined.returncode == 2 and checked.returncode == 78
    reason = "Read-only file system" if prefix else "Permission denied"
    for text in (refusal.stderr, examined.stdout, *([checked.stderr] if used_before else [])):
        said = " ".join(text.split())
        assert f"The data folder {folder} isn't writable: {reason}." in said, said


@pytest.mark.parametrize("words", [["init"], ["serve", "--assets", ROOT, "--listen", "127.0.0.1:0"]])
def test_a_folder_that_is_a_link_to_nothing_is_refused(tmp_path, words):
    (tmp_path / "data").symlink_to("volume")
    refusal = run(*words, "--data", tmp_path / "data")
    assert refusal.returncode == 78
    assert "is a link to volume, which doesn't exist" in " ".join(refusal.stderr.split())
    (tmp_path / "volume").write_text("no folder")
    refusal = run(*words, "--data", tmp_path / "data")
    assert refusal.returncode == 78 and "isn't a folder" in refusal.stderr


def test_the_folder_is_private_to_its_owner(tmp_path):
    with Server(tmp_path / "data") as server:
        output = server.text
        server.setup_code
        assert "can't be read" in server.text and "master.key" in server.text, output
        assert mode(tmp_path / "data") == 0o700
        assert mode(tmp_path / "data/master.key") == 0o600
        assert mode(tmp_path / "data/countersign.sqlite") & 0o077 == 0


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_readable_by_others_is_refused(tmp_path):
    with Server(tmp_path) as server:
        server.stop()
    (tmp_path / "master.key").chmod(0o644)
    refusal = serve("--data", tmp_path)
    assert refusal.returncode == 78 and "chmod 600" in refusal.stderr


def test_a_missing_or_wrong_key_is_refused(tmp_path):
    with Server(tmp_path / "one") as server:
        server.stop()
    initialize(tmp_path / "other")
    shutil.copy(tmp_path / "other/master.key", tmp_path / "one/master.key")
    refusal = serve("--data", tmp_path / "one")
    assert refusal.returncode == 78 and "key" in refusal.stderr
    (tmp_path / "one/master.key").unlink()
    refusal = serve("--data", tmp_path / "one")
    assert refusal.returncode == 78 and "is missing" in refusal.stderr
    assert not (tmp_path / "one/master.key").exists()


def test_the_key_can_come_from_the_environment(tmp_path):
    with Server(tmp_path) as server:
        server.stop()
    key = (tmp_path / "master.key").read_text().strip()
    (tmp_path / "master.key").unlink()
    with Server(tmp_path, env={"COUNTERSIGN_MASTER_KEY": key}) as server:
        assert server.stop() == 0
    assert not (tmp_path / "master.key").exists()


def test_a_backup_during_writes_is_complete(tmp_path):
    """The copy is intact and has at least the writes acknowledged before the backup."""
    with Server(tmp_path / "data") as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("backed-up")
        token = create_token(server.data, "backed-up", "owner")
        written, stop = [], threading.Event()

        def write(name):
            api = Api(server.url, "backed-up", "k", token)
            number = 0
            while not stop.is_set():
                id = f"{name}-{number}"
                ok(api.admin("POST", "accounts", {"localId": id}))
                written.append(id)
                number += 1
        writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for writer in writers:
            writer.start()
        while len(written) < 50:
            assert any(writer.is_alive() for writer in writers)
        before = list(written)
        copy = tmp_path / "copy.sqlite"
        result = run("backup", "--data", server.data, copy)
        stop.set()
        for writer in writers:
            writer.join()
        assert result.returncode == 0, result.stderr
        assert "master.key" in result.stdout
        again = run("backup", "--data", server.data, copy)
        assert again.returncode == 78 and "already exists" in again.stderr

    database = sqlite3.connect(copy)
    assert database.execute("SELECT integrity_check FROM pragma_integrity_check").fetchall() == [
        ("ok",)]
    database.close()
    restored = tmp_path / "restored"
    restored.mkdir(mode=0o700)
    shutil.copy(copy, restored / "countersign.sqlite")
    shutil.copy2(tmp_path / "data/master.key", restored / "master.key")
    with Server(restored) as server:
        assert found(server, "backed-up", token, before) == set(before)


def test_k3_a_backup_next_to_a_key_is_refused(tmp_path):
    data = tmp_path / "data"
    assert run("init", "--data", data).returncode == 0
    before = sorted(data.iterdir())
    for words in ([data / "copy.sqlite"], [data], ["copy.sqlite"], [data, "--keep", "2"]):
        refused = run("backup", "--data", data, *words, cwd=data)
        assert refused.returncode == 78, words
        assert "has a master.key" in " ".join(refused.stderr.split()), refused.stderr
    assert {path.name for path in data.iterdir()} - {path.name for path in before} <= {"keys.lock"}


def test_k3_a_backup_has_no_key_and_says_where_the_key_is(tmp_path):
    data, copy = tmp_path / "data", tmp_path / "copy.sqlite"
    assert run("init", "--data", data).returncode == 0
    result = run("backup", "--data", data, copy)
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "doesn't contain the master key" in said
    assert f"{data}/master.key somewhere else" in said
    [line] = [line for line in (data / "master.key").read_text().splitlines()
              if line.startswith("countersign-master-key-1 ")]
    key = line.split()[-1]
    raw = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4))
    assert len(raw) == 32
    kept = copy.read_bytes()
    assert key.encode() not in kept and raw not in kept and raw.hex().encode() not in kept.lower()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.sqlite", "data"]


def found(server, project, token, ids):
    """Returns the IDs that exist."""
    api = Api(server.url, project, "k", token)
    return {
        user["localId"]
        for start in range(0, len(ids), 100)
        for user in ok(api.admin(
            "POST", "accounts:lookup", {"localId": ids[start:start + 100]})).get("users", [])}


def test_commands_require_a_data_folder(tmp_path):
    for words in (["admin", "list"], ["token", "list", "--project", "p"], ["backup", "f"]):
        refusal = run(*words, "--data", tmp_path)
        assert refusal.returncode == 78 and "no Countersign data" in refusal.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_database_is_refused(tmp_path):
    with Server(tmp_path) as server:
        server.stop()
    for extra in tmp_path.glob("countersign.sqlite-*"):
        extra.unlink()
    (tmp_path / "countersign.sqlite").write_bytes(b"This is no database. " * 1000)
    refusal = serve("--data", tmp_path)
    assert refusal.returncode == 78 and refusal.stderr.strip()
