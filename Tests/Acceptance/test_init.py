"""An instance is created only by `init`, except in development."""

import os
import shutil
import sqlite3
import stat
import subprocess
import time

import pytest

from support.program import (
    PROGRAM, ROOT, Server, environment, initialize, on_small_disk, run)
from support.waiting import until

pytestmark = pytest.mark.sqlite


def serve(*words, env=None):
    return run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, *words, env=env)


def test_init_creates_an_instance_that_serve_serves(tmp_path):
    data = tmp_path / "data"
    created = run("init", "--data", data)
    assert created.returncode == 0 and "countersign serve" in created.stdout, created.stderr
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE((data / "master.key").stat().st_mode) == 0o600
    key = (data / "master.key").read_bytes()
    again = run("init", "--data", data)
    assert again.returncode == 78 and "already" in again.stderr
    assert (data / "master.key").read_bytes() == key
    with Server(data) as server:
        assert server.setup_code


def test_serve_creates_no_instance(tmp_path):
    missing = serve("--data", tmp_path / "missing")
    assert missing.returncode == 78
    assert "mounted" in missing.stderr and "countersign init" in missing.stderr
    assert not (tmp_path / "missing").exists()
    (tmp_path / "empty").mkdir()
    empty = serve("--data", tmp_path / "empty")
    assert empty.returncode == 78 and "countersign init" in empty.stderr
    assert not (tmp_path / "empty/master.key").exists()
    # With a key from the environment, the database is still missing.
    with Server(tmp_path / "other") as server:
        server.stop()
    key = (tmp_path / "other/master.key").read_text().strip()
    keyed = serve("--data", tmp_path / "empty", env={"COUNTERSIGN_MASTER_KEY": key})
    assert keyed.returncode == 78
    assert not (tmp_path / "empty/countersign.sqlite").exists()


@pytest.mark.parametrize("database", [None, b"", "no tables"])
@pytest.mark.parametrize("profile", ["standalone", "emulator"])
def test_a_key_without_its_database_is_refused(tmp_path, database, profile):
    with Server(tmp_path, profile=profile) as server:
        server.stop()
    for file in tmp_path.glob("countersign.sqlite*"):
        file.unlink()
    file = tmp_path / "countersign.sqlite"
    if database == "no tables":
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA user_version = 1")
        connection.execute("VACUUM")
        connection.close()
    elif database is not None:
        file.write_bytes(database)
    for refusal in (serve("--data", tmp_path, "--profile", profile),
                    run("admin", "list", "--data", tmp_path)):
        assert refusal.returncode == 78 and refusal.stderr.strip(), refusal.stdout
    result = run("init", "--data", tmp_path)
    assert result.returncode == 78
    if database is None:
        assert "countersign restore" in result.stderr
        assert not file.exists()


def test_emulators_start_in_an_empty_folder(tmp_path):
    """So do demos: that of these tests has been created in one."""
    (tmp_path / "empty").mkdir()
    with Server(tmp_path / "empty", "--access-log", "none", profile="emulator") as server:
        assert " serves http" in server.output[0]
    beyond = serve("--data", tmp_path / "public", "--profile", "emulator", "--listen", "0.0.0.0:0",
                   "--emulator-beyond-loopback", "--public-url", "https://emulator.example.com",
                   "--trusted-proxy", "192.0.2.1")
    assert beyond.returncode == 78 and "countersign init" in beyond.stderr


def kill_while_creating(data, share, *words):
    """Kills a command a share of a second after it began to create an instance, or when it's done;
    returns how long the creation took until then, and what the command printed."""
    process = subprocess.Popen([str(PROGRAM), *map(str, words), "--data", str(data)], env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    draft = data / "init.draft"
    until(draft.exists, "the creation begins", 60)
    begin = time.monotonic()
    while draft.exists() and time.monotonic() < begin + share:
        time.sleep(0.001)
    process.kill()
    return time.monotonic() - begin, process.communicate(timeout=60)[0]


# Moments at which a creation is killed; the last is after it.
MOMENTS = 8


def test_a_killed_init_is_repeated(tmp_path):
    whole, _ = kill_while_creating(tmp_path / "whole", 60, "init")
    for number in range(MOMENTS):
        data = tmp_path / str(number)
        _, said = kill_while_creating(data, whole * 1.1 * number / (MOMENTS - 1), "init")
        again = run("init", "--data", data)
        is_done = "Created an instance" in said or "already contains an instance" in again.stderr
        assert not is_done or number, "no creation was killed halfway"
        assert again.returncode == (78 if is_done else 0), (number, said, again.stderr)
        listed = run("admin", "list", "--data", data)
        assert listed.returncode == 0, (number, listed.stderr)
        assert {file.name for file in data.iterdir()} == {
            "countersign.sqlite", "master.key", "server.lock", "keys.lock"}, number


def test_a_killed_first_start_of_an_emulator_is_repeated(tmp_path):
    words = ["serve", "--profile", "emulator", "--listen", "127.0.0.1:0", "--assets", ROOT]
    whole, _ = kill_while_creating(tmp_path / "whole", 60, *words)
    for number in range(MOMENTS // 2):
        data = tmp_path / str(number)
        kill_while_creating(data, whole * number / (MOMENTS // 2), *words)
        with Server(data, profile="emulator") as server:
            assert server.stop() == 0
        assert not (data / "init.draft").exists()


def whole_instance(data, folder):
    """Moves the files of a new instance to a subfolder, as its creation keeps them."""
    initialize(data)
    (data / folder).mkdir()
    for name in ("master.key", "countersign.sqlite"):
        (data / name).rename(data / folder / name)


@pytest.mark.parametrize("command", ["init", "admin list", "migrate", "serve"])
@pytest.mark.parametrize("moved", [[], ["master.key"], ["master.key", "countersign.sqlite"]])
def test_a_creation_that_was_killed_at_its_end_is_finished(tmp_path, command, moved):
    data = tmp_path / "data"
    whole_instance(data, "init.ready")
    key = (data / "init.ready/master.key").read_bytes()
    for name in moved:
        (data / "init.ready" / name).rename(data / name)
    if command == "serve":
        with Server(data) as server:
            assert server.stop() == 0
    else:
        result = run(*command.split(), "--data", data)
        assert result.returncode == 0, result.stderr
    assert (data / "master.key").read_bytes() == key
    assert not (data / "init.ready").exists()
    assert run("doctor", "--data", data, "--assets", ROOT).returncode < 2


def test_what_a_killed_init_left_does_not_let_a_key_lose_its_database(tmp_path):
    """Only a folder without a key gets a new one."""
    data = tmp_path / "data"
    whole_instance(data, "init.draft")
    initialize(tmp_path / "other")
    key = (tmp_path / "other/master.key").read_bytes()
    shutil.copy2(tmp_path / "other/master.key", data)
    for words in (["init"], ["serve", "--assets", ROOT, "--profile", "emulator", "--listen",
                             "127.0.0.1:0"]):
        refused = run(*words, "--data", data)
        assert refused.returncode == 78 and "countersign restore" in refused.stderr
    assert (data / "master.key").read_bytes() == key
    assert not (data / "countersign.sqlite").exists()


@pytest.mark.parametrize("words", [
    ["init"], ["serve", "--profile", "emulator", "--listen", "127.0.0.1:0", "--assets", ROOT]])
def test_a_creation_that_the_disk_has_no_room_for_is_repeated(tmp_path, words):
    folder = tmp_path / "disk"
    folder.mkdir()
    prefix = on_small_disk(folder, "size=32m,mode=700")
    if prefix is None:
        pytest.skip("mounting isn't allowed on this system")
    # Half a mebibyte is left at first, which is room for the key.
    script = ('dd if=/dev/zero of="$1/ballast" bs=64k count=504 2>/dev/null; disk=$1 data=$1/data; '
              'program=$2; shift 2; "$program" "$@" --data "$data" && exit 99; rm "$disk/ballast"; '
              'ls "$data"; exec "$program" init --data "$data"')
    result = run(*words, prefix=[
        *prefix, "sh", "-c", script, "sh", str(folder)])
    assert result.returncode == 0, result.stderr
    assert "full" in result.stderr or "No space left on device" in result.stderr
    assert "Created an instance" in result.stdout and "init.draft" not in result.stdout


def test_script_server_starts_in_an_empty_folder(tmp_path):
    """Replaces the build, which takes minutes, with a test double."""
    root = tmp_path / "checkout"
    (root / "script").mkdir(parents=True)
    (root / ".build/release").mkdir(parents=True)
    shutil.copy(ROOT / "script/server", root / "script/server")
    for name in ("script/bootstrap", "swift"):
        (root / name).write_text("#!/bin/sh\n")
        (root / name).chmod(0o755)
    program = root / ".build/release/countersign"
    program.write_text(f'#!/bin/sh\ncase $1 in serve) echo "$@" ;; *) exec "{PROGRAM}" "$@" ;; esac\n')
    program.chmod(0o755)

    def start(*words):
        result = subprocess.run(
            [root / "script/server", *map(str, words)], capture_output=True, text=True, timeout=60,
            env={**environment(), "PATH": f"{root}:{os.environ['PATH']}"})
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines()[-1].startswith("serve --assets")

    start()
    assert (root / "data/countersign.sqlite").exists()
    key = (root / "data/master.key").read_bytes()
    start()
    assert (root / "data/master.key").read_bytes() == key
    start("--data", tmp_path / "named")
    assert (tmp_path / "named/countersign.sqlite").exists()
    for words in (["--demo"], ["--profile", "emulator"], ["--profile=emulator"]):
        start("--data", tmp_path / "none", *words)
        assert not (tmp_path / "none").exists()


def test_a_command_does_not_migrate_a_running_servers_database(tmp_path):
    with Server(tmp_path) as server:
        database = sqlite3.connect(tmp_path / "countersign.sqlite", timeout=30)
        applied = database.execute("SELECT name, digest, applied_at FROM schema_migration").fetchall()
        with database:
            database.execute("DELETE FROM schema_migration WHERE name <> 'm0069_baseline'")
            database.execute("UPDATE schema_migration SET name = 'm0068_suspended_users'")
        for words in (["admin", "list"], ["keys", "rotate"]):
            result = run(*words, "--data", tmp_path)
            assert result.returncode == 78 and "lacks" in result.stderr
            assert f"countersign migrate --data {tmp_path}" in result.stderr
        rows = database.execute("SELECT name FROM schema_migration").fetchall()
        assert rows == [("m0068_suspended_users",)]
        with database:
            database.execute("DELETE FROM schema_migration")
            database.executemany("INSERT INTO schema_migration VALUES (?, ?, ?)", applied)
        database.close()
        assert run("admin", "list", "--data", tmp_path).returncode == 0
        assert server.stop() == 0


def test_init_makes_the_folder_private(tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    (data / "lost+found").mkdir()
    assert run("init", "--data", data).returncode == 0
    assert data.stat().st_mode & 0o777 == 0o700


def test_init_refuses_a_folder_with_other_files(tmp_path):
    (tmp_path / "notes.txt").touch()
    mode = tmp_path.stat().st_mode
    refused = run("init", "--data", tmp_path)
    assert refused.returncode == 78 and "notes.txt" in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
    assert tmp_path.stat().st_mode == mode
