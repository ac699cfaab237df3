"""The audit file, and Debian's rsyslog, which reads it as docs/audit-file.md says."""

import json
import re
import signal
import subprocess
import threading
from pathlib import Path

from .program import ROOT, free_port
from .waiting import until


class AuditFile:
    """The file of `--audit-file`."""

    def __init__(self, path):
        self.path = Path(path)
        self.position = Path(f"{path}.position")

    def events(self):
        return list(parsed(self.path.read_text().splitlines())) if self.path.exists() else []


def parsed(lines):
    """Leaves out a line that a crash cut off."""
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def documented(document="docs/audit-file.md"):
    """The documented commands that compare the signed heads of a file with the log."""
    return re.search(
        r"```sh\n(jq .*)\ncountersign (.*)\n```", (ROOT / document).read_text()).groups()


def extract_heads(file, heads):
    """Writes the signed heads of an audit file to another file, as documented."""
    words = documented()[0].replace("audit.jsonl", str(file)).replace("heads.jsonl", str(heads))
    subprocess.run(words, shell=True, check=True)


class Rsyslog:
    """Runs the documented recipe for a file, and a server that writes what it gets to another file."""

    RECEIVER = """\
global(workDirectory="{folder}")
module(load="imtcp")
template(name="message" type="string" string="%msg%\\n")
ruleset(name="receiver") {{
  action(type="omfile" file="{folder}/log" template="message" asyncWriting="off" flushOnTXEnd="on")
}}
input(type="imtcp" port="{port}" address="127.0.0.1" ruleset="receiver")
"""

    def __init__(self, folder, file):
        self.folder, port = Path(folder), free_port()
        self.folder.mkdir()
        text = (ROOT / "docs/audit-file.md").read_text()
        recipe = re.search(r"### rsyslog\n.*?```\n(.*?)```", text, re.S).group(1)
        for shown, own in (("siem.example.com", "127.0.0.1"), ('"514"', f'"{port}"'),
                           ("/var/log/countersign/audit.jsonl", str(file))):
            assert shown in recipe
            recipe = recipe.replace(shown, own)
        (self.folder / "rsyslog.conf").write_text(
            self.RECEIVER.format(folder=self.folder, port=port) + recipe)
        self.process = None

    def check(self):
        """Returns what rsyslog's own check says about the recipe, and its exit code."""
        found = subprocess.run(["rsyslogd", "-N1", "-f", self.folder / "rsyslog.conf"],
                               capture_output=True, text=True, timeout=60)
        return found.stdout + found.stderr, found.returncode

    def __enter__(self):
        self.start()
        return self

    def start(self):
        self.process = subprocess.Popen(
            ["rsyslogd", "-n", "-f", self.folder / "rsyslog.conf", "-i", self.folder / "pid"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        (self.folder / "pid").unlink(missing_ok=True)

    def __exit__(self, *_):
        self.stop()

    def events(self):
        log = self.folder / "log"
        return list(parsed(log.read_text().splitlines())) if log.exists() else []


def audited(events):
    """The positions of entries in the order of their first appearance."""
    return list(dict.fromkeys(e["sequence"] for e in events if e["type"] == "audit"))


def has_all(file, through, seconds=60):
    """Waits until a file has every entry up to a position."""
    until(lambda: set(range(1, through + 1)) <= set(audited(file.events())),
          f"all entries up to {through}", seconds)


def in_order(events):
    """Whether each entry is followed by the next, or, after a repetition, by an earlier one."""
    known = 0
    for event in events:
        if event["type"] != "audit":
            continue
        if event["sequence"] > known + 1:
            return False
        known = max(known, event["sequence"])
    return True
