"""An instance whose database is on a PostgreSQL server."""

import contextlib
import json
import secrets
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pyotp
import pytest

from support.pages import Pages
from support.postgresql import PostgreSQL
from support.program import (
    DATABASES, PROGRAM, ROOT, Server, create_instance, environment, free_port, preloaded, run)
from support.rest import Api, create_token, ok, refused
from support.site import crawl
from support.waiting import until
from support.writers import Writers
from test_data_folder import found


@pytest.fixture
def data(tmp_path):
    """A data folder with an empty database on the server."""
    DATABASES.add(tmp_path)
    return tmp_path


def start(server, data, project):
    """Sets up the console and a project; returns the owner's pages and the API."""
    pages = Pages(server.url).set_up(server.setup_code)
    pages.create_project(project)
    token = create_token(data, project, "owner")
    return pages, Api(server.url, project, pages.api_key(project), token)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_a_code_sent_many_times_at_once_signs_in_once(data):
    with Server(data) as server:
        _, api = start(server, data, "raced-app")
        assert not (data / "countersign.sqlite").exists()
        api.switch_totp_on(10)
        uid, id_token = api.user("eve@example.com")
        authenticator, _ = api.enroll(id_token)
        firsts = [ok(api.sign_in("eve@example.com")) for _ in range(16)]
        code = authenticator.at(time.time() + 30)

        def finalize(first):
            return api.factor("mfaSignIn:finalize", {
                "mfaPendingCredential": first["mfaPendingCredential"],
                "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
                "totpVerificationInfo": {"verificationCode": code}})

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(finalize, firsts))
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses == [200] + [400] * 15, [answer.text for answer in answers] + server.output
        for answer in answers:
            if answer.status_code == 400:
                refused(answer, *(["INVALID_CODE"] if "INVALID_CODE" in answer.text
                                  else ["QUOTA_EXCEEDED"]))
        assert server.stop() == 0


def test_acknowledged_writes_survive_kills_of_the_server_and_the_database(data):
    with Server(data) as server:
        pages, api = start(server, data, "killed-off")
        with Writers(server, api, "killed-off", 16) as writers:
            writers.wait(200, "writes are acknowledged")
            DATABASES.server.stop(signal.SIGQUIT)
            DATABASES.server.start()
            writers.wait(200, "writes go on")
            server.kill()
        assert not writers.refusals
        acknowledged = writers.acknowledged

    with Server(data) as server:
        assert found(server, "killed-off", api.token, acknowledged) == set(acknowledged)
        api = Api(server.url, "killed-off", api.key, api.token)
        ok(api.admin("POST", "accounts", {"localId": "afterwards"}))


def test_every_page_that_an_owner_can_reach_is_shown(data):
    with Server(data) as server:
        pages, api = start(server, data, "toured-app")
        pages.create_tenant("toured-app", "acme")
        api.switch_totp_on(5)
        _, id_token = api.user("eve@example.com")
        authenticator, enrollment = api.enroll(id_token)
        first = ok(api.sign_in("eve@example.com"))
        refused(api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": first["mfaPendingCredential"],
            "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": "000000"}}), "INVALID_CODE")
        visits = crawl(pages)
        assert len(visits) > 50
        assert not [visit for visit in visits if visit.status >= 400]
        assert pages.get("/projects/toured-app/users", params={"q": "EVE@"}).text.count("eve@") >= 1


def test_commands_reach_the_database_and_say_what_is_for_the_file_only(data):
    with Server(data) as server:
        start(server, data, "commanded")
        created = run(
            "admin", "create", "--data", data, "--email", "bo@example.com", "--name", "Bo",
            "--role", "auditor", input="correct horse battery staple\n")
        assert created.returncode == 0, created.stderr
        assert "bo@example.com" in run("admin", "list", "--data", data).stdout
        assert server.stop() == 0
        verified = run("audit", "verify", "--data", data)
        assert verified.returncode == 0, verified.stdout + verified.stderr
    backup = run("backup", "--data", data, data / "copy")
    assert backup.returncode != 0 and "pg_dump" in backup.stderr
    refused_address = run(
        "doctor", "--data", data, "--database", "postgresql://me:secret@127.0.0.1/countersign")
    assert refused_address.returncode != 0 and "secret" not in refused_address.stderr


def test_a_pooler_may_be_between_the_server_and_the_database(tmp_path):
    database = PostgreSQL(port=free_port()).initialize()
    database.create("instance")
    folder, port = database.folder, free_port()
    (folder / "users.txt").write_text('"countersign" ""\n')
    (folder / "pgbouncer.ini").write_text(f"""
[databases]
instance = host={folder} port={database.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = session
default_pool_size = 20
""")
    pooler = subprocess.Popen([*database.prefix, "/usr/sbin/pgbouncer", folder / "pgbouncer.ini"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), "the pooler listens")
        DATABASES.put(tmp_path, f"postgresql://countersign@127.0.0.1:{port}/instance")
        with Server(tmp_path) as server:
            _, api = start(server, tmp_path, "pooled-app")
            api.switch_totp_on(5)
            _, id_token = api.user("eve@example.com")
            api.enroll(id_token)
            # Twice as many as the pools' connections.
            with ThreadPoolExecutor(32) as pool:
                answers = list(pool.map(
                    lambda n: api.admin("POST", "accounts", {"localId": f"user-{n}"}), range(200)))
            assert {answer.status_code for answer in answers} == {200}
            setting = database.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = 'instance' "
                "AND backend_type = 'client backend'", "postgres")
            assert int(setting[0][0]) <= 20
            assert server.stop() == 0
        with Server(tmp_path) as server:
            again = Api(server.url, "pooled-app", api.key, api.token)
            ok(again.admin("POST", "accounts:lookup", {"localId": ["user-1"]}))
    finally:
        pooler.terminate()
        pooler.wait(30)
        database.remove()


def test_an_address_of_a_name_that_does_not_answer_leaves_time_for_the_next(tmp_path):
    database = PostgreSQL(port=free_port()).initialize()
    # Connects, like a host whose database hangs, and never answers.
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        silent.bind(("127.0.0.2", database.port))
        silent.listen()
        env = {**preloaded(tmp_path, "resolve"), "RESOLVE_TO": "127.0.0.2,127.0.0.1",
               "RESOLVE_LOG": str(tmp_path / "dialed")}
        database.create("instance")
        place = f"countersign@mixed.example:{database.port}/instance?sslmode=disable"
        try:
            done = run("init", "--data", tmp_path / "data", "--database", f"postgresql://{place}",
                       env=env)
            assert done.returncode == 0, done.stderr
            dialed = (tmp_path / "dialed").read_text().split()
            assert dialed[:2] == [f"127.0.0.{n}:{database.port}" for n in (2, 1)]
        finally:
            database.remove()


def test_an_init_that_failed_halfway_is_completed_with_the_same_key(tmp_path):
    data = tmp_path / "data"
    address = DATABASES.add(data)
    # The signing key is the last that's created, after the database was stamped with the key.
    DATABASES.execute(data, """
        CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no space'; END $$;
        CREATE FUNCTION hinder() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS (SELECT 1 FROM pg_tables WHERE tablename = 'signing_key') AND NOT EXISTS (
            SELECT 1 FROM pg_trigger WHERE tgname = 'refuse')
          THEN
            CREATE TRIGGER refuse BEFORE INSERT ON public.signing_key
              FOR EACH ROW EXECUTE FUNCTION public.refuse();
          END IF;
        END $$;
        CREATE EVENT TRIGGER hinder ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
          EXECUTE FUNCTION hinder();
        """)
    failed = run("init", "--data", data)
    assert failed.returncode != 0 and "run the same command again" in failed.stderr
    key = (data / "master.key").read_bytes()
    other = run("init", "--data", tmp_path / "other", env={"COUNTERSIGN_DATABASE": address})
    assert other.returncode == 78 and "another master key" in other.stderr
    assert not (tmp_path / "other").exists()
    DATABASES.execute(data, "DROP EVENT TRIGGER hinder; DROP TRIGGER refuse ON signing_key")
    completed = run("init", "--data", data)
    assert completed.returncode == 0, completed.stderr
    assert f"countersign serve --data {data} --database '{address}'" in completed.stdout
    assert (data / "master.key").read_bytes() == key
    again = run("init", "--data", data)
    assert again.returncode == 78 and "already contains an instance" in again.stderr
    with Server(data) as server:
        assert server.setup_code


def test_a_start_is_worth_repeating_unless_the_server_refuses_the_user_or_the_database(data):
    with Server(data) as server:
        assert server.stop() == 0
    address = DATABASES.address(data)
    name = address.split("/")[3].split("?")[0]

    def start_with(address):
        return run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", data,
                   "--database", address)

    for another, code in [
            (f"postgresql://countersign@127.0.0.1:{free_port()}/x", 75),
            (address.replace(f"/{name}?", "/missing?"), 78),
            (address.replace("//countersign@", "//nobody@"), 78)]:
        refusal = start_with(another)
        assert refusal.returncode == code, (another, refusal.stderr)
        assert "can't be opened" in refusal.stderr


def test_backups_of_the_file_are_ignored(data):
    create_instance(data)
    backups = data / "backups"
    backups.mkdir()
    with Server(data, "--backups", backups, "--metrics-listen", "127.0.0.1:0") as server:
        server.wait_for_line(r"(--backups has no effect)")
        metrics = httpx.get(server.wait_for_line(r"Metrics: (\S+)")).text
        assert "countersign_build_info" in metrics and "countersign_backup" not in metrics
        assert "no backup in" not in server.text
        for command in ("check-config", "doctor"):
            said = run(command, "--data", data, "--assets", ROOT, "--backups", backups).stdout
            assert "--backups has no effect" in " ".join(said.split()), command


def schema_findings(data):
    examined = run("doctor", "--data", data, "--assets", ROOT, "--json")
    return [(finding["severity"], finding["message"], finding["advice"])
            for finding in json.loads(examined.stdout) if finding["check"] == "schema"]


def test_an_index_for_searches_that_is_missing_is_reported(data):
    create_instance(data)
    [(severity, _, _)] = schema_findings(data)
    assert severity == "ok"
    DATABASES.execute(data, "DROP INDEX account_text_by_part")
    _, (severity, message, advice) = schema_findings(data)
    assert severity == "warning" and "pg_trgm extension is missing" in message
    assert "configuration.md" in advice
    with Server(data) as server:
        server.wait_for_line("(pg_trgm extension is missing)")
        # As the documentation says, while the server runs.
        DATABASES.execute(data, "CREATE INDEX CONCURRENTLY account_text_by_part ON account_text "
                                "USING gin (folded gin_trgm_ops)")
    [(severity, _, _)] = schema_findings(data)
    assert severity == "ok"


def test_a_database_that_knows_only_the_letters_of_ascii_is_reported(data):
    DATABASES.server.execute(
        "CREATE DATABASE ascii TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'", "postgres")
    DATABASES.put(data, DATABASES.server.address("ascii"))
    create_instance(data)
    _, (severity, message, advice) = schema_findings(data)
    assert severity == "warning" and "non-Latin" in message
    assert "C.UTF-8" in advice


# One of its databases is a file.
@pytest.mark.sqlite
def test_an_init_that_stores_nothing_leaves_no_key(tmp_path):
    data = tmp_path / "data"
    address = DATABASES.add(data)
    unreachable = run("init", "--data", data, "--database", "postgresql:///x?host=/nowhere")
    assert unreachable.returncode == 75 and not data.exists()
    DATABASES.execute(data, "CREATE TABLE instance (name TEXT)")
    occupied = run("init", "--data", data, "--database", address)
    assert occupied.returncode != 0 and not data.exists(), occupied.stderr
    file = tmp_path / "file"
    assert run("init", "--data", file).returncode == 0
    refused_file = run("init", "--data", file, "--database", address)
    assert refused_file.returncode == 78
    assert f"countersign move --from {file} --to '{address}'" in refused_file.stderr


@pytest.mark.parametrize("kind", ["file", "server"])
def test_text_with_a_nul_is_refused_alike(tmp_path, kind):
    if kind == "server":
        DATABASES.add(tmp_path)
    with Server(tmp_path) as server:
        pages, api = start(server, tmp_path, "nul-app")
        answers = [
            api.client(":signUp", {"email": "a@example.com", "password": "bright-swordfish",
                                   "displayName": "a\0b"}),
            api.admin("POST", "accounts", {"displayName": "a\0b"}),
            api.admin("POST", "accounts", {"customAttributes": "{\"a\0\": 1}"}),
        ]
        for answer in answers:
            assert answer.status_code == 400, answer.text
            assert "A string contains the character U+0000." in answer.text
        assert pages.post("/projects/nul-app/tenants/new", {"name": "a\0b"}).status_code == 400
        assert pages.get("/projects/nul-app/users", params={"q": "a\0b"}).status_code == 400
        # A text with JSON in it, as SDKs send custom claims.
        ok(api.admin("POST", "accounts", {"customAttributes": "{\"a\": \"\\u0000\"}"}))
        assert server.stop() == 0
    files = {"users.csv": b"uid-1,a@example.com,true,,,a\0b\n",
             "users.json": b'{"users": [{"localId": "uid-2", "displayName": "a\\u0000b"}]}'}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        done = run("import", "--data", tmp_path, "--project", "nul-app", tmp_path / name)
        assert "A string contains the character U+0000." in done.stdout + done.stderr


def listed():
    """Returns the words of all processes, as `ps` lists them."""
    lists = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        # A process may end meanwhile.
        with contextlib.suppress(OSError):
            lists.append(file.read_bytes())
    return lists


def test_the_password_is_a_credential_and_never_in_the_list_of_processes(tmp_path):
    password = f"marker-{secrets.token_hex(8)}"
    database = PostgreSQL(port=free_port()).initialize()
    data, file, credentials = (tmp_path / name for name in ("data", "file", "credentials"))
    try:
        DATABASES.put(data, database.create("instance"))
        create_instance(data)
        database.execute(f"ALTER ROLE countersign PASSWORD '{password}'", "postgres")
        (database.data / "pg_hba.conf").write_text(
            "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        database.execute("SELECT pg_reload_conf()", "postgres")
        address = f"postgresql://countersign@127.0.0.1:{database.port}/instance"
        credentials.mkdir()
        env = {"CREDENTIALS_DIRECTORY": str(credentials), "PGPASSFILE": "/dev/null"}
        denied = run("audit", "verify", "--data", data, "--database", address, env=env)
        assert denied.returncode != 0 and "no password" in denied.stderr, denied.stderr
        (credentials / "database-password").write_text(password + "\n")
        with Server(data, "--database", address, env=env) as server:
            start(server, data, "guarded")
            seen = listed()
            assert any(address.encode() in words for words in seen)
            assert not [words for words in seen if password.encode() in words]
            assert password not in server.text
            assert server.stop() == 0
        # In a file, in all test runs.
        subprocess.run([PROGRAM, "init", "--data", file], env=environment(), check=True)
        database.create("moved")
        address = f"postgresql://countersign@127.0.0.1:{database.port}/moved"
        words = [PROGRAM, "move", "--from", file, "--to", address]
        moving = subprocess.Popen(words, env=environment(env), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seen = listed()
        while moving.poll() is None:
            seen += listed()
        assert moving.returncode == 0, moving.stdout.read()
        assert any(b"move" in words and address.encode() in words for words in seen)
        assert not [words for words in seen if password.encode() in words]
    finally:
        database.remove()
