"""The programs that the benchmark starts, and the load generator."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time


# Bound without listening: others can't be given the port, but a server that reuses addresses can.
_reserved = []


def free_port():
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    _reserved.append(holder)
    return holder.getsockname()[1]


class Server:
    """The server under test; its access log goes to a file, as in production."""

    def __init__(self, binaries, data, assets, profile="standalone", flags=()):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.cookie_name = "countersign-session"
        self.log = open(pathlib.Path(data) / "server.log", "w+")
        began = time.monotonic()
        command = [
            str(pathlib.Path(binaries) / "countersign"), "serve", "--listen", f"127.0.0.1:{port}",
            "--data", str(data), "--assets", str(assets), "--profile", profile,
            "--access-log", str(pathlib.Path(data) / "access.log"), *flags,
        ]
        if profile == "emulator":
            command += ["--project", "bench-project"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        # The first answer, which /livez gives while the server starts, and the first one of the
        # application, for which /healthz waits.
        self.first_answer_ms = self.answered("/livez", port, began)
        self.start_ms = self.answered("/healthz", port, began)

    def answered(self, path, port, began):
        """Waits until a path is answered; returns the time since the start in milliseconds."""
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                    if b" 200 " in connection.recv(64):
                        return (time.monotonic() - began) * 1000
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() - began > 30:
                raise SystemExit(self.text())
            time.sleep(0.001)

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def stop(self):
        """Stops the server and returns its numbers of writes and commits."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        found = re.search(r"(\d+) writes in (\d+) commits", self.text())
        return (int(found[1]), int(found[2])) if found else (0, 1)

    def settle(self, patience=120):
        """Waits until the server has caught up with what was prepared, such as the audit log's chain.

        A server that has been running for a while has done so; until then, it would compete with
        what's measured.
        """
        deadline, used = time.monotonic() + patience, self.cpu()
        while time.monotonic() < deadline:
            time.sleep(1)
            used, before = self.cpu(), used
            if used - before < 0.02:
                return
        raise SystemExit(f"the server is still busy after {patience} s")

    def cpu(self):
        """Returns the seconds of CPU time that the server has used."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self, field, file="status"):
        text = pathlib.Path(f"/proc/{self.process.pid}/{file}").read_text()
        return round(int(re.search(rf"{field}:\s+(\d+)", text)[1]) / 1024, 1)

    def memory(self):
        """Returns the resident memory in MiB, of which pages shared with other processes count in
        part (PSS); all of them count where only root may read the parts."""
        try:
            return self.status("Pss", "smaps_rollup")
        except PermissionError:
            return self.status("VmRSS")

    def peak(self):
        return self.status("VmHWM")


class Nginx:
    def __init__(self, folder, files):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        work = pathlib.Path(folder) / "nginx"
        work.mkdir()
        user = "user root;" if os.geteuid() == 0 else ""
        (work / "nginx.conf").write_text(
            f"""
            {user}
            worker_processes 2; daemon off; pid {work}/pid; error_log {work}/error.log;
            events {{ worker_connections 1024; }}
            http {{
              access_log {work}/access.log combined buffer=64k flush=1s;
              sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 1000000;
              open_file_cache max=100;
              client_body_temp_path {work}; proxy_temp_path {work}; fastcgi_temp_path {work};
              uwsgi_temp_path {work}; scgi_temp_path {work};
              server {{ listen 127.0.0.1:{port}; root {files}; }}
            }}
            """
        )
        self.process = subprocess.Popen(
            ["/usr/sbin/nginx", "-c", str(work / "nginx.conf"), "-p", str(work)],
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2000):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.005)
        raise SystemExit("nginx did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)


def prepare(binaries, data, profile):
    output = subprocess.run(
        [str(pathlib.Path(binaries) / "countersign-bench"), "prepare", str(data), profile],
        check=True, stdout=subprocess.PIPE,
    ).stdout
    return json.loads(output)


def crowd(binaries, data):
    """Creates a data folder with 50 projects, 1,000 tenants, and 5,000 users."""
    output = subprocess.run(
        [str(pathlib.Path(binaries) / "countersign-bench"), "crowd", str(data)], check=True,
        stdout=subprocess.PIPE,
    ).stdout
    return json.loads(output)


def seal(binaries, data, profile, count, file):
    subprocess.run(
        [
            str(pathlib.Path(binaries) / "countersign-bench"), "seal", str(data), profile,
            str(count), str(file),
        ],
        check=True,
    )


def command(url, connections, seconds, headers=None, script=None):
    threads = min(2, connections)
    words = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency"]
    for name, value in (headers or {}).items():
        words += ["-H", f"{name}: {value}"]
    if script:
        words += ["-s", str(script)]
    return words + [url]


def started(*load, **more):
    """Starts a load that runs during a measurement."""
    return subprocess.Popen(command(*load, **more), stdout=subprocess.DEVNULL)


def wrk(*load, **more):
    text = subprocess.run(
        command(*load, **more), check=True, stdout=subprocess.PIPE, text=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    found = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    p99 = float(found[1]) * {"us": 0.001, "ms": 1, "s": 1000}[found[2]] if found else None
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    errors = (int(bad[1]) if bad else 0) + (sum(map(int, broken.groups())) if broken else 0)
    return {"rate": rate, "p99": p99, "errors": errors}


def openssl_signatures(seconds):
    """Returns RSA signatures per second, on all cores together."""
    text = subprocess.run(
        ["openssl", "speed", "-seconds", str(seconds), "-multi", str(os.cpu_count()), "rsa2048"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ).stdout
    return float(re.search(r"rsa\s+2048 bits\s+[\d.]+s\s+[\d.]+s\s+([\d.]+)", text)[1])
