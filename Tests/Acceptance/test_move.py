"""Moves of an instance from its data folder to PostgreSQL."""

import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from support.demo import Demo
from support.pages import Pages
from support.program import DATABASES, PROGRAM, Server, environment, execute, execute_file, run
from support.rest import Api, create_token, ok, refused
from support.waiting import until

pytestmark = pytest.mark.skipif(
    DATABASES.has_all, reason="these tests begin with a file in the data folder")

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"

# Changes a row after the triggers are on again, when all rows were copied; this also tells that
# moment.
MEDDLE = """
    CREATE FUNCTION meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT 1 FROM public.project) THEN {action}; END IF;
    END $$;
    CREATE EVENT TRIGGER meddle ON ddl_command_end WHEN TAG IN ('ALTER TABLE')
      EXECUTE FUNCTION meddle();
"""


def move(source, destination, *words, env=None):
    return run("move", "--from", source, "--to", destination, *words, env=env)


def moved(source, destination):
    result = move(source, destination)
    assert result.returncode == 0, result.stderr
    assert "equal in both databases" in result.stdout
    return result.stdout


def refusal(source, destination, *words, code=78):
    result = move(source, destination, *words)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stderr


def contents(file):
    """Returns each table of a file with the names of its columns and its rows, as `DATABASES.query`
    returns them, and the last keys that it chose."""
    def shown(value):
        return f"\\x{value.hex()}" if isinstance(value, bytes) else value

    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    tables = {}
    for (name,) in database.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
            " AND name NOT IN ('sqlite_schema', 'sqlite_sequence', 'key_sequence',"
            " 'schema_migration')").fetchall():
        columns = [name for (name,) in database.execute(
            "SELECT name FROM pragma_table_xinfo(?)", [name])]
        rows = database.execute(f"SELECT {', '.join(columns)} FROM {name}")
        tables[name] = columns, [tuple(map(shown, row)) for row in rows]
    last = dict(database.execute(
        "SELECT name, seq FROM sqlite_sequence UNION ALL SELECT name, last FROM key_sequence"))
    database.close()
    return tables, last


@pytest.fixture
def data(tmp_path):
    """The folder of a stopped instance."""
    folder = tmp_path / "data"
    created = run("init", "--data", folder)
    assert created.returncode == 0, created.stderr
    return folder


@pytest.fixture
def address(data):
    """The address of an empty database, which commands use with this folder from now on."""
    return DATABASES.add(data)


def test_users_stay_signed_in_and_enrolled(tmp_path):
    data = tmp_path / "data"
    with Server(data) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("moved-app")
        token = create_token(data, "moved-app", "owner")
        api = Api(server.url, "moved-app", pages.api_key("moved-app"), token)
        api.switch_totp_on(10)
        _, id_token = api.user("eve@example.com")
        authenticator, session = api.enroll(id_token)
        assert server.stop() == 0

    address = DATABASES.add(data)
    text = moved(data, address)
    assert f"countersign serve --data {data} --database '{address}'" in text
    with Server(data) as server:
        there = Api(server.url, "moved-app", api.key, token)
        first = ok(there.sign_in("eve@example.com"))
        ok(there.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {
                "verificationCode": authenticator.at(time.time() + 30)}}))
        ok(there.http.post("/v1/token", params={"key": api.key}, data={
            "grant_type": "refresh_token", "refresh_token": session["refreshToken"]}))
        console = Pages(server.url)
        console.http.cookies = pages.http.cookies
        assert "eve@" in console.get("/projects/moved-app/users", params={"q": "EVE@ex"}).text
        there.user("there@example.com")
        assert server.stop() == 0
    verified = run("audit", "verify", "--data", data)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert DATABASES.execute(
        data,
        "SELECT actor_kind, field, old_value, new_value FROM audit JOIN audit_change USING (audit_id)"
        " WHERE action = 'instance.move'") == [["command line", "database", "SQLite", "PostgreSQL"]]


def test_a_demo_has_the_same_rows_after_a_move(tmp_path):
    data = tmp_path / "data"
    with Demo(data) as demo:
        assert demo.server.stop() == 0
    # A table whose last row was deleted must not use its key again.
    execute(data, "DELETE FROM outbox WHERE message_id = (SELECT max(message_id) FROM outbox)")
    before = contents(data / "countersign.sqlite")
    address = DATABASES.add(data)
    dry = move(data, address, "--dry-run")
    assert dry.returncode == 0 and "Nothing was changed" in dry.stdout, dry.stderr
    assert DATABASES.execute(data, TABLES) == []
    assert "account  " in moved(data, address)
    assert contents(data / "countersign.sqlite") == before
    tables, last = before
    assert len(tables["account"][1]) > 0
    for name, (columns, rows) in tables.items():
        # All but the record of the move.
        condition = (
            " WHERE audit_id NOT IN (SELECT audit_id FROM audit WHERE action = 'instance.move')"
            if name.startswith("audit") and "audit_id" in columns else "")
        there = DATABASES.query(data, f"SELECT {', '.join(columns)} FROM {name}{condition}")
        assert sorted(there, key=repr) == sorted(rows, key=repr), name
    assert int(DATABASES.execute(data, "SELECT nextval('outbox_message_id_seq')")[0][0]) == (
        last["outbox"] + 1)


def test_a_row_that_changed_on_the_way_is_detected_and_nothing_remains(data, address):
    execute_file(data, "INSERT INTO project (project_id, number, display_name, email_privacy,"
                 " created_at) VALUES ('p', 1, 'before', 1, 1)")
    DATABASES.execute(data, MEDDLE.format(
        action="UPDATE public.project SET display_name = 'after'"))
    assert "Different tables: project." in refusal(data, address)
    assert DATABASES.execute(data, TABLES) == []
    DATABASES.execute(data, "DROP EVENT TRIGGER meddle")
    moved(data, address)


WARN = """
    CREATE SCHEMA aside;
    CREATE TABLE aside.one (number BIGINT);
    CREATE FUNCTION aside.warn() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE WARNING 'canceled'; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER warning AFTER INSERT ON aside.one DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION aside.warn();
"""


def test_a_commit_that_is_not_confirmed_may_be_a_complete_move(data, address):
    execute_file(data, "INSERT INTO project (project_id, number, display_name, email_privacy,"
                 " created_at) VALUES ('p', 1, 'before', 1, 1)")
    # As when someone cancels a commit that waits for a standby.
    DATABASES.execute(data, WARN + MEDDLE.format(action="INSERT INTO aside.one VALUES (1)"))
    said = refusal(data, address, code=75)
    assert "may be lost" in said and "nothing remains" not in said
    assert DATABASES.has_instance(data)
    assert "isn't empty" in refusal(data, address)


def test_a_killed_move_to_postgresql_leaves_an_empty_database(data, address):
    execute_file(data, "INSERT INTO project (project_id, number, display_name, email_privacy,"
                 " created_at) VALUES ('p', 1, 'before', 1, 1)")
    DATABASES.execute(data, MEDDLE.format(action="PERFORM pg_sleep(3)"))
    words = ["move", "--from", data, "--to", address]
    process = subprocess.Popen(
        [str(PROGRAM), *map(str, words)], env=environment(words=words), stdout=subprocess.DEVNULL)
    until(lambda: DATABASES.execute(
        data, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == [["1"]],
        "the rows are copied")
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    assert "is using" in refusal(data, address, code=75)
    until(lambda: DATABASES.execute(
        data, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [["0"]],
        "PostgreSQL notices")
    assert DATABASES.execute(data, TABLES) == []
    DATABASES.execute(data, "DROP EVENT TRIGGER meddle")
    moved(data, address)


def test_a_destination_with_tables_is_refused(data, address):
    DATABASES.execute(data, "CREATE TABLE precious (id BIGINT)")
    assert "It has these tables: precious." in refusal(data, address)
    DATABASES.execute(data, "DROP TABLE precious")
    moved(data, address)
    assert "isn't empty" in refusal(data, address)


def test_a_source_or_a_destination_in_use_is_refused(tmp_path):
    data = tmp_path / "data"
    with Server(data) as server:
        address = DATABASES.add(data)
        assert "Another Countersign server" in refusal(data, address, code=75)
        assert move(data, address, "--dry-run").returncode == 0
        assert server.stop() == 0
    moved(data, address)
    with Server(data) as server:
        # A server on another machine has a lock of its own folder.
        assert "is using" in refusal(data_with_file(tmp_path), address, code=75)
        assert server.stop() == 0


def test_a_creation_that_was_killed_at_its_end_is_finished_before_the_move(data, address):
    (data / "init.ready").mkdir()
    for name in ("master.key", "countersign.sqlite"):
        (data / name).rename(data / "init.ready" / name)
    moved(data, address)
    assert (data / "master.key").exists() and not (data / "init.ready").exists()


def data_with_file(folder):
    """Creates another stopped instance in a file."""
    other = folder / "other"
    assert run("init", "--data", other).returncode == 0
    return other


def test_another_key_and_an_older_schema_are_refused(data, address):
    execute_file(data, "DELETE FROM schema_migration WHERE name <> 'm0069_baseline'")
    execute_file(data, "UPDATE schema_migration SET name = 'm0068_suspended_users'")
    text = refusal(data, address)
    assert re.search(
        rf"lacks \d+ migrations? of this version. Stop the server, and run: countersign migrate --data {data}",
        text)
    other = data_with_file(data.parent)
    shutil.copy2(data / "master.key", other / "master.key")
    assert "another master key" in refusal(other, address)
    assert DATABASES.execute(data, TABLES) == []


def test_text_with_a_nul_is_reported_before_anything_is_written(data, address):
    execute_file(data, "INSERT INTO project (project_id, number, display_name, email_privacy,"
                 " created_at) VALUES ('p', 1, 'a' || char(0) || 'b', 1, 1)")
    text = refusal(data, address, "--dry-run")
    assert "In the table project, the column display_name" in text and "project_id=p" in text
    assert refusal(data, address) == text
    assert DATABASES.execute(data, TABLES) == []


@pytest.mark.parametrize("source, destination, words", [
    ("a", "b", "--to isn't an address"), ("postgresql:///a", "b", "--from must be a data folder"),
    ("a", "postgresql://me:secret@localhost/b", "--to must not contain the password"),
    ("postgresql://me:secret@localhost/b", "a", "--from must be a data folder"),
])
def test_a_move_needs_a_folder_and_an_address(tmp_path, source, destination, words):
    result = run("move", "--from", source, "--to", destination, cwd=tmp_path)
    assert result.returncode in (64, 78) and words in result.stderr
    assert "secret" not in result.stderr and list(tmp_path.iterdir()) == []
