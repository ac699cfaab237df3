"""Sign-ins and a page with the database on a PostgreSQL server on the same cores, against the file."""

import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import time

from server import Server, free_port, wrk

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")


class Cluster:
    """A PostgreSQL server with Debian's settings, so that each commit is on the disk."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "postgresql"
        self.folder.mkdir()
        self.databases = 0
        prefix = []
        # PostgreSQL refuses to run as root.
        if os.geteuid() == 0:
            for above in (self.folder, *self.folder.parents[:1]):
                above.chmod(0o755)
            shutil.chown(self.folder, "postgres", "postgres")
            prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        self.port = free_port()
        subprocess.run(
            [*prefix, PROGRAMS / "initdb", "-D", self.folder / "data", "-U", "countersign", "-A",
             "trust", "--locale=C", "--lc-ctype=C.UTF-8", "--encoding=UTF8"],
            check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [*prefix, PROGRAMS / "postgres", "-D", self.folder / "data", "-k", self.folder,
             "-p", str(self.port), "-c", "listen_addresses="],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.run("pg_isready", "-q").returncode:
            if self.process.poll() is not None:
                raise SystemExit("PostgreSQL did not start")
            time.sleep(0.05)

    def run(self, program, *words):
        return subprocess.run(
            [PROGRAMS / program, "-h", self.folder, "-p", str(self.port), "-U", "countersign",
             *words], stdout=subprocess.DEVNULL)

    def move(self, build, data):
        """Moves the instance in a data folder to a new database, and returns its address."""
        self.databases += 1
        name = f"bench{self.databases}"
        self.run("createdb", name).check_returncode()
        address = f"postgresql://countersign@:{self.port}/{name}?host={self.folder}"
        subprocess.run([build.bin / "countersign", "move", "--from", data, "--to", address],
                       check=True, stdout=subprocess.DEVNULL)
        self.run("psql", "-q", "-d", name, "-c", "ANALYZE").check_returncode()
        return address

    def usage(self):
        """Returns the CPU time in seconds, the bytes of write-ahead log, and the transactions."""
        ticks = 0
        for process in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, fields = process.read_text().rsplit(")", 1)
            except OSError:
                continue
            fields = fields.split()
            if self.process.pid in (int(name.split()[0]), int(fields[1])):
                ticks += int(fields[11]) + int(fields[12])
        query = ("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, sum(xact_commit)"
                 " FROM pg_stat_database")
        output = subprocess.run(
            [PROGRAMS / "psql", "-h", self.folder, "-p", str(self.port), "-U", "countersign", "-d",
             "postgres", "-At", "-c", query], check=True, stdout=subprocess.PIPE, text=True).stdout
        log, transactions = output.split("|")
        return {"database": ticks / os.sysconf("SC_CLK_TCK"), "log": int(log),
                "transactions": int(transactions)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)


def measure(bench, count):
    """Adds rows for the file, also of the earlier build, and rows whose ratio is to these, in turns."""
    files = {build.name: ([], []) for build in bench.builds}
    server = ([], [])
    with Cluster(bench.folder) as cluster:
        turns = [(build, "file", None, dict, files[build.name]) for build in bench.builds]
        turns.append((bench.own, "postgresql", cluster.move, cluster.usage, server))
        for run in range(bench.runs):
            for build, engine, move, usage, (sign_ins, pages) in bench.by_turns(turns, run):
                sign_ins.append(
                    bench.finalize(build, "standalone", count, f"{engine}-{run}", move, usage))
                pages.append(tenants(bench, build, f"{engine}-pages-{run}", move))
    used = {name: statistics.median(run["used"][name] for run in server[0])
            for name in server[0][0]["used"]}
    alone = statistics.median(run["used"]["server"] for run in files[bench.own.name][0])
    bench.notes.append(
        f"a sign-in with a code: {alone * 1e6:.0f} µs of the server with the file; with PostgreSQL"
        f" {used['server'] * 1e6:.0f} µs of the server, {used['database'] * 1e6:.0f} µs of the"
        f" database, {used['log']:.0f} bytes of its log, {used['transactions']:.1f} transactions")
    for position, name, target in ((0, "mfaSignIn:finalize", 0.4), (1, "tenants page", 0.5)):
        by_build = {build: rates[position] for build, rates in files.items()}
        base = bench.row(f"{name}, file", by_build, "", None, kept=0.97)
        bench.row(f"{name}, PostgreSQL", server[position], "file", target, base)


def tenants(bench, build, name, move):
    data, facts = build.data(name)
    flags = ["--database", move(build, data)] if move else []
    with Server(build.bin, data, build.assets, flags=flags) as server:
        cookie = {"Cookie": f"{server.cookie_name}={facts['cookie']}"}
        page = f"{server.url}/projects/bench-project/tenants"
        wrk(page, 4, 1, headers=cookie)
        return wrk(page, 16, bench.seconds, headers=cookie)
