"""Many idle connections: their memory, and their effect on other clients."""

import resource
import socket

from server import wrk

IDLE = 10_000
ASK = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


def measure(bench):
    """Adds rows for the file with 10,000 idle keep-alive connections: its rate, its slowest responses,
    and the memory; and a note on each connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, IDLE + 1_000), hard))
    count = min(IDLE, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500)
    data, _ = bench.own.data("connections")
    with bench.own.serve(data) as server:
        url = f"{server.url}/static/bench.bin"
        alone = [wrk(url, 16, bench.seconds) for _ in range(bench.runs)]
        before = server.memory()
        idle = [connected(server.url, number) for number in range(count)]
        after = server.memory()
        during = [wrk(url, 16, bench.seconds) for _ in range(bench.runs)]
        alive = sum(is_alive(connection) for connection in idle[:: max(count // 100, 1)])
        for connection in idle:
            connection.close()
    base = bench.median(alone)["rate"]
    bench.row(f"file with {count} idle connections", during, "file alone", 0.9, base)
    bench.limit(f"p99 of others with {count} idle connections", during, 100)
    bench.at_most(f"memory with {count} idle connections", [after], 450, "MiB")
    bench.notes.append(
        f"{count} idle connections: {(after - before) * 1024 / count:.1f} KiB each;"
        f" {alive} of 100 still open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connected(url, number):
    """Returns a client from one of many loopback addresses that has received one response."""
    host, port = url.split("//")[1].split(":")
    source = f"127.0.{1 + number // 1_000}.{1 + number % 200}"
    connection = socket.create_connection((host, int(port)), 30, (source, 0))
    connection.sendall(ASK)
    received = b""
    while not received.endswith(b"ok\n"):
        received += connection.recv(4096)
    return connection


def is_alive(connection):
    try:
        connection.sendall(ASK)
        return connection.recv(4096) != b""
    except OSError:
        return False
