"""Upgrades of nodes one after another while they serve.

What the next release would do to the database is done here by hand, with the same statements. With
`COUNTERSIGN_PREVIOUS`, the path of a checkout that's older and built, its program is upgraded too.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support import program
from support.load import Load
from support.nodes import MARKS, Nodes
from support.program import ROOT, run
from support.rest import ok
from support.waiting import until

pytestmark = MARKS

PREVIOUS = os.environ.get("COUNTERSIGN_PREVIOUS")
LATER = "m9999_later"
# The migrations since the previous release, what they change, and the statements that undo it.
NEW = ["m0063_pool_keys", "m0064_sign_in_goal", "m0065_outbox_readers",
       "m0066_backup_code_sessions", "m0067_session_sign_in", "m0068_suspended_users",
       "m0069_secret_digests", "m0070_secret_digest_indexes"]
KEYS = """
    SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype IN ('p', 'f') UNION ALL
    SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"""
FORMER_KEYS = {
    "activity_delta": "number", "alert": "alert_id", "approval": "approval_id",
    "approval_policy": "approval_id", "bulk_item": "job_id, line", "bulk_job": "job_id",
    "bulk_undo": "job_id", "count_change": "number", "exemption": "exemption_id",
    "oob_code": "code_digest", "outbox": "message_id", "scheduled_change": "change_id",
    "session": "session_id", "support_action": "action_id", "ticket": "ticket_id",
    "user_erasure": "erasure_id", "user_link": "link_digest", "user_note": "note_id",
    "verification_code": "session_id"}
UNDO = [
    "DROP INDEX factor_by_secret, factor_without_digest",
    "ALTER TABLE factor DROP COLUMN secret_digest",
    "DROP INDEX account_suspended",
    "ALTER TABLE session DROP COLUMN used_backup_code, DROP COLUMN signed_in_at_s",
    "DROP INDEX outbox_about, outbox_due",
    "CREATE INDEX outbox_due ON outbox (channel, next_try_at) WHERE next_try_at IS NOT NULL",
    *(f"ALTER TABLE outbox DROP COLUMN {column}"
      for column in ["administrator_id", "permission", "about_uid", "is_urgent"]),
    "ALTER TABLE support_rules DROP COLUMN sign_in_goal",
    *(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey CASCADE, ADD PRIMARY KEY ({key})"
      for table, key in FORMER_KEYS.items()),
    "DROP INDEX oob_code_by_digest, user_link_by_digest, verification_code_by_session, session_by_id, "
    "ticket_by_id, bulk_item_by_result, approval_of_job",
    *(f"ALTER TABLE {table} DROP COLUMN scope_key"
      for table in ["approval_policy", "bulk_item", "bulk_undo", "ticket"]),
    *(f"ALTER TABLE {table} ADD FOREIGN KEY (job_id) REFERENCES bulk_job (job_id) ON DELETE CASCADE"
      for table in ["approval", "bulk_item", "bulk_undo"]),
    "ALTER TABLE approval_policy ADD FOREIGN KEY (approval_id) REFERENCES approval (approval_id) "
    "ON DELETE CASCADE",
    "CREATE INDEX exemption_by_account ON exemption (account_key, exemption_id)",
    "CREATE INDEX user_note_by_account ON user_note (account_key, note_id)",
    "CREATE INDEX scheduled_change_of_scope ON scheduled_change (scope_key, change_id)",
    "CREATE INDEX alert_by_scope ON alert (scope_key)",
    "CREATE INDEX activity_delta_by_scope ON activity_delta (scope_key, number)",
    "CREATE INDEX outbox_by_scope ON outbox (scope_key, message_id)",
    "CREATE INDEX user_link_by_account ON user_link (account_key)",
    "CREATE INDEX verification_code_by_scope ON verification_code (scope_key)",
    "CREATE INDEX session_by_account ON session (account_key)",
    "CREATE INDEX bulk_job_of_scope ON bulk_job (scope_key, job_id)",
    "CREATE INDEX bulk_item_by_result ON bulk_item (job_id, result, line)",
    "CREATE INDEX approval_of_job ON approval (job_id) WHERE job_id IS NOT NULL"]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    with Nodes(tmp_path_factory.mktemp("nodes")) as nodes:
        nodes.set_up().allow_email_links()
        yield nodes


def migrations(nodes):
    return [name for [name] in nodes.execute("SELECT name FROM schema_migration ORDER BY 1")]


def test_nodes_start_at_once_on_the_schema_of_the_previous_release(nodes):
    """One of them migrates, and the others wait for it."""
    names = migrations(nodes)
    assert names[-len(NEW):] == NEW
    for server in nodes.servers:
        assert server.stop() == 0
    keys = nodes.execute(KEYS)
    for statement in UNDO:
        nodes.execute(statement)
    assert nodes.execute(KEYS) != keys
    for name in NEW:
        nodes.execute(f"DELETE FROM schema_migration WHERE name = '{name}'")
    with ThreadPoolExecutor() as pool:
        nodes.servers = list(pool.map(nodes.start, range(Nodes.COUNT)))
    assert migrations(nodes) == names
    assert nodes.execute(KEYS) == keys
    for number, name in enumerate(NEW, 1):
        assert f"Migration {number} of {len(NEW)}: {name}" in nodes.text
    for server in nodes.servers:
        until(lambda: nodes.ready(server) == 200, "it's ready")
        assert nodes.pages(nodes.servers.index(server)).get("/sign-in").status_code == 200


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
                assert newer[:len(older)] == older and newer[-1] == NEW[-1]
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
