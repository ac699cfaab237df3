"""Connected projects: walks over their users, sign-ins of hosted users meanwhile, and lists."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import bulk
import imports
import scale
from server import free_port, wrk
from signins import PERSON, post

ALONE, BESIDE = "mirror-alone", "mirror-beside"
ALLOWED = ["--outbound-allow", "127.0.0.1/32"]
# A walk sends five calls per second, so after an answer that takes as long it doesn't wait.
TURN = 0.2
NEVER = 1 << 52


class Remote(ThreadingHTTPServer):
    """A double of another Countersign, whose projects all have the same users.

    `calls` has when calls about users arrived and when they were answered, which takes `seconds`.
    Pages are only answered while `goes_on` is set; `is_asked` is set while a call waits for that.
    """

    def __init__(self, parts):
        super().__init__(("127.0.0.1", 0), Answer)
        self.count = json.dumps({"recordsCount": str(sum(map(len, parts)))}).encode()
        # The last page has no token.
        self.pages = [
            json.dumps({"users": part, "nextPageToken": str(number % len(parts) or "")}).encode()
            for number, part in enumerate(parts, 1)]
        self.calls, self.seconds = [], 0
        self.goes_on, self.is_asked = threading.Event(), threading.Event()
        self.goes_on.set()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.goes_on.set()
        self.shutdown()
        self.server_close()

    def hold(self):
        """Returns when a walk waits for a page."""
        self.goes_on.clear()
        if not self.is_asked.wait(60):
            raise SystemExit("the walk asks for no more pages")

    def body(self, call, query):
        if call == "query":
            return self.count
        if call != "batchGet":
            # A configuration or a list of tenants.
            return b"{}"
        if not self.goes_on.is_set():
            self.is_asked.set()
            self.goes_on.wait()
            self.is_asked.clear()
        return self.pages[int(query.get("nextPageToken", ["0"])[0])]


class Answer(BaseHTTPRequestHandler):
    def answer(self):
        arrived, remote = time.monotonic(), self.server
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        call = url.path.rpartition(":")[2]
        body = remote.body(call, urllib.parse.parse_qs(url.query))
        time.sleep(max(0, arrived + remote.seconds - time.monotonic()))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if call in ("query", "batchGet"):
            remote.calls.append((arrived, time.monotonic()))

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def parts(count):
    """Returns pages of users, of whom one in six has a phone, as imports and walks read them."""
    listed = []
    for number, user in enumerate(imports.users(count)):
        del user["passwordHash"], user["salt"]
        user["lastLoginAt"], email = user.pop("lastSignedInAt"), user["email"]
        user["providerUserInfo"] = [{"providerId": "password", "rawId": email, "email": email}]
        # Their addresses are verified.
        if number % 6 == 1:
            user["mfaInfo"] = [{
                "mfaEnrollmentId": f"phone-{number}", "phoneInfo": f"+1555{number:07}",
                "enrolledAt": "2026-09-23T11:52:22.579Z"}]
        listed.append(user)
    listed.sort(key=lambda user: user["localId"])
    return [listed[start:start + imports.PART] for start in range(0, count, imports.PART)]


def sql(data, statement, *values):
    path = f"{data}/countersign.sqlite"
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as database, database:
        return database.execute(statement, values).fetchall()


def set_due(data, project, at):
    sql(data, "UPDATE connection SET next_walk_at = ? WHERE project_id = ?", at, project)


def is_over(data, project):
    """Returns whether the walk that was due has ended."""
    [(state, due, cause)] = sql(
        data, "SELECT state, next_walk_at, cause FROM connection WHERE project_id = ?", project)
    if state != "working":
        raise SystemExit(f"the walk of {project} is {state}: {cause}")
    return due > 0


def wait_for_end(data, project):
    deadline = time.monotonic() + 600
    while not is_over(data, project):
        if time.monotonic() > deadline:
            raise SystemExit(f"the walk of {project} has no end")
        time.sleep(0.05)
    set_due(data, project, NEVER)


def connect(bench, data, remote, project):
    """Connects a project before the server starts, which doesn't walk until that's due."""
    credential = bench.folder / "credential"
    credential.write_text("cst_bench")
    subprocess.run(
        [bench.own.bin / "countersign", "connection", "add", "--data", data, "--project", project,
         "--kind", "countersign", "--url", f"http://127.0.0.1:{remote.server_port}",
         "--access", "read", "--credential-file", credential, *ALLOWED],
        check=True, stdout=subprocess.DEVNULL)
    set_due(data, project, NEVER)


def walk(remote, data, project):
    """Returns the seconds of a walk without those of the remote's answers, which are so slow that
    its pace leaves nothing to wait for, and all seconds."""
    remote.calls.clear()
    remote.seconds = TURN
    set_due(data, project, 0)
    wait_for_end(data, project)
    end, remote.seconds = time.monotonic(), 0
    whole = end - remote.calls[0][0]
    return whole - sum(answered - arrived for arrived, answered in remote.calls), whole


def walks(bench, server, remote, data, metrics, count):
    """Measures a first walk, and unchanged ones, whose writes include those of other tasks."""
    def writes():
        text = urllib.request.urlopen(metrics).read().decode()
        return int(re.search(r"^countersign_database_writes_total (\d+)", text, re.M)[1])

    before = server.status("VmRSS")
    seconds, whole = walk(remote, data, ALONE)
    bench.at_most("memory of the first walk", [server.peak() - before], 64, "MiB")
    [(stored,)] = sql(
        data, "SELECT count(*) FROM account JOIN scope USING (scope_key) WHERE project_id = ?",
        ALONE)
    assert stored == count, stored
    server.settle()
    unchanged, written = [], []
    for _ in range(bench.runs):
        earlier = writes()
        unchanged.append(walk(remote, data, ALONE))
        written.append(writes() - earlier)
    # Its pacer pauses for twice as long as each write took, and an unchanged walk writes nothing.
    compared = min(seconds for seconds, _ in unchanged)
    bench.at_most(
        f"first walk without its pauses, {count} users", [compared + (seconds - compared) / 3],
        90 * count // 100_000, "s")
    bench.at_most(
        f"unchanged walk, {count} users", [seconds for seconds, _ in unchanged],
        15 * count // 100_000, "s")
    bench.at_most("writes during an unchanged walk", written, 100, "writes")
    bench.notes.append(
        f"walks with answers of {TURN} s: {whole:.0f} s, and unchanged "
        + ", ".join(f"{whole:.0f} s" for _, whole in unchanged))


def sign_ins(bench, server, remote, data, facts, name):
    """Measures sign-ins while a walk goes on at its pace, and while it waits for a page."""
    url = f"{server.url}/v1/accounts:signInWithPassword?key={facts['apiKey']}"
    script, at_once = post(bench.folder, "mirror", PERSON), 2 * os.cpu_count()
    alone, during = [], []
    remote.goes_on.clear()
    set_due(data, BESIDE, 0)
    for run in range(bench.runs):
        for results, begin in bench.by_turns(
                ((alone, remote.hold), (during, remote.goes_on.set)), run):
            begin()
            results.append(wrk(url, at_once, bench.seconds, script=script))
    if is_over(data, BESIDE):
        bench.notes.append(f"{name} finished before the load")
    remote.goes_on.set()
    wait_for_end(data, BESIDE)
    rate = bench.median(alone)["rate"]
    bench.row(
        f"signInWithPassword during {name}", during, f"alone, {rate:.1f} per second", 0.9, rate)
    server.settle()


def lists(bench, server, facts):
    """Compares the list of users of a connected project with that of a hosted one."""
    cookie = {"Cookie": f"{server.cookie_name}={facts['cookie']}"}
    results = {bulk.PROJECT: [], ALONE: []}
    pages = {project: [f"/projects/{project}/users?sort={sort}" for sort in scale.SORTS]
             for project in results}
    for path in [path for paths in pages.values() for path in paths]:
        request = urllib.request.Request(server.url + path, headers=cookie)
        assert urllib.request.urlopen(request).read().count(b"<tr") >= 50, path
    for run in range(bench.runs):
        for project in bench.by_turns(results, run):
            script = scale.load(bench.folder, "mirror-lists", pages[project])
            results[project].append(
                wrk(server.url, 16, bench.seconds, headers=cookie, script=script))
    rate = bench.median(results[bulk.PROJECT])["rate"]
    bench.row(
        "users page, connected", results[ALONE], f"hosted, {rate:.0f} per second", 0.95, rate)


def measure(bench, count):
    pages, (data, facts) = parts(count), bench.own.data("mirror")
    metrics = f"127.0.0.1:{free_port()}"
    with Remote(pages) as remote:
        for project in (ALONE, BESIDE):
            connect(bench, data, remote, project)
        with bench.own.serve(data, flags=[*ALLOWED, "--metrics-listen", metrics]) as server:
            server.settle()
            walks(bench, server, remote, data, f"http://{metrics}/metrics", count)
            for users in pages:
                answer = bulk.call(
                    server, facts, "accounts:batchCreate", {"users": users, "allowOverwrite": True})
                assert not answer.get("error"), answer["error"][:3]
            server.settle()
            for name in ("a first walk", "an unchanged walk"):
                sign_ins(bench, server, remote, data, facts, name)
            lists(bench, server, facts)
