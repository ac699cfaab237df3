"""Measures a release build on loopback; called by script/bench.

Every figure is the median of three runs that take turns with their yardstick, so that a machine
whose speed drifts does not favour either.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

from server import Nginx, Server, openssl_signatures, prepare, seal, wrk

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Bench:
    def __init__(self, arguments, folder):
        self.bin = pathlib.Path(arguments.bin)
        self.folder = folder
        self.runs = 1 if arguments.quick else 3
        self.seconds = 2 if arguments.quick else 5
        self.rows = []
        self.notes = []
        self.assets = folder / "assets"
        self.assets.mkdir()
        shutil.copytree(ROOT / "Templates", self.assets / "Templates")
        shutil.copytree(ROOT / "Public", self.assets / "Public")
        (self.assets / "Public" / "bench.bin").write_bytes(os.urandom(8192))

    def median(self, results):
        rates = [result["rate"] for result in results]
        p99 = statistics.median(result["p99"] for result in results)
        errors = sum(result["errors"] for result in results)
        return {"rate": statistics.median(rates), "p99": p99, "errors": errors}

    def row(self, name, measured, yardstick, aim, base=None):
        ratio = measured["rate"] / base if base else None
        self.rows.append(
            {
                "what": name,
                "rate": round(measured["rate"], 1),
                "p99_ms": round(measured["p99"], 2) if measured["p99"] else None,
                "errors": measured["errors"],
                "yardstick": yardstick,
                "ratio": round(ratio, 3) if ratio else None,
                "aim": aim,
            }
        )

    def files_and_pages(self):
        data = self.folder / "pages"
        facts = prepare(self.bin, data, "standalone")
        with Server(self.bin, data, self.assets) as server, Nginx(
            self.folder, self.assets / "Public"
        ) as nginx:
            cookie = {"Cookie": f"{server.cookie_name}={facts['cookie']}"}
            page = f"{server.url}/projects/bench-project/tenants"
            check = urllib.request.urlopen(urllib.request.Request(page, headers=cookie)).read()
            assert check.count(b"<tr") >= 50, "the tenants page does not show 50 rows"
            own, other, tenants = [], [], []
            for _ in range(self.runs):
                own.append(wrk(f"{server.url}/static/bench.bin", 16, self.seconds))
                other.append(wrk(f"{nginx.url}/bench.bin", 16, self.seconds))
                tenants.append(wrk(page, 16, self.seconds, headers=cookie))
            file, engine, table = map(self.median, (own, other, tenants))
            self.file_rate = file["rate"]
            self.row("file of 8 KiB", file, "nginx, same file", 0.8, engine["rate"])
            self.row("tenants page, 50 rows, signed in", table, "file", 0.15, file["rate"])
            self.notes.append(f"memory after pages: {server.memory()} MiB")
            self.notes.append(f"start to first answer: {server.start_ms:.0f} ms")
            self.memory_with_hashes(server, facts)

    def memory_with_hashes(self, server, facts):
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
        result = wrk(url, 2, self.seconds, script=script)
        self.row("signInWithPassword, 2 connections", result, "", None)
        self.notes.append(f"memory with two hashes running: {server.memory()} MiB (peak {server.peak()} MiB)")

    def config(self):
        script = self.folder / "patch.lua"
        one, many, groups = [], [], []
        for _ in range(self.runs):
            for connections, results in ((1, one), (64, many)):
                data = self.folder / f"config-{len(one)}-{connections}"
                facts = prepare(self.bin, data, "standalone")
                # The value differs each time, so that each request is a write.
                script.write_text(
                    "local n=0\nwrk.method='PATCH'\n"
                    "wrk.headers['Content-Type']='application/json'\n"
                    f"wrk.headers['Authorization']='Bearer {facts['token']}'\n"
                    "request=function() n=n+1\n"
                    "return wrk.format(nil,nil,nil,'{\"mfa\":{\"providerConfigs\":[{\"state\":"
                    "\"ENABLED\",\"totpProviderConfig\":{\"adjacentIntervals\":'..(n%10+1)..'}}]}}')"
                    " end\n"
                )
                with Server(self.bin, data, self.assets) as server:
                    url = f"{server.url}/admin/v2/projects/bench-project/config?updateMask=mfa"
                    results.append(wrk(url, connections, self.seconds, script=script))
                    writes, commits = server.stop()
                if connections == 64:
                    groups.append(writes / max(commits, 1))
        alone, together = self.median(one), self.median(many)
        self.row("PATCH config, 1 connection", alone, "", None)
        self.row("PATCH config, 64 connections", together, "1 connection", 4, alone["rate"])
        self.notes.append(f"writes a commit at 64 connections: {statistics.median(groups):.1f} (aim 8)")

    def sign_in(self, profile, count, aim):
        results, signatures = [], []
        for run in range(self.runs):
            data = self.folder / f"{profile}-{run}"
            facts = prepare(self.bin, data, profile)
            requests = self.folder / f"{profile}.requests"
            seal(self.bin, data, profile, count, requests)
            script = self.folder / "finalize.lua"
            # Each thread of the two sends every other line once, and stops the run at the end.
            script.write_text(
                "local counter=0\n"
                "function setup(thread) thread:set('id',counter) counter=counter+1 end\n"
                "function init(args) lines={} local i=0\n"
                f"for line in io.lines('{requests}') do if i%2==id then lines[#lines+1]=line end i=i+1 end\n"
                "wrk.method='POST' wrk.headers['Content-Type']='application/json' n=0 end\n"
                "function request() n=n+1 if n>#lines then wrk.thread:stop() n=#lines end\n"
                "return wrk.format(nil,nil,nil,lines[n]) end\n"
            )
            with Server(self.bin, data, self.assets, profile) as server:
                url = f"{server.url}/v2/accounts/mfaSignIn:finalize?key={facts['apiKey'] or 'any'}"
                result = wrk(url, 16, self.seconds, script=script)
                # wrk divides by the whole time, so a run that ran dry would read too low.
                if result["rate"] * self.seconds > 0.98 * count:
                    raise SystemExit(f"{count} prepared sign-ins were too few for {profile}")
                results.append(result)
                server.stop()
            if profile == "standalone":
                signatures.append(openssl_signatures(1 if self.runs == 1 else 3))
        measured = self.median(results)
        if profile == "standalone":
            self.row(
                "mfaSignIn:finalize, standalone", measured, "openssl rsa2048, all cores", aim,
                statistics.median(signatures),
            )
        else:
            self.row("mfaSignIn:finalize, emulator", measured, "file", aim, self.file_rate)

    def report(self):
        print(f"\n{'what':42} {'per s':>10} {'p99 ms':>8} {'errors':>6} {'ratio':>7} {'aim':>5}  of")
        for row in self.rows:
            p99 = f"{row['p99_ms']:.2f}" if row["p99_ms"] else ""
            ratio = f"{row['ratio']:.3f}" if row["ratio"] else ""
            aim = row["aim"] if row["aim"] else ""
            print(
                f"{row['what']:42} {row['rate']:10.1f} {p99:>8} {row['errors']:6} {ratio:>7} "
                f"{aim:>5}  {row['yardstick']}"
            )
        for note in self.notes:
            print(note)
        results = ROOT / "bench-results"
        results.mkdir(exist_ok=True)
        file = results / "bench.json"
        file.write_text(json.dumps({"rows": self.rows, "notes": self.notes}, indent=2))
        print(f"JSON in {file.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["pages", "config", "emulator", "standalone"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="countersign-bench-") as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        wanted = arguments.only
        if wanted in (None, "pages", "emulator"):
            bench.files_and_pages()
        if wanted in (None, "config"):
            bench.config()
        if wanted in (None, "emulator"):
            bench.sign_in("emulator", 40_000 if arguments.quick else 120_000, 0.10)
        if wanted in (None, "standalone"):
            bench.sign_in("standalone", 12_000 if arguments.quick else 40_000, 0.4)
        bench.report()


if __name__ == "__main__":
    main()
