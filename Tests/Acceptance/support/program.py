"""The built program, run as a person would run it."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from .waiting import until

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("COUNTERSIGN_PROGRAM", ROOT / ".build/debug/countersign"))


def environment(more=None):
    """The tests' own environment without what would configure the program behind their back."""
    kept = {name: value for name, value in os.environ.items() if "COUNTERSIGN" not in name}
    return {**kept, **(more or {})}


def run(*words, input=None, env=None, cwd=None, prefix=(), timeout=60):
    """Runs a command to its end; the answer has returncode, stdout and stderr."""
    return subprocess.run(
        [*prefix, str(PROGRAM), *map(str, words)], input=input, env=environment(env), cwd=cwd,
        capture_output=True, text=True, timeout=timeout)


def preloaded(folder, name):
    """Compiles a file of C beside this one, which a program then uses before the system's functions;
    the environment for it."""
    library = Path(folder) / f"{name}.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-o", library,
                    Path(__file__).parent / f"{name}.c"], check=True)
    return {"LD_PRELOAD": str(library)}


def free_port():
    """A port that nobody listens on, for when the server cannot say which one it took."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def forget_sign_ins(data):
    """Lets owners and support of a data folder go without a second factor, however often they sign
    in; tests of the factor set one up."""
    path = Path(data) / "countersign.sqlite"
    # A folder that only the server itself can see stays as it is.
    if path.exists():
        database = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=30)
        with database:
            database.execute("UPDATE administrator SET sign_ins = -1000000 WHERE sign_ins >= 0")
        database.close()


# After so many seconds a code of an agent's own does not count any more.
LONG_AGO = 16 * 60


def prove(data, ago=0):
    """As if everybody signed in had given a code of their own so long ago; just now, support asks
    for none."""
    database = sqlite3.connect(f"file:{Path(data) / 'countersign.sqlite'}?mode=rw", uri=True, timeout=30)
    with database:
        proved = int((time.time() - ago) * 1e6)
        database.execute("UPDATE console_session SET proved_at = ?", (proved,))
    database.close()


def creating(data, prefix=(), env=None):
    """Creates an instance in a data folder that has none; the words that go before the server's."""
    if (data / "master.key").exists() or (data / "countersign.sqlite").exists():
        return prefix
    if not prefix:
        made = run("init", "--data", data, env=env)
        assert made.returncode == 0, made.stderr
        return prefix
    # A folder that only the server itself can see.
    script = 'test -e "$2/countersign.sqlite" || "$1" init --data "$2" && shift 2 && exec "$@"'
    return [*prefix, "sh", "-c", script, "sh", str(PROGRAM), str(data)]


class Server:
    """`countersign serve` on a free port of loopback."""

    folders = {}

    def __init__(self, data, *flags, profile=None, listen="127.0.0.1:0", prefix=(), env=None):
        self.data = Path(data)
        self.output = []
        if profile != "emulator" and "--demo" not in flags:
            prefix = creating(self.data, prefix, env)
        words = [*prefix, str(PROGRAM), "serve", "--listen", listen, "--data", str(data),
                 "--assets", str(ROOT), *flags]
        if profile:
            words += ["--profile", profile]
        self.process = subprocess.Popen(
            words, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.url = self.said(r" serves (\S+)")
            Server.folders[self.url] = self.data
        except AssertionError:
            self.kill()
            raise

    def _read(self):
        for line in self.process.stdout:
            self.output.append(line.rstrip("\n"))

    def said(self, pattern, seconds=60):
        """Waits for a line that has the pattern, and returns its first group."""
        def look():
            for line in list(self.output):
                if found := re.search(pattern, line):
                    return found
            assert self.process.poll() is None or self._reader.is_alive(), (
                f"it ended with {self.process.returncode} and never said {pattern!r}:\n"
                + "\n".join(self.output))
            return None
        return until(look, f"the server says {pattern!r}", seconds).group(1)

    @property
    def text(self):
        return "\n".join(self.output)

    @property
    def address(self):
        """Host and port, for a socket."""
        host, port = self.url.split("//")[1].split(":")
        return host, int(port)

    @property
    def setup_code(self):
        return self.said(r"code: (\S+)")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=30):
        code = self.process.wait(seconds)
        self._reader.join(seconds)
        return code

    def stop(self):
        """Stops it as a service manager would, and returns its exit code."""
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


def mounting():
    """The words that give a command mounts of its own, or None where that is not allowed."""
    if not shutil.which("unshare"):
        return None
    own = ["unshare", "--mount"] if os.geteuid() == 0 else [
        "unshare", "--user", "--map-root-user", "--mount"]
    trial = subprocess.run([*own, "true"], capture_output=True)
    return own if trial.returncode == 0 else None


def beside(server):
    """The words that let a command see the mounts that a server has for itself."""
    own = ["nsenter", "--mount", "--target", str(server.process.pid)]
    return own if os.geteuid() == 0 else [*own, "--user", "--preserve-credentials"]


def read_only(folder):
    """Takes the right to write in a folder away; what it returns goes before the command."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        return []
    own = mounting()
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    return own and [*own, "sh", "-c", script, "sh", str(folder)]


def on_small_disk(folder, options):
    """The words that put a file system in memory on a folder, seen by one command alone."""
    own = mounting()
    if own is None:
        return None
    script = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'
    trial = subprocess.run([*own, "sh", "-c", script, "sh", options, str(folder), "true"],
                           capture_output=True)
    return [*own, "sh", "-c", script, "sh", options, str(folder)] if trial.returncode == 0 else None
