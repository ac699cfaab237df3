"""Downloads from a replica of the database."""

import datetime
import re
import time

import httpx
import pytest

from support.pages import Pages
from support.postgresql import PostgreSQL
from support.program import DATABASES, Server, free_port, run
from support.prometheus import INSTALLED, dashboard_queries, query, scraping
from support.rest import Api, create_token, ok
from support.waiting import until
from test_failover import primary, standby  # noqa: F401, for fixtures

PROJECT = "read-mostly"
DOWNLOADS = {
    "users": f"/projects/{PROJECT}/users.csv",
    "audit": f"/projects/{PROJECT}/audit.csv",
    "review": f"/projects/{PROJECT}/review.csv",
    "report": f"/projects/{PROJECT}/reports/enrollment.csv",
}


class Instance:
    """A server with a replica, whose owner downloads files."""

    def __init__(self, server, primary, standby):
        self.server, self.primary, self.standby = server, primary, standby
        self.owner = Pages(server.url).set_up(server.setup_code)
        self.owner.create_project(PROJECT)
        token = create_token(server.data, PROJECT, "owner")
        self.api = Api(server.url, PROJECT, self.owner.api_key(PROJECT), token)

    def add(self, uid):
        ok(self.api.admin("POST", "accounts", {"localId": uid, "email": f"{uid}@example.com"}))

    def download(self, name="users"):
        """Returns a file, and the time in its name; None without one."""
        path = DOWNLOADS[name]
        if name == "users":
            answer = self.owner.post(path, {}, page=f"/projects/{PROJECT}/users")
        else:
            answer = self.owner.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/csv"), answer.text
        file = re.search(r'filename="(.*?)(?:-as-of-(.*))?\.csv"',
                         answer.headers["content-disposition"])
        moment = file[2] and datetime.datetime.strptime(file[2], "%Y-%m-%dT%H-%M-%SZ").replace(
            tzinfo=datetime.timezone.utc)
        return answer.text, moment

    def pause(self):
        self.standby.execute("SELECT pg_wal_replay_pause()", "postgres")

    def resume(self):
        self.standby.execute("SELECT pg_wal_replay_resume()", "postgres")

    def metrics(self):
        """Returns the status of the replica by the metrics, and the age of its data in seconds."""
        address = self.server.wait_for_line(r"Metrics: (\S+)")
        text = httpx.get(address, timeout=30).text
        [status] = re.findall(r'^countersign_replica_status\{status="(\w+)"\} 1$', text, re.M)
        moment = re.search(r"^countersign_replica_data_timestamp_seconds (\S+)$", text, re.M)
        return status, time.time() - float(moment[1])

    def logged(self, text):
        until(lambda: text in self.server.text, f"{text!r} is logged")


@pytest.fixture
def instance(tmp_path, primary, standby):  # noqa: F811
    DATABASES.put(tmp_path, primary.create("instance"))
    with Server(tmp_path, "--replica", standby.address("instance"), "--replica-max-age", "20",
                "--metrics-listen", "127.0.0.1:0") as server:
        yield Instance(server, primary, standby)


def test_downloads_are_from_the_replica_and_say_as_of_when(instance):
    instance.add("ada")
    until(lambda: "ada@example.com" in instance.download()[0], "the replica has the user")
    instance.logged("Downloads are read from the replica.")
    for name in DOWNLOADS:
        moment = instance.download(name)[1]
        assert abs(time.time() - moment.timestamp()) < 20, name
    status, age = instance.metrics()
    assert status == "used" and abs(age) < 20
    instance.pause()
    before = time.time()
    instance.add("bob")
    # The page is from the database itself.
    assert "bob@example.com" in instance.owner.get(f"/projects/{PROJECT}/users").text
    text, moment = instance.download()
    assert "bob@example.com" not in text and "ada@example.com" in text
    assert moment.timestamp() <= before
    # The download is audited in the database itself.
    assert "Users downloaded" in instance.owner.get(f"/projects/{PROJECT}/audit").text
    instance.resume()
    until(lambda: "bob@example.com" in instance.download()[0], "the replica has caught up")


@INSTALLED
def test_the_dashboard_shows_the_replica(instance, tmp_path_factory):
    until(lambda: instance.download()[1], "the replica is read")
    panels = [(title, text) for title, text in dashboard_queries() if "replica" in title]
    with scraping(instance.server.wait_for_line(r"Metrics: (\S+)"),
                  tmp_path_factory.mktemp("prometheus")) as prometheus:
        found = {title: query(prometheus, text) for title, text in panels}
    [age] = found.pop("Age of the replica's data")
    assert abs(float(age["value"][1])) < 20
    [statuses] = found.values()
    assert [one["metric"]["status"] for one in statuses if one["value"][1] == "1"] == ["used"]


def test_a_replica_that_is_too_old_is_not_read(instance):
    instance.add("ada")
    until(lambda: instance.download()[1], "the replica is read")
    instance.pause()
    instance.add("bob")
    text, moment = until(
        lambda: (file := instance.download())[1] is None and file, "the replica is too old", 60)
    assert "bob@example.com" in text
    instance.logged("further behind than --replica-max-age allows")
    status, age = instance.metrics()
    assert status == "behind" and age > 19
    instance.resume()
    until(lambda: instance.download()[1], "the replica is read again")


def test_without_its_replica_an_instance_reads_the_database_itself(instance):
    instance.add("ada")
    until(lambda: instance.download()[1], "the replica is read")
    instance.standby.stop()
    instance.primary.execute("ALTER SYSTEM RESET synchronous_standby_names", "postgres")
    instance.primary.execute("SELECT pg_reload_conf()", "postgres")
    instance.add("bob")
    text, moment = instance.download()
    assert "bob@example.com" in text and moment is None
    instance.logged("The replica can't be reached.")
    assert instance.metrics()[0] == "unreachable"


@pytest.fixture
def second(primary, standby):  # noqa: F811
    """Another standby, which can replace the first one."""
    server = PostgreSQL(port=free_port())
    server.copy(primary, "-R", "-C", "-S", "second")
    server.start()
    yield server
    server.remove()


def test_with_two_replicas_either_one_serves_downloads(tmp_path, primary, standby, second):  # noqa: F811
    DATABASES.put(tmp_path, primary.create("instance"))
    address = (f"postgresql://countersign@127.0.0.1:{standby.port},127.0.0.1:{second.port}/instance")
    with Server(tmp_path, "--replica", address, "--metrics-listen", "127.0.0.1:0") as server:
        instance = Instance(server, primary, standby)
        serves(instance, standby, "ada")
        for lost, left, uid in (standby, second, "bob"), (second, standby, "cyd"):
            lost.stop()
            # The first file after the loss is complete, too, whichever server it's from.
            assert "ada@example.com" in instance.download()[0]
            serves(instance, left, uid)
            lost.start()
            # Without a standby, commits of the primary would wait.
            until(lambda: primary.execute("SELECT count(*) FROM pg_stat_replication", "postgres")
                  == [["2"]], "both standbys receive the changes", 60)


def serves(instance, server, uid):
    """Checks that downloads are from this replica, by adding users."""
    instance.add(uid)
    until(lambda: (file := instance.download())[1] and f"{uid}@example.com" in file[0],
          f"a replica has {uid}", 60)
    assert instance.metrics()[0] == "used"
    server.execute("SELECT pg_wal_replay_pause()", "postgres")
    instance.add(f"{uid}-2")
    text, moment = instance.download()
    assert moment and f"{uid}-2@example.com" not in text
    server.execute("SELECT pg_wal_replay_resume()", "postgres")


@pytest.mark.parametrize("is_standby, name, text", [
    (False, "instance", "isn't a replica."), (True, "another", "isn't a replica of --database"),
])
def test_a_server_that_is_not_the_replica_is_not_read(
        tmp_path, primary, standby, is_standby, name, text):  # noqa: F811
    DATABASES.put(tmp_path, primary.create("instance"))
    primary.create("another")
    address = (standby if is_standby else primary).address(name)
    with Server(tmp_path, "--replica", address) as server:
        instance = Instance(server, primary, standby)
        instance.add("ada")
        rows, moment = instance.download()
        assert "ada@example.com" in rows and moment is None
        instance.logged(text)


def test_options_of_a_replica_are_checked(tmp_path):
    for words, text in (
            (["--replica", "postgresql://a@b/c"], "--replica requires --database"),
            (["--database", "postgresql://a@b/c", "--replica", "mysql://b"],
             "--replica isn't an address"),
            (["--database", "postgresql://a@b/c", "--replica", "postgresql://a:secret@b/c"],
             "--replica must not contain the password"),
            (["--database", "postgresql://a@b/c", "--replica", "postgresql://a@d/c",
              "--replica-max-age", "0"], "--replica-max-age must be")):
        # Without --data: a folder given to a test can have a database, which would be an option too.
        checked = run("check-config", *words, cwd=tmp_path)
        assert checked.returncode == 78 and text in checked.stderr, checked.stderr
        assert "secret" not in checked.stderr
