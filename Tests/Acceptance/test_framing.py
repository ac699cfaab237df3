"""Message framing: requests that no client library sends."""

import socket

import pytest

pytestmark = pytest.mark.sqlite

CHUNKED = (b"POST /v1/accounts:signUp?key=k HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
           b"Transfer-Encoding: chunked\r\n\r\n")


def exchange(server, *parts):
    """Sends bytes and returns everything that the server sends until it closes."""
    with socket.create_connection(server.address, timeout=30) as connection:
        received = b""
        try:
            for part in parts:
                connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            # The server refused before the end.
            pass
        try:
            while part := connection.recv(65536):
                received += part
        except ConnectionResetError:
            pass
        return received


def answers(received):
    """Parses responses into status, headers, and body; there must be nothing else."""
    found = []
    while received:
        head, rest = received.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        assert lines[0].startswith("HTTP/1.1 "), head
        fields = [line.split(": ", 1) for line in lines[1:]]
        assert all(len(field) == 2 for field in fields), head
        lengths = [value for name, value in fields if name == "Content-Length"]
        assert len(lengths) == 1 and not any(name.startswith("HTTP/") for name, _ in fields), head
        length = int(lengths[0])
        assert len(rest) >= length, received
        found.append((int(lines[0].split()[1]), dict(fields), rest[:length]))
        received = rest[length:]
    return found


@pytest.mark.parametrize("body", [
    b"2\n{}\r\n0\r\n\r\n", b"2\r\n{}\n0\r\n\r\n", b"2\r\n{}\r\n0\n\n", b"2\r{}\r\n0\r\n\r\n",
    b"2\r\n{}\r0\r\n\r\n", b"2;a\nb\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\r\n0\r\nX: a\n\r\n",
])
def test_chunks_with_a_lone_cr_or_lf_are_refused(standalone, body):
    for parts in ([CHUNKED + body], [CHUNKED, *(bytes([byte]) for byte in body)]):
        [(status, fields, text)] = answers(exchange(standalone, *parts))
        assert status == 400 and fields["Connection"] == "close"
        assert fields["Content-Type"].startswith("application/json") and b"badRequest" in text


def test_well_formed_chunks_are_accepted(standalone):
    sent = CHUNKED + b"1;x=y\r\n{\r\n1\r\n}\r\n0\r\nX-Sum: 1\r\n\r\n" + (
        b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    (first, _, text), (second, _, ok) = answers(exchange(standalone, sent))
    assert first == 400 and b"API key not valid" in text
    assert second == 200 and ok == b"ok\n"


def test_a_long_chunk_extension_is_refused(standalone):
    sent = CHUNKED + b"2;" + b"e" * 200_000 + b"\r\n{}\r\n0\r\n\r\n"
    [(status, fields, _)] = answers(exchange(standalone, sent))
    assert status == 400 and fields["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path,kind", [("/sign-in", "text/html"), ("/v1/accounts:lookup",
                                                                   "application/json")])
@pytest.mark.parametrize("status,lines", [
    (400, "Content-Length: 3, 3"), (400, "Content-Length: abc"),
    (413, "Content-Length: 99999999999999999999999"), (400, "no colon"),
    (431, "X: " + "a" * 100_000), (431, "\r\n".join(["X: a"] * 5_000)),
])
def test_a_refusal_is_a_single_response_with_the_usual_headers(
        standalone, path, kind, status, lines):
    sent = f"POST {path} HTTP/1.1\r\nHost: h\r\n{lines}\r\n\r\n".encode()
    [(got, fields, text)] = answers(exchange(standalone, sent))
    assert got == status and text
    assert fields["Content-Type"].startswith(kind)
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert fields["Cache-Control"] == "no-store"
    if kind == "text/html":
        assert "default-src 'none'" in fields["Content-Security-Policy"]


@pytest.mark.parametrize("status,line", [
    (505, "GET / HTTP/2.0"), (400, "GET / HTTX/1.1"), (414, "GET /" + "a" * 100_000 + " HTTP/1.1")])
def test_an_invalid_request_line_gets_a_response_with_the_usual_headers(standalone, status, line):
    [(got, fields, _)] = answers(exchange(standalone, f"{line}\r\nHost: h\r\n\r\n".encode()))
    assert got == status
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in fields["Content-Security-Policy"]
