"""Runs one instance for a long time under mixed load while things go wrong.

Clients of the REST API and of the console work all the time, with slow clients next to them. Meanwhile
the server is killed, its disk fills up, its clock jumps, its master key is rotated, its log is moved
away, and its certificate is renewed. In the end, no acknowledged write is lost, no code was accepted
twice, no secret is in a log, the database, or the metrics, and memory and open files didn't grow.

`script/soak` runs it; see there.
"""

import argparse
import base64
import itertools
import json
import os
import random
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from .certificates import make_certificate, served
from .pages import Pages
from .program import Server, free_port, preloaded, private_mounts, run
from .rest import Api, create_token
from .soak_load import CodeUser, Console, Signing, SlowClient, Writer
from .waiting import until

PROJECT = "soaked"
AHEAD = 400 * 86_400
# The size of the data folder's disk; a full one takes as much memory.
DISK = {"short": 160, "long": 768}


class Soak:
    """The instance, its clients, and what they were promised."""

    def __init__(self, folder, seconds, kill_every, on_disk):
        self.folder, self.seconds, self.kill_every = folder, seconds, kill_every
        self.data, self.on_disk = folder / "data", on_disk
        self.log = folder / "access.log"
        self.port = free_port()
        self.clock_file = folder / "clock"
        self.clock = {**preloaded(folder, "clock"), "CLOCK_FILE": str(self.clock_file)}
        self.set_clock(0)
        self.is_troubled = False
        self.output, self.findings, self.secrets = [], [], {}
        self.kills, self.done = 0, []
        self.server = None

    # The server.

    def set_clock(self, ahead):
        """Sets how many seconds the server's clock is ahead, also while it runs."""
        self.ahead = ahead
        # Not truncated: the server has it in memory.
        with open(self.clock_file, "r+b" if self.clock_file.exists() else "wb") as file:
            file.write(struct.pack("=q", ahead))

    def start(self, ahead=0):
        self.set_clock(ahead)
        self.server = Server(
            self.data, "--access-log", str(self.log), "--tls-certificate",
            str(self.folder / "certificate.pem"), "--tls-key", str(self.folder / "key.pem"),
            "--metrics-listen", "127.0.0.1:0", listen=f"127.0.0.1:{self.port}", env=self.clock)
        return self.server

    def end(self, kill=True):
        code = self.server.kill() if kill else self.server.stop()
        self.output += self.server.output
        self.kills += kill
        if not kill and code != 0:
            self.find(f"the server stopped with {code}")

    def find(self, what):
        """Records something that must not happen."""
        print(f"FAILED: {what}", flush=True)
        self.findings.append(what)

    def say(self, what):
        print(f"{time.monotonic() - self.began:6.0f} s  {what}", flush=True)

    def now(self):
        """The server's time."""
        return time.time() + self.ahead

    # What goes wrong.

    def fill_disk(self):
        ballast = self.data / "ballast"
        self.is_troubled = True
        try:
            with open(ballast, "wb", buffering=0) as file:
                try:
                    while file.write(b"\0" * 65_536):
                        pass
                except OSError:
                    pass
            refused = until(lambda: self.writers[0].refusals, "a write is refused", 60)
            self.say(f"the disk is full: {refused} writes refused")
        finally:
            ballast.unlink()
        before = len(self.writers[0].acknowledged)
        until(lambda: len(self.writers[0].acknowledged) > before, "writes work again", 60)
        self.is_troubled = False

    def jump(self):
        """Restarts the server with a clock that is 400 days ahead, and then with the right one."""
        for ahead in (AHEAD, 0):
            self.is_troubled = True
            self.end()
            self.start(ahead)
            if ahead:
                self.server.wait_for_line(r"(The system clock shows)")
            self.work(self.pause)
        self.is_troubled = False

    def jump_live(self):
        """Sets the clock of the running server 400 days ahead, and then right again."""
        self.is_troubled = True
        for ahead, line in ((AHEAD, "The system clock shows"), (0, "The clock is trusted again")):
            self.set_clock(ahead)
            self.server.wait_for_line(f"({line})")
            self.work(self.pause)
        self.is_troubled = False

    def note_master_key(self):
        for line in (self.data / "master.key").read_text().splitlines():
            # A comment, or the format, the ID, and the key.
            key = line.split()[-1]
            if not line.startswith("#") and key not in self.secrets.values():
                self.secrets[f"master key {len(self.secrets)}"] = key

    def rotate_master_key(self):
        self.note_master_key()
        done = run("keys", "rotate-master", "--data", self.data, timeout=300)
        if done.returncode != 0:
            self.find(f"the master key wasn't rotated: {done.stderr}")
        self.note_master_key()

    def rotate_log(self):
        moved = self.folder / f"access.log.{len(list(self.folder.glob('access.log*')))}"
        self.log.rename(moved)
        self.server.process.send_signal(signal.SIGHUP)
        until(self.log.exists, "the log is opened again", 60)

    def renew_certificate(self):
        renewed = make_certificate(self.folder, 1_000)
        self.server.process.send_signal(signal.SIGHUP)
        until(lambda: served(self.server) == renewed, "the new certificate is served", 60)

    def kill(self):
        self.is_troubled = True
        self.end()
        self.start()
        self.check_codes()
        self.check_writes(sample=200)
        self.is_troubled = False

    # The course of a run.

    def run(self):
        self.began = time.monotonic()
        self.pause = max(3, self.kill_every / 4)
        make_certificate(self.folder, 1_000)
        self.start()
        self.prepare()
        events = [self.rotate_log, self.renew_certificate, self.rotate_master_key, self.jump,
                  self.jump_live]
        if self.on_disk:
            events.append(self.fill_disk)
        random.Random(1).shuffle(events)
        for client in self.clients:
            client.start()
        # The last third is without kills, so that growth would show.
        end = self.began + self.seconds * 2 / 3
        for event in itertools.cycle(events):
            if time.monotonic() > end and len(self.done) >= len(events):
                break
            self.say(event.__name__.replace("_", " "))
            event()
            self.done.append(event.__name__)
            self.work(self.pause)
            self.say("kill")
            self.kill()
            self.work(self.pause)
        self.measure(self.began + self.seconds)
        self.finish()
        return self.findings

    def prepare(self):
        """Sets up the instance over the server that's about to be used."""
        url, code = self.server.url, self.server.setup_code
        pages = Pages(url, verify=False).set_up(code)
        pages.create_project(PROJECT)
        token = create_token(self.data, PROJECT, "owner")
        api = Api(url, PROJECT, pages.api_key(PROJECT), token)
        api.http = new_client(url)
        api.switch_totp_on(10)
        self.api = api
        self.secrets["service token"] = token
        self.secrets["owner's password"] = "correct horse battery"
        self.note_master_key()
        users = [CodeUser(self, number) for number in range(8)]
        self.writers = [Writer(self, name) for name in "ab"]
        self.signing = [Signing(self, users[:4]), Signing(self, users[4:])]
        self.console = Console(self)
        self.clients = [*self.writers, *self.signing, self.console,
                        *(SlowClient(self, number) for number in range(6))]
        self.url = url

    def work(self, seconds):
        """Lets the clients work."""
        time.sleep(seconds)
        if self.server.process.poll() is not None:
            self.find(f"the server ended by itself with {self.server.process.returncode}")
            self.start()

    # Checks.

    def check_codes(self):
        """Sends accepted codes again: none is accepted, whatever happened since."""
        for signing in self.signing:
            signing.replay()

    def check_writes(self, sample=None):
        """Looks for acknowledged users and projects."""
        ids = [uid for writer in self.writers for uid in writer.acknowledged]
        if sample and len(ids) > sample:
            # The newest are those that a kill could lose.
            ids = [uid for writer in self.writers for uid in writer.acknowledged[-sample // 2:]]
        for start in range(0, len(ids), 50):
            part = ids[start:start + 50]
            answer = self.api.admin("POST", "accounts:lookup", {"localId": part})
            found = {user["localId"] for user in answer.json().get("users", [])}
            if lost := set(part) - found:
                self.find(f"{len(lost)} acknowledged users are lost, such as {min(lost)}")
        self.console.check(newest=20 if sample else None)

    def measure(self, end):
        """Runs without faults, and compares memory and open files early and late."""
        samples = []
        self.work(self.pause)
        while time.monotonic() < end or len(samples) < 8:
            samples.append(usage(self.server))
            self.work(1)
        third = len(samples) // 3
        # A password hash takes 19 MiB while it runs, one for each core.
        hashes = 19 * 1024 * os.cpu_count()
        for name, slack in (("memory", 24 * 1024 + hashes), ("files", 24)):
            early = max(sample[name] for sample in samples[:third])
            late = max(sample[name] for sample in samples[-third:])
            self.say(f"{name}: at most {early} early, {late} late")
            if late > early * 1.25 + slack:
                self.find(f"{name} grew from {early} to {late}")

    def finish(self):
        for client in self.clients:
            client.stop()
        self.check_codes()
        self.check_writes()
        metrics = httpx.get(self.server.wait_for_line(r"Metrics: (\S+)")).content
        self.check_secrets("metrics", metrics)
        self.check_files()
        self.end(kill=False)
        self.check_files()
        done = run("audit", "verify", "--data", self.data, timeout=300)
        if done.returncode != 0:
            self.find(f"the audit log doesn't verify: {done.stdout}{done.stderr}")
        database = sqlite3.connect(self.data / "countersign.sqlite")
        rows = database.execute("SELECT integrity_check FROM pragma_integrity_check").fetchall()
        database.close()
        if rows != [("ok",)]:
            self.find(f"the database is damaged: {rows[:3]}")
        self.check_logs()
        accepted = sum(len(signing.accepted) for signing in self.signing)
        self.say(
            f"{sum(len(writer.acknowledged) for writer in self.writers)} users, "
            f"{len(self.console.acknowledged)} projects, {accepted} codes, {self.kills} kills, "
            f"{len(self.done)} faults, {sum(client.failures for client in self.clients)} "
            "interrupted calls")

    def check_logs(self):
        """Looks for secrets in everything that was logged, and for broken lines."""
        logs = [path.read_text() for path in sorted(self.folder.glob("access.log*"))]
        for text in logs:
            # A kill can cut the last line of a log.
            broken = [line for line in text.splitlines() if not is_json(line)]
            if len(broken) > self.kills:
                self.find(f"{len(broken)} lines of a log aren't JSON, such as {broken[0][:80]!r}")
        text = "\n".join(self.output + logs)
        self.check_secrets("a log", text.encode())

    def check_files(self):
        """Looks for secrets in the files of the database."""
        for path in sorted(self.data.glob("countersign.sqlite*")):
            self.check_secrets(path.name, path.read_bytes())

    def check_secrets(self, place, text):
        for name, secret in self.secrets.items():
            forms = [secret.encode()]
            if name.startswith("TOTP"):
                forms.append(base64.b32decode(secret + "=" * (-len(secret) % 8)))
            if any(form in text for form in forms):
                self.find(f"{place}: there's the {name}")


def is_json(line):
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def new_client(url):
    return httpx.Client(base_url=url, timeout=30, verify=False)


def usage(server):
    """Returns a server's memory in KiB, without what it shares, and its open files."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    metrics = httpx.get(server.wait_for_line(r"Metrics: (\S+)")).text
    return {"memory": int(re.search(r"RssAnon:\s+(\d+)", status)[1]),
            "files": int(re.search(r"^process_open_fds (\d+)", metrics, re.M)[1])}


def main(words):
    parser = argparse.ArgumentParser(prog="script/soak", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30, help="how long (default: 30)")
    parser.add_argument("--mounted", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    own = private_mounts()
    if own and not options.mounted:
        # The disk that fills up is visible to this run only, and gone after it.
        again = [sys.executable, "-m", "support.soak", "--minutes", str(options.minutes)]
        return subprocess.run([*own, *again, "--mounted", "yes"]).returncode
    if not own:
        print("mounting isn't allowed on this system: without a full disk")
    kind = "long" if options.minutes >= 10 else "short"
    with tempfile.TemporaryDirectory(prefix="soak") as name:
        folder = Path(name)
        (folder / "data").mkdir(mode=0o700)
        if own:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK[kind]}m,mode=700", "soak",
                            str(folder / "data")], check=True)
        seconds = options.minutes * 60
        soak = Soak(folder, seconds, min(120, seconds / 12), on_disk=bool(own))
        try:
            findings = soak.run()
        finally:
            for client in getattr(soak, "clients", []):
                client.stop()
            if soak.server:
                soak.server.kill()
            if own:
                subprocess.run(["umount", "--lazy", str(folder / "data")])
        print(f"{len(findings)} failed" if findings else "passed")
        return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
