"""A PostgreSQL server in a temporary folder, with a database for each data folder."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from .waiting import until

PROGRAMS = Path("/usr/lib/postgresql/15/bin")


class PostgreSQL:
    """A server that listens on a Unix socket in its own folder only."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self.data = self.folder / "data"
        self.process = None
        # PostgreSQL refuses to run as root.
        self.prefix = []
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            shutil.chown(self.folder, "postgres", "postgres")
            self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        subprocess.run(
            [*self.prefix, PROGRAMS / "initdb", "-D", self.data, "-U", "countersign", "-A", "trust",
             "--locale=C", "--encoding=UTF8", "-N"],
            check=True, capture_output=True, cwd=self.folder)
        atexit.register(self.remove)
        self.start()

    def start(self):
        """Starts the server and waits until it answers."""
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, PROGRAMS / "postgres", "-D", self.data, "-k", self.folder,
                 "-c", "listen_addresses="], cwd=self.folder, stdout=log, stderr=log)
        until(lambda: subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder]).returncode == 0,
              "PostgreSQL answers", 60)

    def stop(self, signal=signal.SIGINT):
        """Stops the server, by default without waiting for its clients."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal)
            self.process.wait(60)

    def remove(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def create(self, name):
        """Creates an empty database, and returns its address."""
        self.execute(f"CREATE DATABASE {name}", "postgres")
        return f"postgresql://countersign@/{name}?host={self.folder}"

    def execute(self, sql, name):
        """Runs SQL in a database, and returns the rows as text, with a tab between columns."""
        done = subprocess.run(
            [PROGRAMS / "psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.folder,
             "-U", "countersign", "-d", name, "-c", sql], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]


class Databases:
    """The databases of the data folders that have one on a server, which is started for the first."""

    def __init__(self, has_all=False):
        self.has_all = has_all
        self.server = None
        self.addresses = {}

    def add(self, data):
        """Creates an empty database for a data folder, unless it has one, and returns its address."""
        folder = Path(data).resolve()
        if folder not in self.addresses:
            self.server = self.server or PostgreSQL()
            self.addresses[folder] = self.server.create(f"instance_{len(self.addresses) + 1}")
        return self.addresses[folder]

    def address(self, data):
        """Returns the address of a folder's database; None if it's a file in the folder."""
        return self.add(data) if self.has_all else self.addresses.get(Path(data).resolve())

    def execute(self, data, sql):
        """Runs SQL in the database of a folder."""
        name = self.add(data).split("/")[3].split("?")[0]
        return self.server.execute(sql, name)
