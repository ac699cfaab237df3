"""Copies of the audit log: to a file, to Debian's rsyslog over TCP and TLS, and to an HTTP receiver that
fails, while the server or the receiver is killed."""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.gateway import is_signed
from support.pages import Pages
from support.program import Server, query, reauthenticate, run
from support.receivers import EventFile, Receiver, ResettingServer, Rsyslog, audited, has_all
from support.waiting import until

ALLOW = ["--outbound-allow", "127.0.0.0/8"]
needs_rsyslog = pytest.mark.skipif(
    not shutil.which("rsyslogd"), reason="Debian's rsyslog isn't installed")


def add(pages, server, kind, target, name=None, start="all"):
    """Adds a stream; returns its page and the secret of a webhook."""
    reauthenticate(server.data)
    answer = pages.post("/event-streams/new", {
        "kind": kind, "target": target, "name": name or kind, "start": start,
        "note": "for the tests"}, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    secret = re.search(r"whsec_[\w-]+", answer.text)
    page = re.search(r"/event-streams/[0-9a-f-]{36}", str(answer.url) + answer.text).group()
    return page, secret and secret.group().encode()


def submit(pages, server, path, page=None, **form):
    reauthenticate(server.data)
    answer = pages.post(path, form, page=page, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    return answer.text


def text_of(pages, page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", pages.get(page).text)))


def work(pages, count=5):
    """Makes changes, each of which is an entry."""
    stamp = time.time_ns()
    for number in range(count):
        pages.create_project(f"p{stamp}-{number}"[:30])


def sealed(server):
    (entries,), = query(server.data, "SELECT max(audit_id) FROM audit")
    (position,), = until(lambda: query(
        server.data, "SELECT sequence FROM audit_link WHERE audit_id >= ? ORDER BY sequence LIMIT 1",
        entries), "all entries are sealed")
    return position


def in_order(events):
    """Whether each entry is followed by the next, or, after a repetition, by an earlier one."""
    positions = [e["sequence"] for e in events if e["type"] == "audit" and not e.get("late")]
    known = 0
    for position in positions:
        if position > known + 1:
            return False
        known = max(known, position)
    return True


@pytest.fixture
def started(tmp_path):
    """A server with an owner who is signed in; the flags let it reach this machine."""
    with Server(tmp_path / "data", *ALLOW) as server:
        yield server, Pages(server.url).set_up(server.setup_code)


def restart(server, pages):
    """Kills the server without warning and starts it again; returns the new one."""
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(30)
    return Server(server.data, *ALLOW, listen=pages.url.removeprefix("http://"))


def test_a_file_gets_every_entry_and_heads_that_verify(started, tmp_path):
    server, pages = started
    add(pages, server, "file", "siem")
    work(pages)
    target = EventFile(server.data / "events/siem.jsonl")
    has_all(target, sealed(server))
    assert in_order(target.events())
    assert target.path.stat().st_mode & 0o777 == 0o640
    server.stop()
    # Stopping seals, signs, and delivers what's left.
    events = target.events()
    (last,), = query(server.data, "SELECT max(sequence) FROM audit_link")
    assert audited(events) == list(range(1, last + 1))
    head = [event["head"] for event in events if event["type"] == "head"][-1]
    assert head["sequence"] == last
    (tmp_path / "heads.jsonl").write_text(json.dumps(head) + "\n")
    (tmp_path / "key.pem").write_text(run("evidence", "key", "--all", "--data", server.data).stdout)
    verified = run("audit", "verify", "--data", server.data, "--heads", tmp_path / "heads.jsonl",
                   "--key", tmp_path / "key.pem")
    assert verified.returncode == 0, verified.stdout
    links = dict(query(server.data, "SELECT sequence, link FROM audit_link"))
    assert all(links[e["sequence"]] == "\\x" + e["link"] for e in events if e["type"] == "audit")


def test_c12_events_have_no_secrets(started):
    server, pages = started
    _, secret = add(pages, server, "webhook", "https://siem.example.com/events")
    add(pages, server, "file", "siem")
    work(pages)
    target = EventFile(server.data / "events/siem.jsonl")
    has_all(target, sealed(server))
    text = target.path.read_bytes()
    assert b"event-stream.add" in text
    for marker in (secret, secret[6:], b"correct horse battery", server.setup_code.encode()):
        assert marker not in text
    log = "\n".join(server.output).encode() + b"".join(
        path.read_bytes() for path in server.data.glob("countersign.sqlite*"))
    assert secret not in log and secret[6:] not in log


def test_a_receiver_that_fails_gets_everything_in_order(started):
    server, pages = started
    # Unavailable, without a response, and with a redirect, which isn't followed.
    answers = [503, None, 301, 500, 429, 401]
    with Receiver(lambda number, _: answers[number - 1] if number <= len(answers) else 200) as receiver:
        page, secret = add(pages, server, "webhook", receiver.url)
        work(pages)
        has_all(receiver, sealed(server), seconds=120)
        assert in_order(receiver.events())
        assert all(is_signed(headers, body, secret) for headers, body in receiver.requests)
        assert not is_signed(receiver.requests[0][0], receiver.requests[0][1], secret + b"x")
        until(lambda: "up to date" in text_of(pages, page), "the stream is up to date")
        assert re.search(r"webhook.*can't deliver: HTTP 503", "\n".join(server.output))


def test_killed_between_deliveries_the_server_repeats_and_loses_nothing(started):
    server, pages = started
    with Receiver(lambda number, _: None if number % 3 == 0 else 200) as receiver:
        add(pages, server, "webhook", receiver.url)
        add(pages, server, "file", "siem")
        target = EventFile(server.data / "events/siem.jsonl")
        try:
            for _ in range(3):
                work(pages)
                before = len(receiver.requests)
                until(lambda: len(receiver.requests) > before, "a delivery")
                server = restart(server, pages)
            last = sealed(server)
            has_all(receiver, last, seconds=120)
            has_all(target, last)
            assert in_order(receiver.events()) and in_order(target.events())
        finally:
            server.kill()


def test_a_rejected_entry_leaves_a_marked_gap_and_is_retried_or_discarded(started):
    server, pages = started
    bad = {"project.create"}
    with Receiver(lambda _, events: 422 if any(
            e.get("action") in bad for e in events) else 200) as receiver:
        page, _ = add(pages, server, "webhook", receiver.url)
        work(pages, 2)
        last = sealed(server)
        until(lambda: text_of(pages, page).count("HTTP 422") >= 2 and "up to date" in
              text_of(pages, page), "both entries are rejected", 120)
        events = receiver.events()
        gaps = [e for e in events if e["type"] == "gap"]
        assert len(gaps) == 2 and all(e["reason"] == "refused" for e in gaps)
        missing = {e["sequence"] for e in gaps}
        assert set(audited(events)) >= set(range(1, last + 1)) - missing
        assert not missing & set(audited(events))
        # A gap comes after the entry before it, and before the one after it.
        order = [e["sequence"] for e in events if e["type"] in ("audit", "gap")]
        assert order == sorted(order)
        bad.clear()
        one, two = sorted(missing)
        submit(pages, server, f"{page}/rejected-entries/{one}/retry", page=page)
        late = until(lambda: [e for e in receiver.events() if e.get("late")], "the retry")
        assert late[0]["sequence"] == one and late[0]["action"] == "project.create"
        until(lambda: f"/rejected-entries/{one}/" not in pages.get(page).text, "it's delivered")
        submit(pages, server, f"{page}/rejected-entries/{two}/removal", note="known")
        assert "/rejected-entries/" not in pages.get(page).text
        has_all(EventsBut(receiver, {two}), sealed(server))


def test_an_entry_is_left_out_after_five_refusals_however_long_the_receiver_was_down(started):
    server, pages = started
    counts = {"down": 0, "refusals": 0}
    state = {"refuse": 0}

    def decide(_, events):
        if not any(e.get("action") == "project.create" for e in events):
            return 200
        if counts["down"] < 4:
            counts["down"] += 1
            return 503
        if not state["refuse"]:
            return 503
        if counts["refusals"] == state["refuse"]:
            return 200
        # A request with several events is divided.
        counts["refusals"] += len(events) == 1
        return 500

    with Receiver(decide) as receiver:
        page, _ = add(pages, server, "webhook", receiver.url)
        work(pages, 1)
        last = sealed(server)
        until(lambda: counts["down"] == 4, "the receiver is down")
        # Four refusals leave nothing out.
        state["refuse"] = 4
        has_all(receiver, last, seconds=120)
        assert counts["refusals"] == 4
        assert query(server.data, "SELECT count(*) FROM dead_letter") == [(0,)]
        # The fifth does, and the log has the number.
        counts["refusals"], state["refuse"] = 0, 5
        work(pages, 1)
        until(lambda: query(server.data, "SELECT attempts FROM dead_letter") == [(5,)],
              "the entry is left out", 120)
        assert counts["refusals"] == 5
        server.wait_for_line(r"(webhook).* 5 times")


class EventsBut:
    """The events of a destination, and entries that it will never have."""

    def __init__(self, destination, missing):
        self.destination, self.missing = destination, missing

    def events(self):
        return self.destination.events() + [
            {"type": "audit", "sequence": position} for position in self.missing]


def test_a_slow_receiver_delays_neither_changes_nor_another_stream(started):
    server, pages = started
    with Receiver(lambda number, events: time.sleep(20) or 200) as receiver:
        add(pages, server, "webhook", receiver.url)
        add(pages, server, "file", "siem")
        start = time.monotonic()
        work(pages, 10)
        assert time.monotonic() - start < 10
        has_all(EventFile(server.data / "events/siem.jsonl"), sealed(server), 20)
        assert len(receiver.events()) == 0
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 20


def test_a_stream_is_tested_paused_and_resumed(started):
    server, pages = started
    with Receiver() as receiver:
        page, _ = add(pages, server, "webhook", receiver.url, start="next")
        submit(pages, server, f"{page}/pause", note="maintenance")
        count = len([e for e in receiver.events() if e["type"] == "audit"])
        submit(pages, server, f"{page}/test", page=page)
        until(lambda: [e for e in receiver.events() if e["type"] == "test"], "the test event")
        until(lambda: "Test event delivered" in text_of(pages, page), "its result")
        work(pages, 2)
        sealed(server)
        assert len([e for e in receiver.events() if e["type"] == "audit"]) == count
        submit(pages, server, f"{page}/resumption")
        last = sealed(server)
        until(lambda: last in audited(receiver.events()), "all entries")
        positions = audited(receiver.events())
        assert positions == list(range(positions[0], positions[-1] + 1)) and positions[0] > 1


def test_private_addresses_are_refused_unless_allowed(tmp_path):
    with Server(tmp_path / "data") as server, Receiver() as receiver:
        pages = Pages(server.url).set_up(server.setup_code)
        page, _ = add(pages, server, "webhook", receiver.url)
        other, _ = add(pages, server, "syslog", "127.0.0.1:1514")
        for address in (page, other):
            until(lambda: "--outbound-allow" in text_of(pages, address), "the reason is shown")
        assert receiver.requests == []


def seconds_of(server):
    """The processor time of a server, in seconds."""
    words = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_a_syslog_server_that_resets_connections_costs_no_time(started):
    server, pages = started
    with ResettingServer() as receiver:
        page, _ = add(pages, server, "syslog", f"127.0.0.1:{receiver.port}")
        until(lambda: "failing" in text_of(pages, page), "the stream is failing")
        assert "didn't respond in time" not in text_of(pages, page)
        time.sleep(3)
        spent, connections = seconds_of(server), receiver.connections
        time.sleep(10)
        assert seconds_of(server) - spent < 4
        assert receiver.connections - connections <= 5


@needs_rsyslog
def test_rsyslog_gets_rfc_5424_messages_over_tcp_across_restarts(started, tmp_path):
    server, pages = started
    with Rsyslog(tmp_path / "rsyslog") as receiver:
        page, _ = add(pages, server, "syslog", f"127.0.0.1:{receiver.port}")
        work(pages)
        has_all(receiver, sealed(server))
        line = next(line for line in receiver.lines() if " project.create " in line)
        assert re.match(
            r"110 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\S+ \S+ countersign project\.create "
            r'\[origin software="countersign" swVersion="[^"]+"\]\[meta sequenceId="\d+"\] \{"schema"',
            line), line
        receiver.stop()
        work(pages)
        last = sealed(server)
        until(lambda: "failing" in text_of(pages, page), "the receiver is down")
        receiver.start()
        has_all(receiver, last, seconds=120)
        # Killed, both repeat, and neither loses an entry.
        receiver.stop(signal.SIGKILL)
        work(pages)
        receiver.start()
        server = restart(server, pages)
        try:
            has_all(receiver, sealed(server), seconds=120)
            assert in_order(receiver.events())
        finally:
            server.kill()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A CA, and certificates for 127.0.0.1 and for another name."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
            "-subj", "/CN=Test CA", "-days", "2")
    for name, extension in (("good", "subjectAltName=IP:127.0.0.1"),
                            ("other", "subjectAltName=DNS:elsewhere.example.com")):
        (folder / f"{name}.ext").write_text(extension)
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out",
                f"{name}.csr", "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-extfile", f"{name}.ext")
    return folder


@needs_rsyslog
def test_rsyslog_gets_messages_over_tls_with_a_verified_certificate(tmp_path, certificates):
    authority = certificates / "ca.pem"
    with Server(tmp_path / "data", *ALLOW, "--outbound-ca", authority) as server, Rsyslog(
            tmp_path / "good", authority, certificates / "good.pem",
            certificates / "good.key") as good, Rsyslog(
            tmp_path / "other", authority, certificates / "other.pem",
            certificates / "other.key") as other:
        pages = Pages(server.url).set_up(server.setup_code)
        add(pages, server, "syslog-tls", f"127.0.0.1:{good.port}", "good")
        page, _ = add(pages, server, "syslog-tls", f"127.0.0.1:{other.port}", "other")
        work(pages)
        has_all(good, sealed(server))
        until(lambda: "failing" in text_of(pages, page), "the other name is refused")
        assert other.events() == []
        # Stopped and started, it gets what it missed.
        good.stop()
        work(pages)
        good.start()
        has_all(good, sealed(server), seconds=120)
        assert in_order(good.events())


@needs_rsyslog
def test_without_the_ca_a_certificate_is_not_trusted(tmp_path, certificates):
    with Server(tmp_path / "data", *ALLOW) as server, Rsyslog(
            tmp_path / "rsyslog", certificates / "ca.pem", certificates / "good.pem",
            certificates / "good.key") as receiver:
        pages = Pages(server.url).set_up(server.setup_code)
        page, _ = add(pages, server, "syslog-tls", f"127.0.0.1:{receiver.port}")
        until(lambda: "certificate" in text_of(pages, page), "the reason is shown")
        assert receiver.events() == []
