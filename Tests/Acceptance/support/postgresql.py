"""A PostgreSQL server in a temporary folder, with a database for each data folder."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from .waiting import until

PROGRAMS = Path("/usr/lib/postgresql/15/bin")


def is_running(process):
    """Returns whether a process exists and hasn't ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


class PostgreSQL:
    """A server that listens on a Unix socket in its own folder, and on loopback if it has a port."""

    def __init__(self, *settings, port=None):
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self.data = self.folder / "data"
        self.settings = settings
        self.port = port
        self.process = self.holder = None
        # PostgreSQL refuses to run as root.
        self.prefix = []
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            shutil.chown(self.folder, "postgres", "postgres")
            self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        atexit.register(self.remove)

    def mount(self, size):
        """Puts its data on a file system of this size that only its processes see; returns whether
        that's allowed."""
        if os.geteuid() != 0:
            return False
        self.data.mkdir()
        script = f'mount -t tmpfs -o size={size},mode=700,uid=postgres tmpfs "$1" && exec sleep 600'
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", script, "sh", self.data])
        self.enter = ["nsenter", "--mount", f"--target={self.holder.pid}"]
        until(lambda: str(self.data) in Path(f"/proc/{self.holder.pid}/mounts").read_text(),
              "the file system is mounted")
        self.prefix = [*self.enter, *self.prefix]
        return True

    def fill(self, left):
        """Fills its file system, except for a number of bytes, unless others write meanwhile."""
        subprocess.run([*self.enter, "sh", "-c",
                        'free=$(df -B1 --output=avail "$1" | tail -n 1); '
                        'head -c $((free - $2)) /dev/zero >"$1/ballast"',
                        "sh", self.data, str(left)], stderr=subprocess.DEVNULL)

    def empty(self):
        """Removes what filled its file system."""
        subprocess.run([*self.enter, "rm", self.data / "ballast"], check=True)

    def initialize(self):
        """Creates an empty cluster and starts the server."""
        self.run("initdb", "-D", self.data, "-U", "countersign", "-A", "trust", "--locale=C",
                 "--lc-ctype=C.UTF-8", "--encoding=UTF8", "-N")
        return self.start()

    def run(self, program, *words):
        """Runs a program of PostgreSQL as the server's user."""
        done = subprocess.run([*self.prefix, PROGRAMS / program, *words], cwd=self.folder,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    def copy(self, source, *words):
        """Fills its empty folder with a base backup of another server."""
        self.run("pg_basebackup", "-D", self.data, "-h", source.folder, "-p", str(source.port or 5432),
                 "-U", "countersign", "--checkpoint=fast", *words)

    def start(self):
        """Starts the server and waits until it answers."""
        # After a crash it flushes its data, file by file unless told otherwise, before it answers.
        words = ["-k", self.folder, "-c", f"listen_addresses={'127.0.0.1' if self.port else ''}",
                 "-p", str(self.port or 5432), "-c", "recovery_init_sync_method=syncfs"]
        for setting in self.settings:
            words += ["-c", setting]
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, PROGRAMS / "postgres", "-D", self.data, *words], cwd=self.folder,
                stdout=log, stderr=log)
        until(lambda: subprocess.run(
            [PROGRAMS / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port or 5432)]
        ).returncode == 0, "PostgreSQL answers", 180)
        return self

    def stop(self, signal=signal.SIGINT):
        """Stops the server, by default without waiting for its clients."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal)
            self.process.wait(60)

    @property
    def processes(self):
        """The process IDs of the server and its children."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def signal(self, number):
        """Sends a signal to all of its processes, such as SIGKILL or SIGSTOP."""
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self):
        """Kills all of its processes at once, as when the machine fails."""
        # The others would end by themselves, but a process that it starts now might be missed.
        os.kill(self.process.pid, signal.SIGSTOP)
        processes = self.processes
        self.signal(signal.SIGKILL)
        self.process.wait(60)
        # The server doesn't start while one of them still has the shared memory.
        until(lambda: not any(map(is_running, processes)), "all processes have ended")

    def remove(self):
        self.stop(signal.SIGQUIT)
        if self.holder:
            self.holder.kill()
            self.holder.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def create(self, name):
        """Creates an empty database, and returns its address."""
        self.execute(f"CREATE DATABASE {name}", "postgres")
        return self.address(name)

    def address(self, name):
        """Returns the address of a database through the Unix socket."""
        return f"postgresql://countersign@:{self.port or 5432}/{name}?host={self.folder}"

    def execute(self, sql, name):
        """Runs SQL in a database, and returns the rows as text, in columns."""
        return execute(self.address(name), sql)


def execute(address, sql):
    """Runs SQL in a database, and returns the rows as text, in columns."""
    done = subprocess.run(
        [PROGRAMS / "psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql, address],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def with_values(sql, values):
    """Returns the SQL with a literal for each `?`."""
    parts = sql.split("?")
    assert len(parts) == len(values) + 1, sql
    return parts[0] + "".join(literal(value) + part for value, part in zip(values, parts[1:]))


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    return str(value) if isinstance(value, int) else "'{}'".format(value.replace("'", "''"))


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
            self.server = self.server or PostgreSQL().initialize()
            self.addresses[folder] = self.server.create(self._unused_name())
        return self.addresses[folder]

    def _unused_name(self):
        return f"instance_{len(self.addresses) + 1}"

    def put(self, data, address):
        """Gives a data folder a database that a test made."""
        self.addresses[Path(data).resolve()] = address

    def address(self, data):
        """Returns the address of a folder's database; None if it's a file in the folder."""
        return self.add(data) if self.has_all else self.addresses.get(Path(data).resolve())

    def execute(self, data, sql):
        """Runs SQL in the database of a folder."""
        return execute(self.add(data), sql)

    def has_instance(self, data):
        return self.execute(data, "SELECT to_regclass('instance') IS NOT NULL") == [["t"]]

    def query(self, data, sql):
        """Returns the rows of a query as tuples of text, numbers, and None."""
        return [
            json.loads(row, object_pairs_hook=lambda columns: tuple(value for _, value in columns))
            for row, in self.execute(data, f"SELECT row_to_json(t) FROM ({sql}) AS t")]

    def copy(self, data, to):
        """Gives a folder a copy of another's database, which nobody may use meanwhile."""
        name = self._unused_name()
        source = self.address(data).partition("?")[0].rpartition("/")[2]
        self.server.execute(f"CREATE DATABASE {name} TEMPLATE {source}", "postgres")
        self.put(to, self.server.address(name))

    def dump(self, data, file):
        """Writes a folder's database to a file."""
        subprocess.run([PROGRAMS / "pg_dump", "-Fc", "-Z1", "-f", file, self.address(data)], check=True)

    def restore(self, data, file):
        """Gives a folder a database with the contents of such a file."""
        subprocess.run([PROGRAMS / "pg_restore", "-1", "-d", self.add(data), file], check=True)
