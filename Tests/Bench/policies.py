"""Pages about policies: ten million code attempts, a million users, and a thousand tenants."""

import re
import subprocess
import time
import urllib.parse
import urllib.request

from scale import visited
from server import wrk

# The most that the slowest of a hundred requests may take at 16 connections, in milliseconds.
P99 = 50
# The most that a preview of a change may take, in milliseconds.
PREVIEW = 2000
# The changes that are previewed, as fields of the form. The pool's pattern is already mandatory, so
# the second one changes its first day, and for how many users it's mandatory.
CHANGES = {
    "another window": {"intervals": "1"},
    "mandatory enrollment": {"pattern": "mandatory", "from": "2099-01-01", "sms": "off"},
}
POOL = "/projects/metropolis"


def pages(facts):
    return {
        "policy page": f"{POOL}/policy",
        "policy page, 90 days": f"{POOL}/policy?days=90",
        "users beyond a window": f"{POOL}/policy/affected?beyond=1&days=90",
        "overview": POOL,
        "sign-in activity": f"{POOL}/activity",
        "review, 1,000 tenants": "/projects/bench-large/review",
        "review of all projects": "/review",
        "tenants, 1,000": "/projects/bench-large/tenants",
    }


def fields(page):
    """Returns the policy form's fields as a browser would send them."""
    values = {}
    for tag in re.findall(r"<input [^>]*>", page):
        name = re.search(r' name="([\w-]+)"', tag)
        value = re.search(r' value="([^"]*)"', tag)
        is_choice = re.search(r'\stype="(radio|checkbox)"', tag)
        is_sent = not is_choice or re.search(r"\schecked\b", tag)
        if name and is_sent and not re.search(r"\sdisabled\b", tag):
            values[name.group(1)] = value.group(1) if value else ""
    values.pop("q", None)
    return values


def preview(server, cookie, change):
    """Returns the milliseconds until a change is previewed, with who is affected."""
    page = urllib.request.urlopen(
        urllib.request.Request(f"{server.url}{POOL}/policy", headers=cookie)).read().decode()
    form = fields(page) | change
    request = urllib.request.Request(
        f"{server.url}{POOL}/policy", urllib.parse.urlencode(form).encode(),
        {**cookie, "Origin": server.url, "Content-Type": "application/x-www-form-urlencoded"})
    began = time.monotonic()
    answer = urllib.request.urlopen(request).read()
    assert b"/policy/changes" in answer
    return 1000 * (time.monotonic() - began)


def measure(bench, users, attempts):
    """Adds a row for each page and each preview, whose ratio is the limit to its time."""
    build, data = bench.own, bench.folder / "metropolis"
    began = time.monotonic()
    subprocess.run(
        [str(build.bin / "countersign-bench"), "metropolis", str(data), str(users),
         str(attempts // users)], check=True, stderr=subprocess.DEVNULL)
    size = (data / "countersign.sqlite").stat().st_size / 2**20
    bench.notes.append(
        f"{attempts} code attempts of {users} users: {time.monotonic() - began:.0f} s, {size:.0f} MiB")
    print(bench.notes[-1], flush=True)
    facts = visited(build, data)
    with build.serve(data) as server:
        cookie = {"Cookie": f"{server.cookie_name}={facts['cookie'][0]}"}
        for name, path in pages(facts).items():
            # The first request fills the caches, as any earlier visit does.
            urllib.request.urlopen(
                urllib.request.Request(server.url + path, headers=cookie)).read()
            runs = [wrk(server.url + path, 16, bench.seconds, headers=cookie)
                    for _ in range(bench.runs)]
            bench.limit(name, runs, P99)
        for name, change in CHANGES.items():
            slowest = max(preview(server, cookie, change) for _ in range(3))
            bench.at_most(f"preview of {name}, {users} users", [slowest], PREVIEW, "ms")
