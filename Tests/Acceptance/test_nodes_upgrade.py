"""Upgrades of nodes one after another while they serve.

What the next release would do to the database is done here by hand, with the same statements. With
`COUNTERSIGN_PREVIOUS`, the path of a checkout that's older and built, its program is upgraded too.
"""

import os
import shutil
import subprocess
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support import program
from support.load import Load
from support.nodes import MARKS, Nodes
from support.postgresql import PROGRAMS
from support.program import DATABASES, ROOT, run
from support.rest import ok
from support.waiting import until

pytestmark = MARKS

PREVIOUS = os.environ.get("COUNTERSIGN_PREVIOUS")
LATER = "m9999_later"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    with Nodes(tmp_path_factory.mktemp("nodes")) as nodes:
        nodes.set_up().allow_email_links()
        yield nodes


def migrations(nodes):
    return [name for [name] in nodes.execute("SELECT name FROM schema_migration ORDER BY 1")]


def test_nodes_start_at_once_on_the_database_of_the_previous_release(tmp_path):
    """One of them migrates, and the others wait for it."""
    with tarfile.open(ROOT / "Tests/Fixtures/releases/0.2.0.tar.gz") as archive:
        archive.extractall(tmp_path)
    nodes = Nodes(tmp_path)
    nodes.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    subprocess.run(
        [PROGRAMS / "psql", "-Xq1", "-v", "ON_ERROR_STOP=1", "-f", tmp_path / "countersign-0.2.0.sql",
         DATABASES.address(nodes.data)], check=True, capture_output=True, timeout=60)
    shutil.copy2(tmp_path / "countersign-0.2.0/master.key", nodes.data / "master.key")
    nodes.copy_key()
    names = migrations(nodes)
    try:
        with ThreadPoolExecutor() as pool:
            nodes.servers = list(pool.map(nodes.start, range(Nodes.COUNT)))
        added = migrations(nodes)[len(names):]
        assert added[0] == "m0069_upgrade_of_0_2_0"
        for number, name in enumerate(added, 1):
            assert f"Migration {number} of {len(added)}: {name}" in nodes.text
        for server in nodes.servers:
            until(lambda: nodes.ready(server) == 200, "it's ready")
            assert nodes.pages(nodes.servers.index(server)).get("/sign-in").status_code == 200
    finally:
        for server in nodes.servers:
            server.kill()


def test_nodes_serve_while_the_next_release_expands_the_schema(nodes):
    """Every table gets a column while it's used; then the nodes are replaced one after another."""
    users = nodes.add_users("upgraded", 400)
    with Load(nodes, users=users) as load:
        load.wait(100)
        for [table] in nodes.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"):
            nodes.execute(f"ALTER TABLE {table} ADD COLUMN later BIGINT; "
                          f"ALTER TABLE {table} ADD COLUMN later_too TEXT NOT NULL DEFAULT 'x'")
        nodes.execute(f"""
            INSERT INTO schema_migration (name, digest, applied_at) VALUES ('{LATER}', 'x', 0)""")
        load.wait(100)
        for number, server in enumerate(nodes.servers):
            assert server.stop() == 0
            time.sleep(0.3)
            nodes.servers[number] = nodes.start(number)
            load.wait(50)
    expect_all_answered(load, nodes)


def expect_all_answered(load, nodes):
    print(load.statuses())
    assert not load.failures(), load.statuses()
    assert not load.missing(nodes.api)
    assert max(load.accepted.values()) == 1 and len(load.accepted) > 10
    # The nodes that run use each part of the schema.
    nodes.owner.create_project("after-the-upgrade")
    verified = run("audit", "verify", "--data", nodes.data)
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.skipif(not PREVIOUS, reason="COUNTERSIGN_PREVIOUS isn't the path of an older build")
def test_nodes_of_an_older_build_serve_while_they_are_replaced(tmp_path, monkeypatch):
    """The first new node migrates the database that the others use."""
    builds = [Path(PREVIOUS, ".build", kind, "countersign") for kind in ("release", "debug")]
    monkeypatch.setattr(program, "ROOT", Path(PREVIOUS))
    monkeypatch.setattr(program, "PROGRAM", next(build for build in builds if build.exists()))
    with Nodes(tmp_path) as nodes:
        nodes.set_up().allow_email_links()
        users = nodes.add_users("older", 400)
        older = migrations(nodes)
        with Load(nodes, users=users) as load:
            load.wait(100)
            monkeypatch.undo()
            for number, server in enumerate(nodes.servers):
                assert server.stop() == 0
                time.sleep(0.3)
                nodes.servers[number] = nodes.start(number)
                newer = migrations(nodes)
                assert newer[:len(older)] == older
                load.wait(100)
                assert [nodes.ready(server) for server in nodes.servers] == [200] * Nodes.COUNT
        assert len(newer) > len(older), "the older build has all migrations"
        expect_all_answered(load, nodes)


def test_a_node_that_the_schema_excludes_is_refused_with_instructions(nodes):
    """The other nodes of its release aren't ready from then on, until they're replaced."""
    [[oldest]] = nodes.execute("SELECT value FROM instance WHERE name = 'oldest_program'")
    assert nodes.servers[0].stop() == 0
    nodes.execute("UPDATE instance SET value = '99.0.0' WHERE name = 'oldest_program'")
    refused = run("serve", "--data", nodes.data, "--listen", "127.0.0.1:0", "--assets", ROOT)
    assert refused.returncode == 78, refused.stderr
    assert "requires Countersign 99.0.0 or newer" in refused.stderr
    assert "Install a newer version, or" in refused.stderr and "PostgreSQL" in refused.stderr
    for server in nodes.servers[1:]:
        until(lambda: nodes.ready(server) == 503, "it isn't ready", 10)
    nodes.execute(f"UPDATE instance SET value = '{oldest}' WHERE name = 'oldest_program'")
    nodes.servers[0] = nodes.start(0)
    for server in nodes.servers:
        until(lambda: nodes.ready(server) == 200, "it's ready", 10)
    ok(nodes.api.admin("POST", "accounts", {"localId": "afterwards"}))
