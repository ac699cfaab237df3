"""Databases of earlier releases with content in every table: only `serve` and `migrate` upgrade them, and
say what they drop."""

import json
import re
import subprocess
import tarfile

import pytest

from support.postgresql import PROGRAMS
from support.program import DATABASES, ROOT, Server, opened, run

# Both databases are tests here.
pytestmark = pytest.mark.sqlite

FIXTURES = ROOT / "Tests/Fixtures/releases"
# Retention removes entries after a year at the earliest.
EMPTY = {"audit_tombstone"}
# A part of each line about what the upgrade from 0.2.0 drops.
DROPPED = [
    "Policy change of acme-app scheduled for 2027-06-01 by Ada: TOTP: on; adjacent intervals: 3",
    "Waiting approval of a policy change of acme-app for 2027-", "Policy template Tight windows of acme-app: TOTP",
    "Event stream Archive to archive, added by Ada", "Subscription of Ada to the report enrollment of acme-app, weekly",
    "Subscription of Ada to the report access of the instance, weekly", "Removal across pools of 2026-",
    "Mark by Ada of an address that bounces, of the user ", "Note of 2026-",
]
COUNTS = {
    "requests-closed": "1", "scheduled-changes-dropped": "1", "policy-templates-dropped": "1",
    "event-streams-dropped": "1", "report-subscriptions-dropped": "2", "grouped-removals-dropped": "1",
    "bounced-addresses-dropped": "1", "notes-dropped": "2",
}
# All commands with what they need to reach the database, or why they don't refuse one of an earlier release.
COMMANDS = {
    "admin create": "--email bo@example.com --name Bo --role auditor", "admin list": "",
    "admin reset-password": "--email ada@example.com", "admin reset-totp": "--email ada@example.com",
    "admin passkeys-optional": "", "admin passwords-on": "", "admin unblock": "--email ada@example.com",
    "project create": "other-app", "project list": "", "tenant create": "--project acme-app north",
    "tenant list": "--project acme-app", "token create": "--project acme-app --role support",
    "token list": "--project acme-app", "token revoke": "--project acme-app x",
    "token-key add": "--project acme-app --key {file} --issuer x", "token-key list": "--project acme-app",
    "token-key revoke": "--project acme-app x",
    "connection add": "--kind countersign --url https://127.0.0.1:1 --project acme-app --access read "
                      "--credential-file {token}",
    "connection list": "", "connection remove": "--project acme-app", "keys list": "", "keys rotate": "", "keys retire": "x",
    "keys rotate-master": "", "evidence key": "", "policy export": "", "policy diff": "{file}",
    "policy apply": "{file}", "audit heads": "", "audit verify": "", "clock confirm": "", "restored": "",
    "import": "--project acme-app {file}", "export": "--project acme-app {new}.json",
    "user export": "--project acme-app --uid x {new}",
    "user erase": "--project acme-app --uid x --reason x --confirm x",
}
OTHERS = {
    "serve": "upgrades it", "migrate": "upgrades it", "doctor": "says it as a finding",
    "backup": "copies it as it is", "restore": "upgrades its copy of the backup", "move": "has a test below",
    "init": "creates one", "demo": "creates one", "check-config": "reads no database", "manual": "reads no database",
    "connection check": "reads no database", "policy schema": "reads no database", "evidence verify": "reads no database",
}


class Release:
    """A copy of a release's database, in a file or on PostgreSQL."""

    def __init__(self, version, engine, folder):
        self.version, self.engine = version, engine
        with tarfile.open(FIXTURES / f"{version}-full.tar.xz") as archive:
            archive.extractall(folder)
        self.data = (folder / f"countersign-{version}").rename(folder / "data")
        self.url = None
        if engine == "postgresql":
            (self.data / "countersign.sqlite").unlink()
            self.url = DATABASES.add(self.data)
            subprocess.run(
                [PROGRAMS / "psql", "-Xq1", "-v", "ON_ERROR_STOP=1", "-f",
                 folder / f"countersign-{version}.sql", self.url],
                check=True, capture_output=True, timeout=60)

    def query(self, sql):
        if self.url:
            return DATABASES.execute(self.data, sql)
        with opened(self.data, "ro") as database:
            return [[str(value) for value in row] for row in database.execute(sql)]

    @property
    def tables(self):
        names = self.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1" if self.url else
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
        return {name: int(self.query(f"SELECT count(*) FROM {name}")[0][0]) for [name] in names}


@pytest.fixture(params=["0.2.0", "0.3.0"])
def version(request):
    return request.param


@pytest.fixture(params=["sqlite", "postgresql"])
def release(request, version, tmp_path):
    return Release(version, request.param, tmp_path)


def lines(text):
    return re.findall(r"^Dropped by the upgrade: (.*)$", text, re.M)


def expect_dropped(found, version):
    expected = DROPPED if version == "0.2.0" else []
    for part in expected:
        assert [line for line in found if line.startswith(part)], (part, found)
    assert len(found) == (sum(map(int, COUNTS.values())) if expected else 0), found


def test_an_upgrade_says_what_it_drops_and_the_database_is_sound(release):
    empty = {name for name, rows in release.tables.items() if not rows}
    assert empty == EMPTY
    before = int(release.query("SELECT count(*) FROM audit")[0][0])
    explained = run("migrate", "--data", release.data, "--dry-run")
    assert explained.returncode == 0, explained.stderr
    expect_dropped(lines(explained.stdout), release.version)
    with Server(release.data, "--log-format", "json") as server:
        events = [json.loads(line) for line in list(server.output) if line.startswith("{")]
        assert server.stop() == 0
    said = "\n".join(event["message"] for event in events if event["event"] == "server.preparing")
    expect_dropped(lines(said), release.version)
    [upgraded] = [event for event in events if event["event"] == "server.upgraded"]
    if release.version == "0.2.0":
        assert upgraded["level"] == "warning" and upgraded["notes"] == 2, upgraded
        assert upgraded["scheduled_changes"] == 1
    else:
        assert upgraded["level"] == "info", upgraded
    for secret in ("hunter2", "token=", "swordfish"):
        assert secret not in said + explained.stdout
    counts = dict(release.query(
        f"SELECT c.field, c.new_value FROM audit a JOIN audit_change c USING (audit_id) "
        f"WHERE a.action = 'instance.upgrade' AND a.audit_id > {before}"))
    assert int(counts.pop("migrations")) >= 2
    assert counts == (COUNTS if release.version == "0.2.0" else {})
    verified = run("audit", "verify", "--data", release.data)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    examined = json.loads(run("doctor", "--data", release.data, "--json").stdout)
    errors = [finding for finding in examined if finding["severity"] == "error"]
    assert not errors, errors
    # A second start has nothing to say.
    with Server(release.data, "--log-format", "json") as server:
        assert "server.upgraded" not in server.text
    assert len(release.query("SELECT 1 FROM audit WHERE action = 'instance.upgrade'")) == 1


def test_other_commands_say_what_to_run_and_change_nothing(release, tmp_path):
    file = tmp_path / "file.json"
    file.write_text('{"users": []}')
    token = tmp_path / "token"
    token.write_text("cst_0123")
    before = release.query("SELECT name FROM schema_migration ORDER BY 1")
    instance = release.query("SELECT name, value FROM instance ORDER BY 1")
    for command, words in COMMANDS.items():
        words = words.format(file=file, token=token, new=tmp_path / "new").split()
        refused = run(*command.split(), *words, "--data", release.data, input="correct horse battery\n")
        # The codes of diff are its own.
        assert refused.returncode == (2 if command == "policy diff" else 78), (command, refused.stderr)
        assert "Stop the server, and run: countersign migrate --data" in " ".join(refused.stderr.split()), (
            command, refused.stderr)
        assert ("--database" in refused.stderr) == bool(release.url), refused.stderr
    assert release.query("SELECT name FROM schema_migration ORDER BY 1") == before
    assert release.query("SELECT name, value FROM instance ORDER BY 1") == instance
    assert not list(release.data.glob("before-upgrade-*"))


def test_every_command_is_listed():
    names = re.findall(r"^  ([a-z].*)$", run("--help").stdout, re.M)
    assert set(names) == set(COMMANDS) | set(OTHERS)


def test_a_move_of_an_earlier_release_says_what_to_run(version, tmp_path):
    release = Release(version, "sqlite", tmp_path)
    to = DATABASES.add(tmp_path / "moved")
    refused = run("move", "--from", release.data, "--to", to)
    assert refused.returncode == 78, refused.stderr
    assert "run: countersign migrate --data" in " ".join(refused.stderr.split())
