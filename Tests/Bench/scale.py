"""Pages of a pool with a million users, against those of a pool with a thousand."""

import json
import os
import statistics
import subprocess
import time
import urllib.parse
import urllib.request

from server import wrk

# Search terms, several of each length, so that the results differ.
SEARCHES = {
    "one letter": "a b c d e f g h j k l m n o p r s t v z".split(),
    "two letters": "an be ca da el fr ha in is ji ka li ma na ol ro sa wa ya zh".split(),
    "three letters": "ada ali ana and ann ari ber exa ham ian ill ina lin mar nda ni. ree ria san she".split(),
}
FILTERS = {
    "all": "", "none": "factor=none", "totp": "factor=totp", "phone": "factor=phone",
    "locked": "state=locked", "suspended": "state=suspended", "disabled": "state=disabled",
    "unverified": "state=unverified",
}
SORTS = ("newest", "email", "name", "last-sign-in")
# Its numbers come from aggregates, so its slowest responses don't depend on the number of users.
OVERVIEW = "overview"
SLOWER_OVERVIEW = 1.2


def create_demo(build, data, users):
    """Creates a demo; returns the time in seconds and the peak memory in MiB."""
    began = time.monotonic()
    process = subprocess.Popen(
        [str(build.bin / "countersign-bench"), "large", str(data), str(users)],
        stderr=subprocess.PIPE, text=True)
    reported_at = began
    for line in process.stderr:
        if time.monotonic() - reported_at > 10:
            reported_at = time.monotonic()
            print(f"  {line.strip()}", flush=True)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"countersign-bench large {users} failed")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def visited(build, data):
    output = subprocess.run(
        [str(build.bin / "countersign-bench"), "visit", str(data)], check=True,
        stdout=subprocess.PIPE).stdout
    return json.loads(output)


def pages(address, facts, pool):
    """Returns the kinds of pages of a pool, each with the paths to measure."""
    users = f"{address}/users"
    kinds = {OVERVIEW: [address], "users": [users]}
    for name, query in FILTERS.items():
        kinds[f"filter {name}"] = [
            f"{users}?{query}{'&' if query else ''}sort={sort}" for sort in SORTS]
    for name, words in SEARCHES.items():
        kinds[f"search, {name}"] = [f"{users}?q={urllib.parse.quote(word)}" for word in words]
    kinds["user"] = [f"{users}/{user}" for user in facts[pool]]
    kinds["user, five factors, 3,000 code attempts"] = [f"{users}/{facts[pool + '-special'][0]}"]
    kinds["user, no factor"] = [f"{users}/{facts[pool + '-special'][1]}"]
    return kinds


def load(folder, name, paths):
    """Writes a script that requests the paths one after the other."""
    script = folder / f"{name}.lua"
    listed = ",".join(json.dumps(path) for path in paths)
    script.write_text(
        f"local paths={{{listed}}}\nlocal n=0\n"
        "request=function() n=n%#paths+1 return wrk.format('GET',paths[n]) end\n")
    return script


class Pool:
    """A user pool on a server, and its pages."""

    def __init__(self, name, server, facts, address, pool):
        self.name = name
        self.server = server
        self.cookie = {"Cookie": f"{server.cookie_name}={facts['cookie'][0]}"}
        self.pages = pages(address, facts, pool)

    def rows(self, path):
        """Returns the number of rows on a page."""
        request = urllib.request.Request(self.server.url + path, headers=self.cookie)
        text = urllib.request.urlopen(request).read()
        assert b"<h1" in text, f"{path} of {self.name}"
        return text.count(b"<tr")

    def run(self, folder, kind, seconds):
        script = load(folder, "scale", self.pages[kind])
        return wrk(self.server.url, 16, seconds, headers=self.cookie, script=script)


def measure(bench, users):
    """Prints the time and memory of creating each demo, then compares each page's time."""
    build, folder = bench.own, bench.folder
    data = {count: folder / f"scale-{count}" for count in (1_000, users)}
    for count, path in data.items():
        seconds, peak = create_demo(build, path, count)
        size = (path / "countersign.sqlite").stat().st_size / 2**20
        bench.notes.append(
            f"demo of {count} users: {seconds:.0f} s, {peak:.0f} MiB of memory, {size:.0f} MiB file")
        print(bench.notes[-1], flush=True)
    facts = {count: visited(build, path) for count, path in data.items()}
    with build.serve(data[1_000]) as small, build.serve(data[users]) as large:
        def pool(name, count, server, which):
            found = facts[count]
            address = "/projects/metropolis"
            if which == "village":
                address += f"/tenants/{found['tenant'][0]}"
            return Pool(name, server, found, address, which)

        pairs = [
            (f"{users} users", pool("small", 1_000, small, "large"),
             pool("large", users, large, "large")),
            ("another pool in that file", pool("small", 1_000, small, "village"),
             pool("village", users, large, "village")),
        ]
        fewer = {}
        for title, base, other in pairs:
            for kind, paths in base.pages.items():
                rows = [(base.rows(path), other.rows(end))
                        for path, end in zip(paths, other.pages[kind])]
                if kind.startswith("search"):
                    # Compares only searches that fill a page in both pools.
                    full = [number for number, (one, two) in enumerate(rows) if one == two]
                    bench.notes.append(
                        f"{title}, {kind}: {len(full)} of {len(rows)} words fill the page in both")
                    base.pages[kind] = [base.pages[kind][number] for number in full]
                    other.pages[kind] = [other.pages[kind][number] for number in full]
                elif not kind.startswith("user") and sum(one for one, _ in rows) < sum(
                        two for _, two in rows):
                    fewer[title, kind] = (
                        f", {max(one for one, _ in rows) - 1} rows there and"
                        f" {max(two for _, two in rows) - 1} here")
        seconds = max(1, bench.seconds - 3)
        for title, base, other in pairs:
            for kind in [kind for kind, paths in base.pages.items() if paths]:
                runs = {base: [], other: []}
                for run in range(bench.runs):
                    for each in bench.by_turns((base, other), run):
                        runs[each].append(each.run(folder, kind, seconds))
                rate = bench.median(runs[base])["rate"]
                p99 = statistics.median(result["p99"] for result in runs[base])
                if kind == OVERVIEW:
                    bench.limit(f"{title}: {kind}", runs[other], SLOWER_OVERVIEW * p99)
                    continue
                # The ratio compares times per request.
                bench.row(
                    f"{title}: {kind}", runs[other],
                    f"that of 1,000 users ({rate:.0f}/s, p99 {p99:.1f} ms"
                    f"{fewer.get((title, kind), '')}), at least",
                    None if (title, kind) in fewer else 0.67, rate)
        bench.notes.append(
            f"memory of the server of {users} users: {large.memory()} MiB (peak {large.peak()} MiB),"
            f" of 1,000 users: {small.memory()} MiB")
