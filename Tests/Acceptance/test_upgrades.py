"""Upgrades from each release, and going back."""

import json
import re
import sqlite3
import subprocess
import tarfile
import threading
import time

import pyotp
import pytest

from support.program import PROGRAM, ROOT, Server, environment, execute_file, opened, run
from support.rest import Api, ok

pytestmark = pytest.mark.sqlite

INSTALL = (ROOT / "docs/install.md").read_text()
KEY = "AIzaYhxE0DKqAsTbd5KvXJk_1lJhV6n2D4JhNaP"
SECRET = "KC5FYPGBIRKHGHDES4COAVLVGFXDU75N"


def unpack(version, folder):
    """Returns the data folder of a release; Tests/Fixtures/releases/README.md describes it."""
    with tarfile.open(ROOT / f"Tests/Fixtures/releases/{version}.tar.gz") as archive:
        archive.extractall(folder)
    return (folder / f"countersign-{version}").rename(folder / "data")


@pytest.fixture
def released(tmp_path):
    return unpack("0.2.0", tmp_path)


def migrations(file):
    database = sqlite3.connect(f"file:{file}?immutable=1", uri=True)
    names = [name for (name,) in database.execute("SELECT name FROM schema_migration ORDER BY name")]
    database.close()
    return names


def sign_in(server):
    """Signs alice in with her password and her authenticator app."""
    api = Api(server.url, "acme-app", KEY)
    pending = ok(api.sign_in("alice@example.com", "swordfish"))
    return ok(api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": pending["mfaPendingCredential"],
        "mfaEnrollmentId": pending["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": pyotp.TOTP(SECRET).now()}}))


def test_users_of_0_2_0_sign_in_after_the_upgrade(released):
    before = migrations(released / "countersign.sqlite")
    explained = run("migrate", "--data", released, "--dry-run")
    assert explained.returncode == 0, explained.stderr
    assert "m0069_upgrade_of_0_2_0" in explained.stdout and "Nothing was changed." in explained.stdout
    assert migrations(released / "countersign.sqlite") == before
    with Server(released) as server:
        assert sign_in(server)["idToken"]
        assert re.search(r"Migration 1 of \d+: m0069", server.text)
    [backup] = released.glob("before-upgrade-*.sqlite")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert migrations(backup) == before
    # Only one backup, however often the server starts.
    with Server(released):
        pass
    assert list(released.glob("before-upgrade-*.sqlite")) == [backup]


def test_an_upgrade_is_logged_in_the_format_of_the_log(released):
    with Server(released, "--log-format", "json") as server:
        lines = [json.loads(line) for line in list(server.output)]
    steps = [line["message"] for line in lines if line["event"] == "server.preparing"]
    assert "before-upgrade-" in steps[0]
    total = int(re.search(r"Migration 1 of (\d+)", "\n".join(steps))[1])
    dropped = [step for step in steps if step.startswith("Dropped by the upgrade: ")]
    assert len(steps) == 1 + len(dropped) + total


def test_an_upgrade_that_is_interrupted_keeps_its_only_backup(released):
    before = migrations(released / "countersign.sqlite")
    # The name of an index that the upgrade creates.
    execute_file(released, "CREATE INDEX factor_by_secret ON factor (kind)")
    for _ in range(2):
        stopped = run("migrate", "--data", released)
        assert stopped.returncode == 78 and "factor_by_secret" in stopped.stderr, stopped.stderr
        backups = list(released.glob("before-upgrade-*.sqlite"))
        assert len(backups) == 1 and migrations(backups[0]) == before
    assert migrations(released / "countersign.sqlite") == before
    assert "Continuing an interrupted upgrade" in stopped.stderr
    execute_file(released, "DROP INDEX factor_by_secret")
    with Server(released) as server:
        assert sign_in(server)["idToken"]
    assert list(released.glob("before-upgrade-*.sqlite")) == backups


def test_a_folder_of_0_1_0_is_refused_with_what_to_do(tmp_path):
    data = unpack("0.1.0", tmp_path)
    before = (data / "countersign.sqlite").read_bytes()
    for words in (["serve", "--listen", "127.0.0.1:0", "--assets", ROOT], ["migrate"],
                  ["migrate", "--dry-run"], ["admin", "list"], ["audit", "verify"]):
        refused = run(*words, "--data", data)
        assert refused.returncode == 78, words
        assert "Open it once with Countersign 0.2.0" in refused.stderr, refused.stderr
    restored = run("restore", "--data", data, data / "countersign.sqlite")
    assert restored.returncode != 0 and "Open it once with Countersign 0.2.0" in restored.stderr
    examined = run("doctor", "--data", data)
    assert examined.returncode == 2
    assert "Open it once with Countersign 0.2.0" in " ".join(examined.stdout.split())
    assert (data / "countersign.sqlite").read_bytes() == before
    assert not list(data.glob("before-upgrade-*"))


def test_the_audit_log_verifies_before_and_after_an_upgrade(released):
    columns = "SELECT * FROM audit", "SELECT * FROM audit_change", "SELECT * FROM audit_link"

    def stored():
        with opened(released, "ro") as database:
            return [database.execute(text).fetchall() for text in columns]
    before = stored()
    assert run("migrate", "--data", released).returncode == 0
    verified = run("audit", "verify", "--data", released)
    assert verified.returncode == 0 and "Checked 39 entries" in verified.stdout, verified.stdout
    # The entry of the upgrade comes after those of the release.
    assert [rows[:len(earlier)] for rows, earlier in zip(stored(), before)] == before


def fill(file, table, rows):
    """Copies the rows of a table, with new numbers, until there are this many."""
    database = sqlite3.connect(file)
    columns = [(name, key) for _, name, _, _, _, key, hidden in database.execute(
        f"PRAGMA table_xinfo({table})") if not hidden]
    number = max(columns, key=lambda column: column[1])[0]
    names = ", ".join(name for name, _ in columns)
    values = names.replace(number, f"{number} + (SELECT max({number}) FROM {table})", 1)
    found = 1
    while found < rows:
        found = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        database.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} LIMIT ?", (rows - found,))
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def test_a_migration_needs_no_more_space_than_the_dry_run_says(released):
    file = released / "countersign.sqlite"
    # The upgrade drops a column of the latter.
    for table in ("audit", "outbox"):
        fill(file, table, 60_000)

    def size():
        sizes = 0
        for path in (file, file.with_name(file.name + "-wal")):
            try:
                sizes += path.stat().st_size
            except FileNotFoundError:
                pass
        return sizes

    before = size()
    explained = run("migrate", "--data", released, "--dry-run")
    said = re.search(
        r"A backup needs (\d+) MiB, and the migrations? up to (\d+) MiB\. \S+ .iB is free",
        " ".join(explained.stdout.split()))
    assert said, explained.stdout
    backup, extra = (int(number) << 20 for number in said.groups())
    peak, done = before, threading.Event()

    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, size())
            time.sleep(0.002)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        migrated = run("migrate", "--data", released, timeout=300)
    finally:
        done.set()
        watcher.join()
    assert migrated.returncode == 0, migrated.stderr
    [copy] = released.glob("before-upgrade-*.sqlite")
    assert 0 < copy.stat().st_size <= backup
    # The tables are large enough that their copies are most of it.
    assert 1 << 20 < peak - before <= extra, (before, peak, extra)


@pytest.mark.parametrize("pending", [True, False])
def test_the_documented_rollback_drill_works(released, tmp_path, pending):
    if not pending:
        assert run("migrate", "--data", released, "--skip-upgrade-backup").returncode == 0
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "countersign").symlink_to(PROGRAM)
    blocks = re.findall(r"```sh\n(.*?)```", INSTALL.split("<!-- rollback drill -->")[1], re.S)
    *steps, serve = "".join(blocks[:2]).splitlines()
    for step in steps:
        result = subprocess.run(
            ["sh", "-ec", step], cwd=tmp_path, capture_output=True, text=True, timeout=60,
            env={**environment(), "PATH": f"{programs}:/usr/bin:/bin"})
        assert result.returncode == 0, f"{step}: {result.stdout} {result.stderr}"
    assert serve.startswith("countersign serve --data rollback ")
    restored = [*(tmp_path / "rollback").glob("before-restore-*")]
    assert bool(restored) == pending, restored
    with Server(tmp_path / "rollback") as server:
        assert ok(Api(server.url, "acme-app", KEY).sign_in("bob@example.com", "swordfish"))["mfaInfo"]


def test_a_database_of_a_newer_version_is_refused_with_instructions(released):
    assert run("migrate", "--data", released, "--skip-upgrade-backup").returncode == 0
    database = sqlite3.connect(released / "countersign.sqlite")
    with database:
        database.execute("UPDATE instance SET value = '99.0.0' WHERE name = 'oldest_program'")
    database.close()
    for words in (["serve", "--listen", "127.0.0.1:0", "--assets", ROOT], ["migrate"],
                  ["migrate", "--dry-run"], ["admin", "list"]):
        refused = run(*words, "--data", released)
        assert refused.returncode == 78, words
        assert "requires Countersign 99.0.0 or newer" in refused.stderr
        assert "countersign restore" in refused.stderr
    examined = run("doctor", "--data", released)
    assert examined.returncode == 2
    assert "requires Countersign 99.0.0 or newer" in examined.stdout
    assert not list(released.glob("before-upgrade-*"))


def test_an_upgrade_waits_for_the_server_to_stop(released):
    with Server(released):
        refused = run("migrate", "--data", released)
    assert refused.returncode == 75 and "Another Countersign server or command is using" in refused.stderr
