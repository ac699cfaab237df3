"""PostgreSQL servers that fail, with a standby and with a backup to recover from."""

import contextlib
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from support.postgresql import PostgreSQL
from support.program import DATABASES, Server, free_port, run
from support.rest import Api, ok
from support.waiting import until
from support.writers import Writers
from test_data_folder import found
from test_postgresql import start

# The most that an instance may be unavailable after a standby was promoted, in seconds.
RECOVERY = 30


def ready(server):
    """Returns the status and text of /readyz."""
    try:
        with urllib.request.urlopen(f"{server.url}/readyz", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture
def primary():
    server = PostgreSQL("wal_level=replica", port=free_port()).initialize()
    yield server
    server.remove()


@pytest.fixture
def standby(primary):
    """A synchronous standby: a commit waits until it has stored the changes as well."""
    server = PostgreSQL(port=free_port())
    server.copy(primary, "-R", "-C", "-S", "standby")
    server.start()
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "postgres")
    primary.execute("SELECT pg_reload_conf()", "postgres")
    until(lambda: primary.execute("SELECT sync_state FROM pg_stat_replication", "postgres")
          == [["sync"]], "the standby is synchronous")
    yield server
    server.remove()


def test_acknowledged_writes_survive_a_failover_to_a_synchronous_standby(
        tmp_path, primary, standby):
    primary.create("instance")
    DATABASES.put(tmp_path, "postgresql://countersign@127.0.0.1:"
                  f"{primary.port},127.0.0.1:{standby.port}/instance")
    with Server(tmp_path) as server:
        _, api = start(server, tmp_path, "failed-over")
        with Writers(server, api, "failed-over") as writers:
            writers.wait(200, "writes are acknowledged")
            primary.signal(signal.SIGKILL)
            until(lambda: ready(server)[0] == 503, "the server isn't ready", 20)
            writers.wait(0, "the database is away")
            until(lambda: writers.errors, "a write fails")
            standby.execute("SELECT pg_promote()", "postgres")
            promoted = time.monotonic()
            writers.wait(200, "writes go on", RECOVERY)
            until(lambda: ready(server)[0] == 200, "the server is ready",
                  RECOVERY - (time.monotonic() - promoted))
        lost = set(writers.acknowledged) - found(
            server, "failed-over", api.token, writers.acknowledged)
        assert not lost
        assert server.stop() == 0
        verified = run("audit", "verify", "--data", tmp_path)
        assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_commit_that_no_standby_has_is_not_acknowledged(tmp_path, primary, standby):
    DATABASES.put(tmp_path, primary.create("instance"))
    with Server(tmp_path) as server:
        _, api = start(server, tmp_path, "unconfirmed")
        standby.stop()
        answers = []
        write = threading.Thread(target=lambda: answers.append(
            api.admin("POST", "accounts", {"localId": "unconfirmed"})))
        write.start()
        waiting = ("SELECT pid FROM pg_stat_activity "
                   "WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'")
        until(lambda: primary.execute(waiting, "postgres"), "the commit waits")
        # As an operator might who wonders why everything waits.
        while write.is_alive():
            primary.execute(f"SELECT pg_cancel_backend(pid) FROM ({waiting}) AS one", "postgres")
            write.join(0.2)
        assert [answer.status_code for answer in answers] == [503], answers[0].text
        standby.start()
        until(lambda: api.admin("POST", "accounts", {"localId": "confirmed"}).status_code == 200,
              "writes are stored again")


def test_a_database_server_that_hangs_is_reported_and_used_again(tmp_path, primary):
    DATABASES.put(tmp_path, primary.create("instance"))
    with Server(tmp_path) as server:
        _, api = start(server, tmp_path, "stalled")
        primary.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert ready(server)[0] == 503
            # The statement's own limit of 30 seconds, and a few for the connection.
            assert time.monotonic() - began < 60
        finally:
            primary.signal(signal.SIGCONT)
        until(lambda: ready(server)[0] == 200, "the server is ready", RECOVERY)
        ok(api.admin("POST", "accounts", {"localId": "afterwards"}))


def test_a_full_disk_of_the_database_loses_nothing(tmp_path):
    primary = PostgreSQL("max_wal_size=64MB", port=free_port())
    try:
        if not primary.mount("200m"):
            pytest.skip("mounting a file system needs root")
        primary.initialize()
        DATABASES.put(tmp_path, primary.create("instance"))
        with Server(tmp_path) as server:
            _, api = start(server, tmp_path, "brimful")
            ok(api.admin("POST", "accounts", {"localId": "before"}))
            primary.fill(64 * 1024)
            with Writers(server, api, "brimful", 4) as writers:
                until(lambda: writers.errors, "the disk is full", 60)
            primary.empty()
            # PostgreSQL stops when its log can't grow; a service manager starts it again.
            with contextlib.suppress(subprocess.TimeoutExpired):
                primary.process.wait(2)
                primary.start()
            until(lambda: ready(server)[0] == 200, "the server is ready", RECOVERY)
            ok(api.admin("POST", "accounts", {"localId": "afterwards"}))
            acknowledged = ["before", "afterwards", *writers.acknowledged]
            assert found(server, "brimful", api.token, acknowledged) == set(acknowledged)
    finally:
        primary.remove()


def test_an_instance_is_recovered_to_a_point_in_time(tmp_path):
    primary = PostgreSQL(port=free_port())
    archive = primary.folder / "archive"
    primary.settings = (
        "archive_mode=on", f"archive_command=cp %p {archive}/%f", "wal_level=replica")
    recovered = PostgreSQL(port=free_port())
    try:
        subprocess.run([*primary.prefix, "mkdir", archive], check=True)
        primary.initialize()
        DATABASES.put(tmp_path, primary.create("instance"))
        with Server(tmp_path) as server:
            _, api = start(server, tmp_path, "recovered")
            ok(api.admin("POST", "accounts", {"localId": "in-the-backup"}))
            recovered.copy(primary)
            ok(api.admin("POST", "accounts", {"localId": "before-the-mistake"}))
            time.sleep(0.1)
            point = primary.execute("SELECT now()", "postgres")[0][0]
            time.sleep(0.1)
            ok(api.admin("POST", "accounts", {"localId": "after-the-mistake"}))
            primary.execute("SELECT pg_switch_wal()", "postgres")
            server.stop()
        primary.stop()
        subprocess.run([*recovered.prefix, "touch", recovered.data / "recovery.signal"], check=True)
        recovered.settings = (
            f"restore_command=cp {archive}/%f %p", f"recovery_target_time={point}",
            "recovery_target_action=promote", "archive_mode=off")
        recovered.start()
        until(lambda: recovered.execute("SELECT pg_is_in_recovery()", "postgres") == [["f"]],
              "it's recovered")
        DATABASES.put(tmp_path, recovered.address("instance"))
        with Server(tmp_path) as server:
            api = Api(server.url, "recovered", api.key, api.token)
            users = ["in-the-backup", "before-the-mistake", "after-the-mistake"]
            assert found(server, "recovered", api.token, users) == set(users[:2])
            assert server.stop() == 0
            verified = run("audit", "verify", "--data", tmp_path)
            assert verified.returncode == 0, verified.stdout + verified.stderr
    finally:
        primary.remove()
        recovered.remove()
