"""Destinations of event streams: rsyslog, a file, and an HTTP receiver that may fail."""

import json
import signal
import socket
import struct
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .program import free_port
from .waiting import until

RSYSLOG = """\
global(workDirectory="{folder}" maxMessageSize="512k"{tls})
module(load="imtcp"{module})
input(type="imtcp" port="{port}" address="127.0.0.1")
template(name="whole" type="string" string="%pri% %timestamp:::date-rfc3339% %hostname% %app-name% %msgid% %structured-data% %msg:::drop-last-lf%\\n")
action(type="omfile" file="{folder}/log" template="whole" asyncWriting="off" flushOnTXEnd="on")
"""


class Rsyslog:
    """Debian's rsyslog, which writes what it gets to a file."""

    def __init__(self, folder, authority=None, certificate=None, key=None):
        self.folder, self.port = Path(folder), free_port()
        self.folder.mkdir(exist_ok=True)
        self.log = self.folder / "log"
        tls = module = ""
        if certificate:
            tls = (f' defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="{authority}"'
                   f' defaultNetstreamDriverCertFile="{certificate}"'
                   f' defaultNetstreamDriverKeyFile="{key}"')
            module = ' streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon"'
        (self.folder / "rsyslog.conf").write_text(RSYSLOG.format(
            folder=self.folder, port=self.port, tls=tls, module=module))
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def start(self):
        self.process = subprocess.Popen(
            ["rsyslogd", "-n", "-f", self.folder / "rsyslog.conf", "-i", self.folder / "pid"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(30)
        (self.folder / "pid").unlink(missing_ok=True)

    def __exit__(self, *_):
        self.stop()

    def lines(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def events(self):
        return [json.loads(line[line.index("{"):]) for line in self.lines()]


class ResettingServer:
    """Accepts connections and resets them at once."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.connections = self.listener.getsockname()[1], 0

    def __enter__(self):
        threading.Thread(target=self._reset, daemon=True).start()
        return self

    def _reset(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    def __exit__(self, *_):
        self.listener.close()


class EventFile:
    """The file of an event stream."""

    def __init__(self, path):
        self.path = Path(path)

    def events(self):
        return list(parsed(self.path.read_text().splitlines())) if self.path.exists() else []


def parsed(lines):
    """Leaves out a line that a crash cut off, as docs/events.md says."""
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue


class Receiver:
    """An HTTP receiver that asks `decide` for the status of each request, by its number and
    events."""

    def __init__(self, decide=lambda number, events: 200):
        self.requests, self.kept, self.decide = [], [], decide
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                events = json.loads(body)["events"]
                receiver.requests.append((self.headers, body))
                status = receiver.decide(len(receiver.requests), events)
                if status is None:
                    # Drops the connection without a response, after keeping the events.
                    receiver.kept += events
                    self.connection.close()
                    return
                if status < 300:
                    receiver.kept += events
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/events"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def events(self):
        return list(self.kept)


def audited(events):
    """The positions of entries in the order of their first arrival."""
    return list(dict.fromkeys(e["sequence"] for e in events if e["type"] == "audit"))


def has_all(destination, through, seconds=60):
    """Waits until a destination has every entry up to a position."""
    until(lambda: set(range(1, through + 1)) <= set(audited(destination.events())),
          f"all entries up to {through}", seconds)
