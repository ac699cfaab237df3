"""The audit file: every entry, in order, at least once, while the server is killed, the file is moved or can't
be written, and a backup is restored."""

import json
import re
import shutil
import signal
import subprocess
import time

import httpx
import pytest

from support.audit_file import (
    AuditFile, Rsyslog, audited, documented, extract_heads, has_all, in_order)
from support.nodes import MARKS, Nodes
from support.pages import Pages
from support.program import (
    PROGRAM, ROOT, Server, create_instance, environment, free_port, query, run)
from support.waiting import until


def work(pages, count=5):
    """Makes changes, each of which is an entry."""
    stamp = time.time_ns()
    for number in range(count):
        pages.create_project(f"p{stamp}-{number}"[:30])


def sealed(data):
    """Waits until all entries are sealed; returns the position of the last one."""
    (entries,), = query(data, "SELECT max(audit_id) FROM audit")
    (position,), = until(lambda: query(
        data, "SELECT sequence FROM audit_link WHERE audit_id >= ? ORDER BY sequence LIMIT 1",
        entries), "all entries are sealed")
    return int(position)


@pytest.fixture
def file(tmp_path):
    return AuditFile(tmp_path / "audit.jsonl")


@pytest.fixture
def started(tmp_path, file):
    """A server with an audit file, and an owner who is signed in."""
    with Server(tmp_path / "data", "--audit-file", file.path) as server:
        yield server, Pages(server.url).set_up(server.setup_code)


def test_the_file_has_every_entry_and_heads_that_verify(started, file, tmp_path):
    server, pages = started
    work(pages)
    has_all(file, sealed(server.data))
    server.stop()
    # Stopping seals, signs, and writes what's left.
    events = file.events()
    (last,), = query(server.data, "SELECT max(sequence) FROM audit_link")
    assert [e["sequence"] for e in events if e["type"] == "audit"] == list(range(1, last + 1))
    assert file.path.stat().st_mode & 0o777 == 0o640
    links = dict(query(server.data, "SELECT sequence, link FROM audit_link"))
    assert all(links[e["sequence"]] == "\\x" + e["link"] for e in events if e["type"] == "audit")
    # As documented, with a line that was cut off.
    with open(file.path, "a") as lines:
        lines.write('{"schema":"countersign-event/1","type":"head","seq')
    (tmp_path / "evidence-key.pem").write_text(
        run("evidence", "key", "--all", "--data", server.data).stdout)
    heads = tmp_path / "heads.jsonl"
    extract_heads(file.path, heads)
    assert json.loads(heads.read_text().splitlines()[-1])["sequence"] == last
    verified = run(*(str(tmp_path / word) if "." in word or word == "data" else word
                     for word in documented()[1].split()))
    assert verified.returncode == 0, verified.stderr


def test_c12_the_audit_file_has_no_secrets(started, file):
    server, pages = started
    work(pages, 1)
    has_all(file, sealed(server.data))
    text = file.path.read_bytes()
    assert b"project.create" in text
    for marker in (b"correct horse battery", server.setup_code.encode()):
        assert marker not in text


def test_killed_before_it_stores_a_position_the_server_repeats_and_loses_nothing(
        started, file, tmp_path):
    server, pages = started
    has_all(file, sealed(server.data))
    before = until(lambda: file.position.exists() and file.position.read_bytes(), "a position")
    work(pages)
    last = sealed(server.data)
    has_all(file, last)
    server.process.send_signal(signal.SIGKILL)
    server.wait()
    # As if it had been killed after it wrote the lines, the last of which isn't whole.
    file.position.write_bytes(before)
    with open(file.path, "a") as lines:
        lines.write('{"schema":"countersign-event/1","type":"au')
    with Server(server.data, "--audit-file", file.path) as server:
        has_all(file, sealed(server.data))
        until(lambda: [e["sequence"] for e in file.events()].count(last) >= 2, "it's repeated")
        assert in_order(file.events())
        broken = [line for line in file.path.read_text().splitlines() if not line.endswith("}")]
        assert broken == ['{"schema":"countersign-event/1","type":"au']


def test_a_moved_file_is_reopened(started, file, tmp_path):
    server, pages = started
    has_all(file, sealed(server.data))
    former = AuditFile(file.path.rename(tmp_path / "audit.jsonl.1"))
    work(pages, 1)
    last = sealed(server.data)
    has_all(former, last)
    server.process.send_signal(signal.SIGHUP)
    server.wait_for_line(r"(reopened the audit file)")
    work(pages, 1)
    until(lambda: sealed(server.data) in audited(file.events()), "the new file has the last entry")
    both = audited(former.events()) + audited(file.events())
    assert both == list(range(1, both[-1] + 1)) and audited(file.events())[0] > last


def test_readiness_and_metrics_show_a_file_that_cannot_be_written(tmp_path):
    folder, port = tmp_path / "logs", free_port()
    folder.mkdir()
    file = AuditFile(folder / "audit.jsonl")
    with Server(tmp_path / "data", "--audit-file", file.path, "--metrics-listen",
                f"127.0.0.1:{port}") as server:
        def lag():
            text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
            return float(re.search(r"^countersign_audit_file_lag_seconds (\S+)", text, re.M).group(1))
        pages = Pages(server.url).set_up(server.setup_code)
        has_all(file, sealed(server.data))
        until(lambda: lag() == 0, "nothing is left")
        shutil.rmtree(folder)
        work(pages, 1)
        server.wait_for_line(r"(audit\.jsonl can't be written: No such file or directory)")
        until(lambda: httpx.get(f"{server.url}/readyz").text == "ready; warnings: audit-file\n",
              "it warns")
        assert lag() > 0
        folder.mkdir()
        server.wait_for_line(r"(is written to \S+audit\.jsonl again)")
        until(lambda: httpx.get(f"{server.url}/readyz").text == "ready\n", "it's ready")
        # What was in the deleted file isn't repeated.
        assert "project.create" in [e.get("action") for e in file.events()]
        assert audited(file.events())[0] > 1
        until(lambda: lag() == 0, "nothing is left")


def test_standard_output_has_the_lines_and_nothing_else(tmp_path):
    create_instance(tmp_path / "data")
    words = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data",
             "--assets", ROOT, "--audit-file", "-"]
    with open(tmp_path / "lines", "w") as lines:
        process = subprocess.Popen(
            words, env=environment(None, words), stdout=lines, stderr=subprocess.PIPE, text=True)
    try:
        url = re.search(r"serves (\S+)", next(
            line for line in process.stderr if " serves " in line)).group(1)
        httpx.get(url)
        (entries,), = query(tmp_path / "data", "SELECT count(*) FROM audit")
        file = AuditFile(tmp_path / "lines")
        until(lambda: len(audited(file.events())) >= entries, "all entries")
        process.terminate()
        rest = process.stderr.read()
        assert process.wait(30) == 0
    finally:
        process.kill()
    assert '"method":"GET"' in rest
    assert all(json.loads(line)["schema"] == "countersign-event/1"
               for line in file.path.read_text().splitlines())
    assert (tmp_path / "data/audit-file.position").exists()


@pytest.mark.sqlite  # A backup is of SQLite's file.
def test_after_a_restore_the_file_goes_on_with_the_restored_log(started, file, tmp_path):
    server, pages = started
    work(pages)
    kept = sealed(server.data)
    backup = tmp_path / "backup.sqlite"
    assert run("backup", "--data", server.data, backup).returncode == 0
    work(pages, 10)
    has_all(file, sealed(server.data))
    server.stop()
    before = len(file.events())
    restored = run("restore", "--data", server.data, backup)
    assert restored.returncode == 0, restored.stderr
    with Server(server.data, "--audit-file", file.path) as server:
        last = sealed(server.data)
        until(lambda: last in audited(file.events()[before:]), "the restored log is written")
        server.stop()
    later = file.events()[before:]
    positions = audited(later)
    assert positions == list(range(positions[0], positions[-1] + 1)) and positions[0] <= kept + 1
    assert "instance.restore" in [e.get("action") for e in later]
    links = dict(query(server.data, "SELECT sequence, link FROM audit_link"))
    written = {e["sequence"]: "\\x" + e["link"] for e in file.events() if e["type"] == "audit"}
    assert {place: written[place] for place in links} == links


@pytest.mark.skipif(not shutil.which("rsyslogd"), reason="Debian's rsyslog isn't installed")
def test_rsyslog_follows_the_file_as_documented(started, file, tmp_path):
    server, pages = started
    with Rsyslog(tmp_path / "rsyslog", file.path) as rsyslog:
        text, code = rsyslog.check()
        assert code == 0 and "error" not in text and "not known" not in text, text
        work(pages)
        has_all(rsyslog, sealed(server.data))
        file.path.rename(tmp_path / "audit.jsonl.1")
        server.process.send_signal(signal.SIGHUP)
        work(pages)
        has_all(rsyslog, sealed(server.data), 120)
        # What's written while it's stopped follows.
        rsyslog.stop()
        work(pages)
        last = sealed(server.data)
        has_all(rsyslog_and(file, tmp_path), last)
        rsyslog.start()
        has_all(rsyslog, last, 120)
        assert in_order(rsyslog.events())


def rsyslog_and(file, folder):
    """The moved file and the present one."""
    class Both:
        def events(self):
            return AuditFile(folder / "audit.jsonl.1").events() + file.events()
    return Both()


@MARKS[0]
@MARKS[1]
def test_each_of_several_nodes_writes_all_entries(tmp_path):
    nodes = Nodes(tmp_path)
    files = [AuditFile(tmp_path / f"audit-{number}.jsonl") for number in range(Nodes.COUNT)]
    for number, file in enumerate(files):
        nodes.own[number] = ["--audit-file", file.path]
    with nodes:
        owner = nodes.pages().set_up(nodes.setup_code)
        work(owner)
        for file in files:
            has_all(file, sealed(nodes.data))
        # The first two share a data folder.
        assert nodes.servers[1].stop() == 0
        work(owner)
        last = sealed(nodes.data)
        has_all(files[0], last)
        nodes.servers[1] = nodes.start(1)
        has_all(files[1], last)
        for file in files:
            assert in_order(file.events())
