"""Runs the built program as a person would."""

import atexit
import contextlib
import functools
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from .ports import free_port  # noqa: F401, for tests
from .postgresql import Databases, with_values
from .waiting import until

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("COUNTERSIGN_PROGRAM", ROOT / ".build/debug/countersign"))


# With the environment variable, each data folder has its database on a PostgreSQL server.
DATABASES = Databases(os.environ.get("COUNTERSIGN_TEST_DATABASE") == "postgresql")


def environment(more=None, words=()):
    """Returns the environment without variables that would configure the program, which logs text
    for these tests to read, and with the database of the data folder in the words of a command."""
    kept = {name: value for name, value in os.environ.items() if "COUNTERSIGN" not in name}
    words = [str(word) for word in words]
    if "--data" in words[:-1] and "--database" not in words:
        if address := DATABASES.address(words[words.index("--data") + 1]):
            kept["COUNTERSIGN_DATABASE"] = address
    return {**kept, "COUNTERSIGN_LOG_FORMAT": "text", **(more or {})}


def run(*words, input=None, env=None, cwd=None, prefix=(), timeout=60):
    """Runs a command to completion; the result has returncode, stdout, and stderr."""
    result = subprocess.run(
        [*prefix, str(PROGRAM), *map(str, words)], input=input, env=environment(env, words), cwd=cwd,
        capture_output=True, text=True, timeout=timeout)
    expect_no_crash(result.returncode, result.stderr)
    return result


CRASHES = [signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP]


def expect_no_crash(code, output):
    """Fails with words after which script/test repeats nothing."""
    assert -code not in CRASHES, f"the program crashed (signal {-code}):\n{output[-4000:]}"


def preloaded(folder, name):
    """Compiles a C file in this folder into a library to preload, and returns the environment
    for it."""
    library = Path(folder) / f"{name}.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-o", library,
                    Path(__file__).parent / f"{name}.c"], check=True)
    return {"LD_PRELOAD": str(library)}


def execute(data, sql, *values):
    """Changes an instance's database without the program; each `?` stands for a value."""
    if DATABASES.address(data):
        DATABASES.execute(data, with_values(sql, values))
        return
    execute_file(data, sql, *values)


def execute_file(data, sql, *values):
    """Changes the database file of a data folder, also of one that has a database on a server as well."""
    with opened(data, "rw") as database, database:
        database.execute(sql, values)


def query(data, sql, *values):
    """Returns rows of an instance's database as tuples; bytes are in hexadecimal digits after `\\x`."""
    if DATABASES.address(data):
        return DATABASES.query(data, with_values(sql, values))
    with opened(data, "ro") as database:
        return [tuple("\\x" + value.hex() if isinstance(value, bytes) else value for value in row)
                for row in database.execute(sql, values)]


def opened(data, mode):
    """Opens SQLite's file until the end of a `with` statement."""
    path = Path(data) / "countersign.sqlite"
    return contextlib.closing(sqlite3.connect(f"file:{path}?mode={mode}", uri=True, timeout=30))


def copy_instance(data, to):
    """Copies a data folder without a running server, and its database."""
    shutil.copytree(data, to)
    if DATABASES.address(data):
        DATABASES.copy(data, to)


def reset_sign_ins(data):
    """Resets sign-in counts, so that owners and support can sign in without a second factor however
    often they do; tests of the factor set one up."""
    # Skips a folder that only the server can see.
    if DATABASES.address(data) or (Path(data) / "countersign.sqlite").exists():
        execute(data, "UPDATE administrator SET sign_ins = -1000000 WHERE sign_ins >= 0")


# The age, in seconds, at which an administrator's own code is too old.
LONG_AGO = 16 * 60


def reauthenticate(data, ago=0):
    """Marks every session as re-authenticated `ago` seconds ago; right after re-authentication,
    support actions require no code."""
    execute(data, f"UPDATE console_session SET proved_at = {int((time.time() - ago) * 1e6)}")


def forget_own_codes(data):
    """Lets administrators enter codes again that they have already used; each is single use."""
    execute(data, "UPDATE administrator SET totp_last_step = NULL")


def forget_wrong_codes(data):
    """Resets the wrong codes of all enrollment links, so that each visit can enter one."""
    execute(data, "UPDATE user_link SET failures = 0")


def initialize(data, env=None):
    """Runs `countersign init`."""
    created = run("init", "--data", data, env=env)
    assert created.returncode == 0, created.stderr


def temporary_folder(prefix):
    """Creates a folder that exists as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def new_instance():
    """Creates a data folder once, to be copied: instances of tests have the same keys, which takes
    a fraction of the time."""
    folder = temporary_folder("instance-")
    initialize(folder / "data")
    return folder / "data"


def create_instance(data, prefix=(), env=None):
    """Creates an instance in an empty data folder; returns the server's command prefix."""
    files = ("master.key", "countersign.sqlite", "init.ready")
    if any((data / name).exists() for name in files):
        return prefix
    if DATABASES.address(data) and DATABASES.has_instance(data):
        return prefix
    if not prefix:
        if env or DATABASES.address(data):
            initialize(data, env)
        else:
            shutil.copytree(new_instance(), data, dirs_exist_ok=True)
        return prefix
    # Only the server can see this folder.
    script = 'test -e "$2/countersign.sqlite" || "$1" init --data "$2" && shift 2 && exec "$@"'
    return [*prefix, "sh", "-c", script, "sh", str(PROGRAM), str(data)]


class Server:
    """`countersign serve` on a free port of loopback."""

    folders = {}

    def __init__(self, data, *flags, profile=None, listen="127.0.0.1:0", prefix=(), env=None):
        self.data = Path(data)
        self.output = []
        if profile != "emulator" and "--demo" not in flags:
            prefix = create_instance(self.data, prefix, env)
        words = [*prefix, str(PROGRAM), "serve", "--listen", listen, "--data", str(data),
                 "--assets", str(ROOT), *flags]
        if profile:
            words += ["--profile", profile]
        self.process = subprocess.Popen(
            words, env=environment(env, words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.url = self.wait_for_line(r' serves ([^\s"]+)')
            Server.folders[self.url] = self.data
        except AssertionError:
            self.kill()
            raise

    def _read(self):
        for line in self.process.stdout:
            self.output.append(line.rstrip("\n"))

    def wait_for_line(self, pattern, seconds=180):
        """Waits for an output line that matches, and returns its first group."""
        def look():
            for line in list(self.output):
                if found := re.search(pattern, line):
                    return found
            assert self.process.poll() is None or self._reader.is_alive(), (
                f"it exited with {self.process.returncode} without printing {pattern!r}:\n"
                + "\n".join(self.output))
            return None
        return until(look, f"the server prints {pattern!r}", seconds).group(1)

    @property
    def text(self):
        return "\n".join(self.output)

    @property
    def address(self):
        """Returns host and port, for a socket."""
        host, port = self.url.split("//")[1].split(":")
        return host, int(port)

    @property
    def setup_code(self):
        return self.wait_for_line(r'code: ([^\s"]+)')

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=30):
        code = self.process.wait(seconds)
        self._reader.join(seconds)
        expect_no_crash(code, self.text)
        return code

    def stop(self):
        """Stops the server as a service manager would, and returns its exit code."""
        if self.process.poll() is None:
            self.terminate()
        return self.wait()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def private_mounts():
    """Returns the prefix that gives a command its own mounts, or None if that isn't allowed."""
    if not shutil.which("unshare"):
        return None
    own = ["unshare", "--mount"] if os.geteuid() == 0 else [
        "unshare", "--user", "--map-root-user", "--mount"]
    trial = subprocess.run([*own, "true"], capture_output=True)
    return own if trial.returncode == 0 else None


def in_mounts_of(server):
    """Returns the prefix that lets a command see a server's own mounts."""
    own = ["nsenter", "--mount", "--target", str(server.process.pid)]
    return own if os.geteuid() == 0 else [*own, "--user", "--preserve-credentials"]


def read_only(folder):
    """Makes a folder read-only; returns the prefix for the command."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        return []
    own = private_mounts()
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    return own and [*own, "sh", "-c", script, "sh", str(folder)]


def on_small_disk(folder, options):
    """Returns the prefix that mounts an in-memory file system, visible to one command only."""
    own = private_mounts()
    if own is None:
        return None
    script = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'
    trial = subprocess.run([*own, "sh", "-c", script, "sh", options, str(folder), "true"],
                           capture_output=True)
    return [*own, "sh", "-c", script, "sh", options, str(folder)] if trial.returncode == 0 else None
