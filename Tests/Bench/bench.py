"""Benchmarks a release build on loopback; called by script/bench.

Every figure is the median of three runs that alternate with their baseline, so that a machine whose
speed varies favors neither.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

import bulk
import connections
import imports
import mirror
import policies
import postgresql
import scale
import signins
from server import Nginx, Server, crowd, openssl_signatures, prepare, seal, wrk

ROOT = pathlib.Path(__file__).resolve().parents[2]


def above(target):
    """Returns a target for a ratio with a margin of 15%, since machines differ."""
    return round(1.15 * target, 4)


class Build:
    """A built server with the templates and files of its own checkout."""

    def __init__(self, name, binaries, root, folder):
        self.name = name
        self.bin = pathlib.Path(binaries)
        self.folder = folder / name
        self.assets = self.folder / "assets"
        self.assets.mkdir(parents=True)
        shutil.copytree(root / "Templates", self.assets / "Templates")
        shutil.copytree(root / "Public", self.assets / "Public")
        (self.assets / "Public" / "bench.bin").write_bytes(os.urandom(8192))

    def data(self, name, profile="standalone"):
        """Creates a data folder with this build; returns the folder and the credentials."""
        return self.folder / name, prepare(self.bin, self.folder / name, profile)

    def serve(self, data, profile="standalone", flags=()):
        return Server(self.bin, data, self.assets, profile, flags)


class Bench:
    def __init__(self, arguments, folder):
        self.folder = folder
        self.own = Build("now", arguments.bin, ROOT, folder)
        self.builds = [self.own]
        if arguments.against:
            binaries, root = earlier_build(arguments.against, folder)
            self.builds.append(Build("before", binaries, root, folder))
        self.runs = 1 if arguments.quick else 3
        self.seconds = 2 if arguments.quick else 5
        self.rows = []
        self.before = {}
        self.notes = []

    def median(self, results):
        rates = [result["rate"] for result in results]
        p99 = statistics.median(result["p99"] for result in results)
        errors = sum(result["errors"] for result in results)
        return {"rate": statistics.median(rates), "p99": p99, "errors": errors}

    def row(self, name, results, baseline, target, base=None, kept=0.9):
        """Adds a row to the table; `results` are runs, or runs by build, of which this one should have
        at least the part `kept` of the earlier one's rate."""
        if isinstance(results, dict):
            for build, runs in results.items():
                if build != self.own.name:
                    self.before[name] = self.median(runs)["rate"]
            results = results[self.own.name]
        measured = self.median(results)
        ratio = measured["rate"] / base if base else None
        self.rows.append(
            {
                "what": name,
                "rate": round(measured["rate"], 1),
                "p99_ms": round(measured["p99"], 2) if measured["p99"] else None,
                "errors": measured["errors"],
                "yardstick": baseline,
                "ratio": round(ratio, 3) if ratio else None,
                "aim": target,
                "kept": kept,
            }
        )
        return measured["rate"]

    def limit(self, name, results, p99):
        """Adds a row for requests that may take at most `p99` milliseconds."""
        self.row(name, results, f"{p99} ms, p99", 1)
        self.rows[-1]["ratio"] = round(p99 / max(self.rows[-1]["p99_ms"] or 0, 0.01), 3)

    def at_most(self, name, values, most, unit):
        """Adds a row for something of which at most `most` is wanted, with its unit."""
        measured = statistics.median(values)
        self.rows.append(
            {"what": f"{name}, {unit}", "rate": round(measured, 1), "p99_ms": None, "errors": 0,
             "yardstick": f"at most {most} {unit}", "ratio": round(most / max(measured, 0.01), 3),
             "aim": 1})

    def starts(self, data):
        """Measures starts of a server that's been used."""
        first, whole = [], []
        for _ in range(self.runs):
            with self.own.serve(data) as server:
                first.append(server.first_answer_ms)
                whole.append(server.start_ms)
        self.at_most("start to first answer (/livez)", first, 100, "ms")
        self.at_most("start to the application (/healthz)", whole, 100, "ms")

    def audit(self, count):
        """Measures the verification of an audit log, which limits its time for a million entries."""
        done = subprocess.run(
            [self.own.bin / "countersign-bench", "audit", self.folder / "audit", str(count)],
            check=True, capture_output=True, text=True)
        facts = json.loads(done.stdout)
        assert int(facts["entries"]) >= count and facts["faults"] == "0", facts
        self.at_most(
            f"audit verify, {count} entries, 2 cores", [float(facts["verifyWithTwoThreads"])],
            10 * count / 1_000_000, "s")
        self.notes.append(
            f"audit log of {count} entries: " + ", ".join(
                f"{step} {float(facts[step]):.1f} s"
                for step in ("write", "seal", "verify", "verifyWithTwoThreads")))

    def each_build(self):
        return {build.name: [] for build in self.builds}

    @staticmethod
    def by_turns(items, run):
        """Returns the items, reversed in every second run, so that none is always first."""
        items = list(items)
        return items[::-1] if run % 2 else items

    def files_and_pages(self):
        with contextlib.ExitStack() as open_servers:
            servers, facts = {}, {}
            for build in self.builds:
                data, facts[build.name] = build.data("pages")
                server = open_servers.enter_context(build.serve(data))
                cookie = {"Cookie": f"{server.cookie_name}={facts[build.name]['cookie']}"}
                page = f"{server.url}/projects/bench-project/tenants"
                check_rows(page, cookie)
                server.settle()
                servers[build.name] = (server, page, cookie)
            nginx = open_servers.enter_context(
                Nginx(self.folder, self.own.assets / "Public"))
            file, tenants, engine = self.each_build(), self.each_build(), []
            for run in range(self.runs):
                for name, (server, page, cookie) in self.by_turns(servers.items(), run):
                    file[name].append(wrk(f"{server.url}/static/bench.bin", 16, self.seconds))
                    tenants[name].append(wrk(page, 16, self.seconds, headers=cookie))
                engine.append(wrk(f"{nginx.url}/bench.bin", 16, self.seconds))
            self.file_rate = self.row(
                "file of 8 KiB", file, "nginx, same file", 0.8, self.median(engine)["rate"])
            self.row(
                "tenants page, 50 rows, signed in", tenants, "file", above(0.15), self.file_rate)
            server = servers[self.own.name][0]
            self.at_most("memory after pages (PSS)", [server.memory()], 64, "MiB")
            hashes = self.each_build()
            for name, (server, _, _) in servers.items():
                hashes[name].append(self.hashes(server, facts[name]))
            self.row("signInWithPassword, 2 connections", hashes, "", None)
            server = servers[self.own.name][0]
            self.notes.append(
                f"memory with two hashes running: {server.memory()} MiB (peak {server.peak()} MiB)")
        self.starts(self.own.folder / "pages")

    def hashes(self, server, facts):
        script = self.folder / "password.lua"
        body = json.dumps(
            {
                "email": "user@example.com",
                "password": "correct horse battery staple",
                "returnSecureToken": True,
            }
        )
        script.write_text(
            f"wrk.method='POST'\nwrk.headers['Content-Type']='application/json'\nwrk.body='{body}'\n"
        )
        url = f"{server.url}/v1/accounts:signInWithPassword?key={facts['apiKey']}"
        return wrk(url, 2, self.seconds, script=script)

    def console(self):
        """Measures the console's pages with much data: 50 projects, 1,000 tenants, 5,000 users."""
        with contextlib.ExitStack() as open_servers:
            servers, pages, results = {}, {}, {}
            for build in self.builds:
                data = build.folder / "crowd"
                facts = crowd(build.bin, data)
                server = open_servers.enter_context(build.serve(data))
                cookie = {"Cookie": f"{server.cookie_name}={facts['cookie']}"}
                servers[build.name] = (server, cookie)
                pages[build.name] = self.console_pages(facts, projects_page(server.url, cookie))
                for path, least in pages[build.name].values():
                    check_rows(server.url + path, cookie, least)
                server.settle()
            own, _ = servers[self.own.name]
            file = []
            for run in range(self.runs):
                file.append(wrk(f"{own.url}/static/bench.bin", 16, self.seconds))
                for page in pages[self.own.name]:
                    rates = results.setdefault(page, self.each_build())
                    for name, (server, cookie) in self.by_turns(servers.items(), run):
                        path, _ = pages[name][page]
                        rates[name].append(
                            wrk(server.url + path, 16, self.seconds, headers=cookie))
            rate = self.median(file)["rate"]
            for page, rates in results.items():
                self.row(page, rates, "file", above(0.10), rate)
            self.notes.append(f"memory after the console's pages: {own.memory()} MiB")

    @staticmethod
    def console_pages(facts, projects):
        """Returns the paths of the pages and the least number of rows that each shows."""
        return {
            "projects page, 50 projects": (projects, 50),
            "review page, 50 of 1,000 tenants": ("/projects/bench-large/review", 50),
            "users page, 50 of 5,000": ("/projects/bench-project/users", 50),
            "user page": (f"/projects/bench-project/users/{facts['user']}", 1),
            "audit page, 50 rows": ("/projects/bench-project/audit", 50),
        }

    def config(self):
        script = self.folder / "patch.lua"
        one, many, groups = self.each_build(), self.each_build(), []
        for run in range(self.runs):
            for build in self.by_turns(self.builds, run):
                for connections, results in ((1, one), (64, many)):
                    data, facts = build.data(f"config-{run}-{connections}")
                    # The value changes each time, so that each request is a write.
                    script.write_text(
                        "local n=0\nwrk.method='PATCH'\n"
                        "wrk.headers['Content-Type']='application/json'\n"
                        f"wrk.headers['Authorization']='Bearer {facts['token']}'\n"
                        "request=function() n=n+1\n"
                        "return wrk.format(nil,nil,nil,'{\"mfa\":{\"providerConfigs\":[{\"state\":"
                        "\"ENABLED\",\"totpProviderConfig\":{\"adjacentIntervals\":'..(n%10+1)..'}}]}}')"
                        " end\n"
                    )
                    with build.serve(data) as server:
                        url = f"{server.url}/admin/v2/projects/bench-project/config?updateMask=mfa"
                        results[build.name].append(
                            wrk(url, connections, self.seconds, script=script))
                        writes, commits = server.stop()
                    if connections == 64 and build is self.own:
                        groups.append(writes / max(commits, 1))
        alone = self.row("PATCH config, 1 connection", one, "", None)
        self.row("PATCH config, 64 connections", many, "1 connection", 4, alone)
        self.notes.append(
            f"writes per commit at 64 connections: {statistics.median(groups):.1f} (target 8)")

    def sign_in(self, profile, count, target):
        results, signatures = self.each_build(), []
        for run in range(self.runs):
            for build in self.by_turns(self.builds, run):
                results[build.name].append(self.finalize(build, profile, count, run))
            if profile == "standalone":
                signatures.append(openssl_signatures(1 if self.runs == 1 else 3))
        if profile == "standalone":
            self.row(
                "mfaSignIn:finalize, standalone", results, "openssl rsa2048, all cores", target,
                statistics.median(signatures),
            )
        else:
            self.row("mfaSignIn:finalize, emulator", results, "file", target, self.file_rate)

    def finalize(self, build, profile, count, run, move=None, usage=dict):
        """Measures sign-ins with a code, each prepared in advance and sent once.

        `move` puts the instance into another database, and `usage` returns counters, whose increase
        per sign-in is part of the result."""
        data, facts = build.data(f"{profile}-{run}", profile)
        requests = self.folder / f"{profile}.requests"
        seal(build.bin, data, profile, count, requests)
        script = self.folder / "finalize.lua"
        # Each of the two threads sends every other line once and stops the run at the end.
        script.write_text(
            "local counter=0\n"
            "function setup(thread) thread:set('id',counter) counter=counter+1 end\n"
            "function init(args) lines={} local i=0\n"
            f"for line in io.lines('{requests}') do if i%2==id then lines[#lines+1]=line end i=i+1 end\n"
            "wrk.method='POST' wrk.headers['Content-Type']='application/json' n=0 end\n"
            "function request() n=n+1 if n>#lines then wrk.thread:stop() n=#lines end\n"
            "return wrk.format(nil,nil,nil,lines[n]) end\n"
        )
        flags = ["--database", move(build, data)] if move else []
        with build.serve(data, profile, flags) as server:
            server.settle()
            before = {"server": server.cpu(), **usage()}
            url = f"{server.url}/v2/accounts/mfaSignIn:finalize?key={facts['apiKey'] or 'any'}"
            result = wrk(url, 16, self.seconds, script=script)
            if result["errors"] > 0.01 * result["rate"] * self.seconds:
                raise SystemExit(f"{result['errors']} sign-ins failed with {build.name} ({profile})")
            # wrk divides by the whole time, so a run that used all requests would be too low.
            if result["rate"] * self.seconds > 0.98 * count:
                raise SystemExit(f"{count} prepared sign-ins are too few for {profile}")
            after = {"server": server.cpu(), **usage()}
            result["used"] = {
                name: (after[name] - before[name]) / (result["rate"] * self.seconds)
                for name in after}
            server.stop()
        return result

    def imports(self, count, many):
        """Measures imports against inserts by a C program; `many` users are for the memory."""
        program = imports.build_baseline(self.folder)
        path = self.folder / "users.json"
        imports.write(path, count)
        by_command, by_call, by_library, peaks = [], [], [], []

        def result(rate):
            return {"rate": rate, "p99": 0, "errors": 0}

        for run in range(self.runs):
            data = self.folder / f"import-{run}"
            rate, peak = imports.by_command(self.own, data, path)
            by_command.append(result(rate))
            peaks.append(peak)
            by_library.append(
                imports.by_library(program, self.own, data, self.folder / f"rows-{run}"))
            by_call.append(result(imports.by_call(self.own, self.folder / f"call-{run}", count)[0]))
            for name in ("import", "rows", "call"):
                shutil.rmtree(self.folder / f"{name}-{run}")
        base = statistics.median(by_library)
        library = f"{base:.0f} rows/s by C"
        self.row(f"countersign import, {count} users", by_command, library, 0.4, base)
        self.row(f"batchCreate, {count} users", by_call, library, 0.4, base)
        imports.write(path, many)
        data = self.folder / "import-many"
        rate, peak = imports.by_command(self.own, data, path)
        base = imports.by_library(program, self.own, data, self.folder / "rows-many")
        self.row(
            f"countersign import, {many} users", [result(rate)], f"{base:.0f} rows/s by C", 0.4,
            base)
        self.notes.append(
            f"memory of countersign import: {max(peaks):.0f} MiB for {count} users, {peak:.0f} MiB"
            f" for {many}")

    def report(self):
        print(
            f"\n{'benchmark':42} {'per s':>10} {'p99 ms':>8} {'errors':>6} {'ratio':>7}"
            f" {'target':>6}  of")
        for row in self.rows:
            p99 = f"{row['p99_ms']:.2f}" if row["p99_ms"] else ""
            ratio = f"{row['ratio']:.3f}" if row["ratio"] else ""
            target = row["aim"] if row["aim"] else ""
            print(
                f"{row['what']:42} {row['rate']:10.1f} {p99:>8} {row['errors']:6} {ratio:>7} "
                f"{target:>6}  {row['yardstick']}"
            )
        self.compare()
        for note in self.notes:
            print(note)
        results = ROOT / "bench-results"
        results.mkdir(exist_ok=True)
        file = results / "bench.json"
        file.write_text(json.dumps(
            {"rows": self.rows, "before": self.before, "notes": self.notes}, indent=2))
        print(f"JSON in {file.relative_to(ROOT)}")

    def compare(self):
        """Prints the comparison with the earlier build, if there is one."""
        if not self.before:
            return
        print(
            f"\n{'against the earlier build':42} {'before':>10} {'now':>8} {'ratio':>7}"
            f" {'target':>6}")
        for row in self.rows:
            if before := self.before.get(row["what"]):
                ratio = row["rate"] / before
                print(
                    f"{row['what']:42} {before:10.1f} {row['rate']:8.1f} {ratio:7.3f}"
                    f" {row['kept']:>6}")


def projects_page(url, headers):
    """Returns the path that an owner's start page leads to, or its own in an earlier build."""
    request = urllib.request.Request(url + "/", headers=headers)
    return urllib.request.urlopen(request).url.removeprefix(url)


def check_rows(page, headers, least=50):
    """Checks that a page is the one to be measured, by its number of rows."""
    text = urllib.request.urlopen(urllib.request.Request(page, headers=headers)).read()
    rows = text.count(b"<tr")
    assert rows >= least, f"{page} shows {rows} rows"


def earlier_build(against, folder):
    """Returns the programs and checkout of an earlier build: a built checkout, or a revision."""
    path = pathlib.Path(against).resolve()
    if path.is_dir():
        root = next((at for at in (path, *path.parents) if (at / "Templates").is_dir()), None)
        assert root, f"no folder above {path} contains Templates"
        return (path if (path / "countersign").exists() else path / ".build/release"), root
    root = folder / "earlier"
    subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", root, against], check=True)
    try:
        for product in ("countersign", "countersign-bench"):
            subprocess.run(
                ["swift", "build", "--package-path", root, "-c", "release",
                 "--static-swift-stdlib", "--product", product], check=True)
    finally:
        # The files are needed for this run only; git doesn't need to know about them.
        (root / ".git").unlink()
        subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
    return root / ".build/release", root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=[
        "pages", "console", "sign-ins", "config", "emulator", "standalone", "postgresql", "import",
        "scale", "bulk", "connections", "audit", "mirror"])
    parser.add_argument(
        "--against", metavar="FOLDER|REVISION",
        help="benchmark an earlier build too: a built checkout, or a revision to build")
    parser.add_argument(
        "--users", type=int, help="the number of users in the large pool of `scale`")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="countersign-bench-") as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        wanted = arguments.only
        if wanted in (None, "pages", "emulator"):
            bench.files_and_pages()
        if wanted in (None, "connections"):
            connections.measure(bench)
        if wanted in (None, "console"):
            bench.console()
        if wanted in (None, "sign-ins"):
            signins.measure(bench)
        if wanted in (None, "config"):
            bench.config()
        if wanted in (None, "emulator"):
            bench.sign_in("emulator", 40_000 if arguments.quick else 120_000, above(0.10))
        if wanted in (None, "standalone"):
            bench.sign_in("standalone", 12_000 if arguments.quick else 40_000, above(0.4))
        if wanted in (None, "postgresql"):
            postgresql.measure(bench, 12_000 if arguments.quick else 40_000)
        if wanted in (None, "import"):
            bench.imports(*((20_000, 60_000) if arguments.quick else (100_000, 1_000_000)))
        if wanted in (None, "audit"):
            bench.audit(100_000 if arguments.quick else 1_000_000)
        if wanted in (None, "bulk"):
            bulk.measure(bench)
        if wanted in (None, "mirror"):
            mirror.measure(bench, 20_000 if arguments.quick else 100_000)
        if wanted in (None, "scale"):
            users = arguments.users or (50_000 if arguments.quick else 1_000_000)
            scale.measure(bench, users)
            policies.measure(bench, users, 10 * users)
        bench.report()


if __name__ == "__main__":
    main()
