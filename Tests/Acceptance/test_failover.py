"""PostgreSQL servers that fail, with a standby and with a backup to recover from."""

import contextlib
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.load import Load, check, outside
from support.nodes import Nodes
from support.postgresql import PostgreSQL
from support.program import DATABASES, Server, free_port, run
from support.relay import Relay
from support.rest import Api, ok
from support.waiting import until
from test_data_folder import found
from test_postgresql import start

pytestmark = pytest.mark.timeout(600)
needs_nginx = pytest.mark.skipif(not shutil.which("nginx"), reason="nginx isn't installed")
# The most that an instance may be unavailable after a standby was promoted, in seconds.
RECOVERY = 30


def ready(server):
    """Returns the status and text of /readyz."""
    try:
        with urllib.request.urlopen(f"{server.url}/readyz", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def synchronize(primary):
    """Lets commits of the primary wait until its standby has stored the changes as well."""
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "postgres")
    primary.execute("SELECT pg_reload_conf()", "postgres")
    until(lambda: primary.execute("SELECT sync_state FROM pg_stat_replication", "postgres")
          == [["sync"]], "the standby is synchronous")


@pytest.fixture
def primary():
    server = PostgreSQL("wal_level=replica", port=free_port()).initialize()
    yield server
    server.remove()


@pytest.fixture
def standby(primary):
    """A synchronous standby."""
    server = PostgreSQL(port=free_port())
    server.copy(primary, "-R", "-C", "-S", "standby")
    server.start()
    synchronize(primary)
    yield server
    server.remove()


def failed_after(load, moment):
    """Waits until a request fails that was answered after a moment."""
    until(lambda: [at for at in load.failures() if at > moment], "requests fail")


def are_ready(nodes, status, seconds):
    """Waits until all nodes say whether they're ready, with the status of the answer."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda server: until(
            lambda: nodes.ready(server) == status, f"it answers {status}", seconds), nodes.servers))


@needs_nginx
def test_acknowledged_writes_survive_a_failover_to_a_synchronous_standby(
        tmp_path, primary, standby):
    primary.create("instance")
    DATABASES.put(tmp_path / "data", "postgresql://countersign@127.0.0.1:"
                  f"{primary.port},127.0.0.1:{standby.port}/instance")
    with Nodes(tmp_path) as nodes:
        nodes.set_up().allow_email_links()
        with Load(nodes, users=nodes.add_users("failed-over", 300)) as load:
            load.wait(100)
            until(lambda: len(load.accepted) > 20, "codes are used")
            began = time.monotonic()
            primary.kill()
            are_ready(nodes, 503, 20)
            failed_after(load, began)
            stored = len(load.acknowledged)
            standby.execute("SELECT pg_promote()", "postgres")
            promoted = time.monotonic()
            are_ready(nodes, 200, RECOVERY)
            away = [(began, time.monotonic())]
            load.wait(100, RECOVERY - (time.monotonic() - promoted))
        print(load.statuses(), f"{stored} before, ready after {away[0][1] - promoted:.1f} s")
        assert not outside(load.failures(), away), load.statuses()
        # The codes of before as well: none is accepted again.
        check(nodes, load)


@pytest.fixture
def distant(primary):
    """A synchronous standby, and the network to it."""
    server = PostgreSQL(port=free_port())
    server.copy(primary, "-R", "-C", "-S", "standby")
    with Relay(primary.address("postgres")) as relay:
        server.settings = (
            f"primary_conninfo=host=127.0.0.1 port={relay.port} user=countersign sslmode=disable",
            "wal_retrieve_retry_interval=500ms")
        server.start()
        synchronize(primary)
        yield server, relay
    server.remove()


@needs_nginx
def test_a_commit_that_no_standby_has_is_not_acknowledged(tmp_path, primary, distant):
    """The standby can't be reached for a while, and both servers are there."""
    standby, relay = distant
    DATABASES.put(tmp_path / "data", primary.create("instance"))
    waiting = ("SELECT pid FROM pg_stat_activity "
               "WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'")
    with Nodes(tmp_path) as nodes:
        nodes.set_up().allow_email_links()
        with Load(nodes, users=nodes.add_users("parted", 300)) as load:
            load.wait(100)
            until(lambda: len(load.accepted) > 20, "codes are used")
            relay.cut()
            began = time.monotonic()
            until(lambda: len(primary.execute(waiting, "postgres")) >= 3, "commits wait")
            are_ready(nodes, 503, 30)
            # All that the standby had confirmed before is answered by now.
            silent = time.monotonic()

            def canceled():
                """As an operator might who wonders why everything waits."""
                primary.execute(
                    f"SELECT pg_cancel_backend(pid) FROM ({waiting}) AS one", "postgres")
                return [at for at in load.failures() if at > silent]

            # More than once: a commit may begin to wait right after the first look.
            until(canceled, "requests fail")
            assert not [at for at, kind, status, _ in load.answers
                        if at > silent and kind != "read" and status == 200], load.statuses()
            relay.restore()
            restored = time.monotonic()
            are_ready(nodes, 200, RECOVERY)
            away = [(began, time.monotonic())]
            load.wait(100, RECOVERY - (time.monotonic() - restored))
        print(load.statuses(), f"ready after {away[0][1] - restored:.1f} s")
        assert not outside(load.failures(), away), load.statuses()
        check(nodes, load)
        until(lambda: set(load.acknowledged) <= {uid for [uid] in standby.execute(
            "SELECT uid FROM account", "instance")}, "the standby has them")


def test_a_database_server_that_hangs_is_reported_and_used_again(tmp_path, primary):
    DATABASES.put(tmp_path, primary.create("instance"))
    with Server(tmp_path) as server:
        _, api = start(server, tmp_path, "stalled")
        primary.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            # The last look may have been within the second before.
            until(lambda: ready(server)[0] == 503, "it's reported", 60)
            # The statement's own limit of 30 seconds, and a few for the connection.
            assert time.monotonic() - began < 60
        finally:
            primary.signal(signal.SIGCONT)
        until(lambda: ready(server)[0] == 200, "the server is ready", RECOVERY)
        ok(api.admin("POST", "accounts", {"localId": "afterwards"}))


@needs_nginx
def test_a_full_disk_of_the_database_loses_nothing(tmp_path):
    primary = PostgreSQL("max_wal_size=64MB", port=free_port())
    try:
        if not primary.mount("200m"):
            pytest.skip("mounting a file system needs root")
        primary.initialize()
        DATABASES.put(tmp_path / "data", primary.create("instance"))
        with Nodes(tmp_path) as nodes:
            nodes.set_up().allow_email_links()
            with Load(nodes, users=nodes.add_users("brimful", 300)) as load:
                load.wait(50)
                until(lambda: len(load.accepted) > 20, "codes are used")
                began = time.monotonic()
                primary.fill(64 * 1024)
                failed_after(load, began)
                are_ready(nodes, 503, 60)
                primary.empty()
                emptied = time.monotonic()
                # PostgreSQL stops when its log can't grow; a service manager starts it again.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    primary.process.wait(2)
                    primary.start()
                are_ready(nodes, 200, RECOVERY)
                away = [(began, time.monotonic())]
                load.wait(50, RECOVERY - (time.monotonic() - emptied))
            print(load.statuses(), f"ready after {away[0][1] - emptied:.1f} s")
            assert not outside(load.failures(), away), load.statuses()
            check(nodes, load, 100)
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
