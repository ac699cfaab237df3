"""Sign-ins and a page with the database on a PostgreSQL server on the same cores, against the file."""

import os
import pathlib
import shutil
import signal
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
             "trust", "--locale=C", "--encoding=UTF8"], check=True, stdout=subprocess.DEVNULL)
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)


def measure(bench, count):
    """Adds rows whose ratio is to the same with the file, in turns."""
    rates = {"file": ([], []), "postgresql": ([], [])}
    with Cluster(bench.folder) as cluster:
        for run in range(bench.runs):
            for engine in bench.by_turns(rates, run):
                move = cluster.move if engine == "postgresql" else None
                sign_ins, pages = rates[engine]
                sign_ins.append(
                    bench.finalize(bench.own, "standalone", count, f"{engine}-{run}", move))
                pages.append(tenants(bench, f"{engine}-pages-{run}", move))
    for position, name, target in ((0, "mfaSignIn:finalize", 0.4), (1, "tenants page", 0.5)):
        base = bench.row(f"{name}, file", rates["file"][position], "", None)
        bench.row(f"{name}, PostgreSQL", rates["postgresql"][position], "file", target, base)


def tenants(bench, name, move):
    data, facts = bench.own.data(name)
    flags = ["--database", move(bench.own, data)] if move else []
    with Server(bench.own.bin, data, bench.own.assets, flags=flags) as server:
        cookie = {"Cookie": f"{server.cookie_name}={facts['cookie']}"}
        page = f"{server.url}/projects/bench-project/tenants"
        wrk(page, 4, 1, headers=cookie)
        return wrk(page, 16, bench.seconds, headers=cookie)
