"""The node that does the tasks hangs for longer than its lease, in the middle of them, and goes on; and the node
that sends an email is killed before it has recorded that."""

import contextlib
import itertools
import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.audit_file import AuditFile, has_all
from support.mail import MailServer, settled
from support.nodes import MARKS, PROJECT, TAKEOVER, Nodes
from support.program import run
from support.rest import ok
from support.waiting import until
from test_bulk import begin

pytestmark = MARKS

USERS, MAILS = 150, 40
names = itertools.count(1)


class Mailbox(MailServer):
    """A mail server that calls `taken` with the sender's port when it has a message, before it says so."""

    taken = None

    async def handle_DATA(self, server, session, envelope):
        answer = await super().handle_DATA(server, session, envelope)
        if self.taken:
            self.taken(session.peer[1])
        return answer


@pytest.fixture(scope="module")
def mail():
    with Mailbox(delay=0.05) as mail:
        yield mail


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, mail):
    flags = ["--smtp", f"smtp://127.0.0.1:{mail.port}", "--smtp-from", "accounts@example.com"]
    nodes = Nodes(tmp_path_factory.mktemp("nodes"), *flags)
    for number, file in enumerate(audit_files(nodes)):
        nodes.own[number] = ["--audit-file", file.path]
    with nodes:
        nodes.set_up().allow_email_links()
        yield nodes


def audit_files(nodes):
    return [AuditFile(nodes.folder / f"audit-{number}.jsonl") for number in range(Nodes.COUNT)]


@contextlib.contextmanager
def hanging(server):
    """Lets a node do nothing for a while; its connections stay open."""
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


def give_tasks_to_the_first(nodes):
    """Restarts the other nodes, which hand the tasks over."""
    before = nodes.holder
    for number in range(1, Nodes.COUNT):
        assert nodes.servers[number].stop() == 0
    until(lambda: nodes.holder, "the first node does the tasks", TAKEOVER)
    for number in range(1, Nodes.COUNT):
        nodes.servers[number] = nodes.start(number)
    return before


def queue_mails(nodes, name):
    """Sends emails; returns their recipients."""
    addresses = [f"{name}-{number}@example.net" for number in range(MAILS)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda email: ok(nodes.api.admin("POST", "accounts:sendOobCode", {
            "requestType": "EMAIL_SIGNIN", "email": email,
            "continueUrl": "http://localhost/in"})), addresses))
    return addresses


def count(nodes, sql):
    return int(nodes.execute(sql)[0][0])


@pytest.mark.parametrize("others_wait", [True, False], ids=["too long", "while both do the tasks"])
def test_a_node_that_hangs_during_its_tasks_does_nothing_twice(nodes, mail, others_wait):
    """Others wait until its lease is over, or don't, as if their clocks were ahead: then it goes on with
    the tasks that another one does as well."""
    give_tasks_to_the_first(nodes)
    name = f"hung{next(names)}"
    emails = [email for email, _ in nodes.add_users(name, USERS)]
    done = "SELECT sum(users_done) FROM bulk_job"
    removed = int(nodes.execute(f"SELECT coalesce(({done}), 0)")[0][0])
    addresses = queue_mails(nodes, name)
    begin(nodes.owner, PROJECT, emails)
    until(lambda: removed + 10 < count(nodes, done) < removed + USERS, "some users are done")
    holder, hung = nodes.holder, nodes.servers[0]
    losses = hung.text.count("no longer does the tasks")
    with hanging(nodes.servers[0]):
        at_stop = count(nodes, done)
        assert at_stop < removed + USERS
        if not others_wait:
            nodes.execute("DELETE FROM lease WHERE name = 'tasks'")
        until(lambda: nodes.holder not in ([], holder), "another node does the tasks", TAKEOVER)
        until(lambda: count(nodes, done) > at_stop, "it goes on with the removal", TAKEOVER)
    until(lambda: hung.text.count("no longer does the tasks") > losses, "it logs the loss", TAKEOVER)
    assert any("This server does the tasks" in server.text for server in nodes.servers[1:])
    until(lambda: count(nodes, done) >= removed + USERS, "all users are done", 60)
    until(lambda: count(nodes, "SELECT count(*) FROM bulk_job WHERE state = 'running'") == 0,
          "the removal is done")
    # One entry and one email for each user.
    entries = nodes.execute(f"""
        SELECT count(*), count(DISTINCT object_id) FROM audit
        WHERE action = 'factor.remove-all' AND object_id LIKE '{name}-%'""")
    assert entries == [[str(USERS), str(USERS)]]
    wanted = set(addresses) | set(emails)
    until(lambda: wanted <= {message["to"] for message in mail.mails}, "all emails are sent", 60)
    copies = Counter(message["to"] for message in settled(mail, 2) if message["to"] in wanted)
    assert set(copies.values()) == {1}, copies.most_common(3)
    # Each node's audit file has every entry once.
    last = count(nodes, "SELECT max(sequence) FROM audit_link")
    for file in audit_files(nodes):
        has_all(file, last, TAKEOVER)
        places = [e["sequence"] for e in file.events() if e["type"] == "audit"]
        assert places == list(range(1, places[-1] + 1))
    verified = run("audit", "verify", "--data", nodes.data)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def owner_of(nodes, port, to):
    """The number of the node with the connection between two ports of loopback."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # The port alone isn't enough: connections to several servers may come from the same one.
    ends = [f"0100007F:{port:04X}", f"0100007F:{to:04X}"]
    [inode] = [line[9] for line in lines if line[1:3] == ends]
    for number, server in enumerate(nodes.servers):
        for file in Path(f"/proc/{server.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if os.readlink(file) == f"socket:[{inode}]":
                    return number
    raise AssertionError(f"no node has the connection from port {port}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees which node has a connection")
def test_an_email_whose_sender_is_killed_is_sent_again_with_the_same_id(nodes, mail):
    killed = []

    def kill(port):
        number = owner_of(nodes, port, mail.port)
        nodes.servers[number].process.kill()
        killed.append(number)
        mail.taken = None
    mail.taken = kill
    email = "killed@example.net"

    def copies():
        return [message for message in mail.mails if message["to"] == email]
    ok(nodes.api.admin("POST", "accounts:sendOobCode", {
        "requestType": "EMAIL_SIGNIN", "email": email, "continueUrl": "http://localhost/in"}))
    until(lambda: killed, "the node that sends it is killed")
    [number] = killed
    nodes.servers[number].wait()
    nodes.servers[number] = nodes.start(number)
    state = "SELECT tries, next_try_at IS NULL FROM outbox ORDER BY message_id DESC LIMIT 1"
    # Nobody knows that it was sent, and it's claimed for 15 minutes.
    assert len(copies()) == 1 and nodes.execute(state) == [["1", "f"]]
    nodes.execute("UPDATE outbox SET next_try_at = next_try_at - 900000000 WHERE next_try_at > 0")
    until(lambda: len(copies()) == 2, "it's sent again")
    assert len({message["Message-ID"] for message in copies()}) == 1
    until(lambda: nodes.execute(state) == [["2", "t"]], "that's recorded")
    settled(mail, 2)
    assert len(copies()) == 2
