"""Nodes that are killed, that lose their database, and that can't reach it, under load.

COUNTERSIGN_SEED chooses which nodes are killed and when.
"""

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.load import MARGIN, Load, check, outside
from support.nodes import MARKS, Nodes
from support.postgresql import PostgreSQL
from support.program import DATABASES
from support.relay import Relay
from support.rest import create_administrator
from support.waiting import until

pytestmark = MARKS

KILLS, USERS = 8, 400
# The most that an instance may be unavailable after its database is back, in seconds.
RECOVERY = 30


@pytest.fixture(scope="module")
def database():
    server = PostgreSQL().initialize()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def relay(database):
    with Relay(database.create("instance")) as relay:
        yield relay


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, database, relay):
    folder = tmp_path_factory.mktemp("nodes")
    DATABASES.put(folder / "data", database.address("instance"))
    nodes = Nodes(folder)
    # As documented: longer than the others wait for the locks of a node that's cut off, which end
    # after 5 s each. Otherwise nginx passes over all nodes, and answers what only reads with 502.
    nodes.own[2], nodes.read_timeout = ["--database", relay.address], 30
    with Relay(nodes.ports[1]) as front:
        nodes.front, nodes.through[1] = front, front.port
        with nodes:
            nodes.set_up().allow_email_links()
            yield nodes


@pytest.fixture
def chance():
    seed = int(os.environ.get("COUNTERSIGN_SEED", 1))
    print(f"seed {seed}")
    return random.Random(seed)


def test_killed_nodes_lose_nothing(nodes, chance):
    dead, gone = [], {}

    def restart(number, killed):
        nodes.servers[number] = nodes.start(number)
        dead.append((killed, time.monotonic()))
        time.sleep(MARGIN)
        del gone[number]

    with Load(nodes, users=nodes.add_users("killed", USERS)) as load, ThreadPoolExecutor() as pool:
        restarts = []
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.2, 1.5))
            # One is left.
            until(lambda: len(gone) < 2, "a node is back")
            number = chance.choice([one for one in range(Nodes.COUNT) if one not in gone])
            gone[number] = time.monotonic()
            nodes.servers[number].kill()
            restarts.append(pool.submit(restart, number, gone[number]))
        for one in restarts:
            one.result()
        load.wait(100)
    print(load.statuses())
    # nginx sends what only reads to the next node.
    assert not load.failures("read"), load.statuses()
    assert not outside(load.failures(), dead), load.statuses()
    check(nodes, load)


def test_a_database_that_crashes_and_stops_loses_nothing(nodes, database, chance):
    away = []
    with Load(nodes, users=nodes.add_users("crashed", USERS)) as load:
        for how in ("one killed", "stopped", "all killed"):
            load.wait(100)
            time.sleep(chance.uniform(0.1, 1))
            began = time.monotonic()
            if how == "one killed":
                # All others end as well, and the server recovers.
                [victim] = database.execute("""
                    SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
                      AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1""", "postgres")
                os.kill(int(victim[0]), signal.SIGKILL)
                until(lambda: load.failures() and load.failures()[-1] > began, "it fails")
            elif how == "stopped":
                database.stop(signal.SIGQUIT)
                database.start()
            else:
                # Nothing of it is left that could end anything in order.
                database.kill()
                until(lambda: load.failures() and load.failures()[-1] > began, "it fails")
                database.start()
            for server in nodes.servers:
                until(lambda: nodes.ready(server) == 200, "it's ready", RECOVERY)
            away.append((began, time.monotonic()))
        load.wait(100)
    print(load.statuses(), [round(end - start, 1) for start, end in away])
    assert load.failures() and not outside(load.failures(), away), load.statuses()
    check(nodes, load)


def test_a_node_that_cannot_reach_the_database_is_passed_over(nodes, relay):
    """The third node's network is cut while it holds locks."""
    create_administrator(nodes.data, "left@example.com", "auditor")
    left = nodes.pages()
    assert left.sign_in("left@example.com").status_code == 303
    at_cut = nodes.at_each(left)[2]
    assert at_cut.get("/account").status_code == 200
    cut = nodes.servers[2]
    with Load(nodes, readers=4, writers=2) as load, \
            Load(nodes, cut.url, readers=2, writers=4) as stranded:
        stranded.wait(50)
        relay.cut_at_commit()
        until(lambda: relay.is_cut, "it's cut")
        began = time.monotonic()
        until(lambda: nodes.ready(cut) == 503, "it isn't ready", 20)
        assert time.monotonic() - began < 12
        stored = len(stranded.acknowledged)
        # On another node, the session ends.
        one = nodes.at_each(left)[0]
        assert one.post("/sign-out", {}, page="/account").status_code == 303
        try:
            seen = at_cut.get("/account", timeout=10).status_code
        except httpx.TimeoutException:
            seen = 503
        assert seen == 503
        assert [nodes.ready(server) for server in nodes.servers[:2]] == [200, 200]
        # The locks of the node that was cut off are released.
        load.wait(50)
        assert len(stranded.acknowledged) == stored
        relay.restore()
        restored = time.monotonic()
        until(lambda: nodes.ready(cut) == 200, "it's ready", RECOVERY)
        stranded.wait(50, RECOVERY)
        recovered = time.monotonic() - restored
        assert at_cut.get("/account").status_code == 303
    print(load.statuses(), stranded.statuses(), f"recovered after {recovered:.1f} s")
    # What reads is answered by another node.
    assert not load.failures("read"), load.statuses()
    assert not load.missing(nodes.api) and not stranded.missing(nodes.api)


def test_a_node_that_nginx_cannot_reach_is_passed_over(nodes):
    with Load(nodes) as load:
        load.wait(50)
        began = time.monotonic()
        nodes.front.cut()
        until(lambda: [at for at in load.failures() if at > began], "requests that it has fail",
              nodes.read_timeout + 10)
        load.wait(50)
        assert [nodes.ready(server) for server in nodes.servers] == [200] * Nodes.COUNT
        nodes.front.restore()
        away = [(began, time.monotonic())]
        load.wait(50)
    print(load.statuses())
    assert not load.failures("read"), load.statuses()
    assert not outside(load.failures(), away), load.statuses()
    assert not load.missing(nodes.api)
