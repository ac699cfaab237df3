"""Other requests during a bulk removal of the second factors of 10,000 users."""

import html
import json
import re
import sqlite3
import time
import urllib.error
import urllib.parse
import urllib.request

from server import wrk
from signins import PERSON, post

USERS = 10_000
PROJECT = "bench-project"


def call(server, facts, path, body):
    request = urllib.request.Request(
        f"{server.url}/v1/projects/{PROJECT}/{path}", json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {facts['token']}"})
    return json.loads(urllib.request.urlopen(request).read())


def fill(server, facts, name):
    """Creates users with a second factor each; returns their uids."""
    users = [{
        "localId": f"{name}-{number}", "email": f"{name}-{number}@example.com",
        "emailVerified": True,
        "mfaInfo": [{"mfaEnrollmentId": f"{name}-f{number}", "phoneInfo": f"+1555{number:07}"}],
    } for number in range(USERS)]
    for start in range(0, USERS, 1_000):
        answer = call(server, facts, "accounts:batchCreate", {
            "users": users[start:start + 1_000], "allowOverwrite": True})
        assert not answer.get("error"), answer["error"][:3]
    return [user["localId"] for user in users]


class Quiet(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def begin(server, data, facts, uids):
    """Submits a list and runs it as if a second administrator had approved; returns its number."""
    removals = f"{server.url}/projects/{PROJECT}/bulk-removals"
    cookie = {"Cookie": f"{server.cookie_name}={facts['cookie']}", "Origin": server.url}
    page = urllib.request.urlopen(urllib.request.Request(removals, headers=cookie)).read().decode()
    token = html.unescape(re.search(r'name="csrf" value="([^"]+)"', page)[1])
    form = urllib.parse.urlencode({"csrf": token, "list": "\n".join(uids)}).encode()
    try:
        urllib.request.build_opener(Quiet).open(urllib.request.Request(removals, form, cookie))
        raise SystemExit("the list was not accepted")
    except urllib.error.HTTPError as answer:
        assert answer.code == 303, answer.read()
        number = int(answer.headers["Location"].rsplit("/", 1)[1])
    database = sqlite3.connect(f"{data}/countersign.sqlite", timeout=30)
    with database:
        database.execute(
            "UPDATE bulk_job SET state = 'running', reason = 'lost', started_at = created_at"
            " WHERE job_id = ?", (number,))
    database.close()
    return number


def done(data, number):
    database = sqlite3.connect(f"file:{data}/countersign.sqlite?mode=ro", uri=True, timeout=30)
    row = database.execute(
        "SELECT users_done, state FROM bulk_job WHERE job_id = ?", (number,)).fetchone()
    database.close()
    return row


def measure(bench):
    data, facts = bench.own.data("bulk")
    with bench.own.serve(data) as server:
        sign_in = f"{server.url}/v1/accounts:signInWithPassword?key={facts['apiKey']}"
        request = urllib.request.Request(
            sign_in, json.dumps(PERSON).encode(), {"Content-Type": "application/json"})
        answer = json.loads(urllib.request.urlopen(request).read())
        update = post(bench.folder, "bulk-update", {"localId": answer["localId"]})
        # The name changes each time, so that each request is a write.
        update.write_text(
            "local n=0\nwrk.method='POST'\nwrk.headers['Content-Type']='application/json'\n"
            f"wrk.headers['Authorization']='Bearer {facts['token']}'\n"
            "request=function() n=n+1\n"
            "return wrk.format(nil,nil,nil,'{\"localId\":\"" + answer["localId"] + "\","
            "\"displayName\":\"name '..n..'\"}') end\n")
        loads = {
            "lookup": (
                f"{server.url}/v1/accounts:lookup?key={facts['apiKey']}",
                {"script": post(bench.folder, "bulk-lookup", {"idToken": answer["idToken"]})}),
            "users page": (
                f"{server.url}/projects/{PROJECT}/users",
                {"headers": {"Cookie": f"{server.cookie_name}={facts['cookie']}"}}),
            "update of a user": (
                f"{server.url}/v1/projects/{PROJECT}/accounts:update", {"script": update}),
        }
        paces = []
        for name, (url, more) in loads.items():
            by_itself, during = [], []
            for run in range(bench.runs):
                uids = fill(server, facts, f"{name.split()[0]}-{run}")
                by_itself.append(wrk(url, 16, bench.seconds, **more))
                number = begin(server, data, facts, uids)
                time.sleep(0.5)
                before, start = done(data, number)[0], time.monotonic()
                during.append(wrk(url, 16, bench.seconds, **more))
                after, state = done(data, number)
                paces.append((after - before) / (time.monotonic() - start))
                if state != "running":
                    bench.notes.append(f"{name}: the removal finished before the load")
                while done(data, number)[1] == "running":
                    time.sleep(0.2)
            rate = bench.median(by_itself)["rate"]
            bench.row(
                f"{name} during a removal", during, f"alone, {rate:.0f} per second", 0.5, rate)
        bench.notes.append(
            "removals per second during the load: " + ", ".join(f"{pace:.0f}" for pace in paces))
