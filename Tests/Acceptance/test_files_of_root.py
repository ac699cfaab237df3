"""Commands that root runs in the data folder of another user, who can use every file afterwards."""

import json
import os
import shutil
import subprocess

import pytest

from support.program import PROGRAM, Server, environment, new_instance, run

pytestmark = [
    # On PostgreSQL, the folder has no database.
    pytest.mark.sqlite,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root creates files for other users"),
]

# nobody, with another group, so that neither is mistaken for the other.
USER, GROUP = 65534, 65533


@pytest.fixture
def folder(tmp_path):
    """A data folder with an instance, of a user other than root."""
    data = tmp_path / "data"
    shutil.copytree(new_instance(), data)
    for path in [data, *data.rglob("*")]:
        os.chown(path, USER, GROUP)
    return data


def strangers(folder):
    """Returns what doesn't belong to the user."""
    paths = [folder, *folder.rglob("*")]
    owners = {path: path.lstat() for path in paths}
    return [str(path) for path, at in owners.items() if (at.st_uid, at.st_gid) != (USER, GROUP)]


def succeed(*words, **more):
    result = run(*words, **more)
    assert result.returncode == 0, result.stderr
    return result


def test_init_creates_an_instance_for_the_owner_of_the_folder(tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    os.chown(data, USER, GROUP)
    succeed("init", "--data", data)
    assert (data / "countersign.sqlite").exists() and (data / "master.key").exists()
    assert strangers(data) == []


def test_a_rotated_master_key_belongs_to_the_owner_of_the_folder(folder):
    before = (folder / "master.key").read_bytes()
    succeed("keys", "rotate-master", "--data", folder)
    assert (folder / "master.key").read_bytes() != before
    assert strangers(folder) == []


def test_a_restored_database_belongs_to_the_owner_of_the_folder(folder, tmp_path):
    copy = tmp_path / "copy.sqlite"
    succeed("backup", "--data", folder, copy)
    # Its folder is root's.
    assert (copy.stat().st_uid, copy.stat().st_gid) == (0, 0)
    succeed("restore", "--data", folder, copy)
    assert list(folder.glob("before-restore-*"))
    assert strangers(folder) == []


def test_a_backup_belongs_to_the_owner_of_its_folder_only_if_that_user_owns_the_database(
        folder, tmp_path):
    for name, user in [("same", USER), ("other", USER - 10)]:
        backups = tmp_path / name
        backups.mkdir(mode=0o700)
        os.chown(backups, user, GROUP)
        succeed("backup", "--data", folder, backups / "copy.sqlite")
    assert (tmp_path / "same/copy.sqlite").stat().st_uid == USER
    assert (tmp_path / "other/copy.sqlite").stat().st_uid == 0


def test_commands_and_a_server_leave_files_of_the_owner(folder, tmp_path):
    for lock in folder.glob("*.lock"):
        lock.unlink()
    users = tmp_path / "users.json"
    users.write_text(json.dumps({"users": []}))
    succeed("admin", "list", "--data", folder)
    run("import", "--data", folder, "--project", "none", users)
    words = [str(PROGRAM), "backup", "--data", str(folder), "-"]
    subprocess.run(words, env=environment(), stdout=subprocess.DEVNULL, check=True, timeout=60)
    assert (folder / "keys.lock").exists()
    assert strangers(folder) == []
    with Server(folder) as server:
        assert server.setup_code
        # SQLite creates them, and removes them when the server stops.
        for suffix in ("-wal", "-shm"):
            assert (folder / f"countersign.sqlite{suffix}").exists()
        assert strangers(folder) == []
        assert server.stop() == 0
    assert strangers(folder) == []
