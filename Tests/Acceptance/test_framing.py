"""Message framing: requests that no client library sends."""

import socket

import pytest

pytestmark = pytest.mark.sqlite

CHUNKED = (b"POST /v1/accounts:signUp?key=k HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
           b"Transfer-Encoding: chunked\r\n\r\n")
NEXT = b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


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
    b"2\r\n{}\r\n0\r\n\r\n", b"1\r\n{\r\n1\r\n}\r\n0\r\nX-Sum: 1\r\n\r\n"])
def test_chunks_are_read_and_nothing_after_them_is(standalone, body):
    for parts in ([CHUNKED + body + NEXT], [CHUNKED, *(bytes([byte]) for byte in body), NEXT]):
        [(status, fields, text)] = answers(exchange(standalone, *parts))
        assert status == 400 and fields["Connection"] == "close"
        assert fields["Content-Type"].startswith("application/json")
        assert b"API key not valid" in text


@pytest.mark.parametrize("body", [
    b"2\n{}\r\n0\r\n\r\n", b"2\r\n{}\n0\r\n\r\n", b"2\r\n{}\r\n0\n\n", b"2\r{}\r\n0\r\n\r\n",
    b"2\r\n{}\r0\r\n\r\n", b"2;a\nb\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\r\n0\r\nX: a\n\r\n",
])
def test_nothing_after_chunks_with_a_lone_cr_or_lf_is_read(standalone, body):
    """libmicrohttpd 0.9.75 accepts LF alone; every version closes the connection."""
    for parts in ([CHUNKED + body + NEXT], [CHUNKED, *(bytes([byte]) for byte in body), NEXT]):
        [(status, fields, _)] = answers(exchange(standalone, *parts))
        assert status == 400 and fields["Connection"] == "close"


def test_a_request_with_a_long_chunk_extension_is_not_handled(standalone):
    received = exchange(standalone, CHUNKED + b"2;" + b"e" * 200_000 + b"\r\n{}\r\n0\r\n\r\n" + NEXT)
    assert b"API key" not in received and b"ok\n" not in received


@pytest.mark.parametrize("path,kind", [("/sign-in", "text/html"), ("/v1/accounts:lookup",
                                                                   "application/json")])
@pytest.mark.parametrize("status,lines", [
    (400, "Content-Length: 2\r\nContent-Length: 2"), (400, "Host: other"), (400, "X A: b"),
    (400, "Content-Length: 2\r\nTransfer-Encoding: chunked"),
    (400, "Transfer-Encoding: gzip, chunked"),
    (400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    (413, "Content-Length: 9000000000"), (417, "Expect: gold"), (431, "X: " + "a" * 20_000),
])
def test_a_refusal_is_a_single_response_with_the_usual_headers(
        standalone, path, kind, status, lines):
    sent = f"POST {path} HTTP/1.1\r\nHost: h\r\n{lines}\r\n\r\n".encode() + NEXT
    [(got, fields, text)] = answers(exchange(standalone, sent))
    assert got == status and text
    assert fields["Connection"] == "close"
    assert fields["Content-Type"].startswith(kind)
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert fields["Cache-Control"] == "no-store"
    if kind == "text/html":
        assert "default-src 'none'" in fields["Content-Security-Policy"]


def test_a_coding_in_http_1_0_is_refused(standalone):
    sent = CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"2\r\n{}\r\n0\r\n\r\n" + NEXT
    [(status, fields, text)] = answers(exchange(standalone, sent))
    assert status == 400 and fields["Connection"] == "close" and b"API key" not in text


@pytest.mark.parametrize("status,line", [
    (414, "GET /" + "a" * 20_000 + " HTTP/1.1"), (400, "GET /%zz HTTP/1.1"),
    (400, "GET / HTTP/1.2")])
def test_a_refused_request_line_gets_a_response_with_the_usual_headers(standalone, status, line):
    [(got, fields, _)] = answers(exchange(standalone, f"{line}\r\nHost: h\r\n\r\n".encode() + NEXT))
    assert got == status and fields["Connection"] == "close"
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in fields["Content-Security-Policy"]


@pytest.mark.parametrize("status,line,lines", [
    (400, "POST / HTTP/1.1", "Content-Length: 3, 3"), (400, "POST / HTTP/1.1", "Content-Length: a"),
    (413, "POST / HTTP/1.1", "Content-Length: 99999999999999999999999"),
    (400, "POST / HTTP/1.1", "no colon"), (431, "GET / HTTP/1.1", "X: " + "a" * 100_000),
    (431, "GET / HTTP/1.1", "\r\n".join(["X: a"] * 5_000)), (505, "GET / HTTP/2.0", "X: a"),
    (400, "GET / HTTX/1.1", "X: a"), (414, "GET /" + "a" * 100_000 + " HTTP/1.1", "X: a")])
def test_what_the_library_refuses_closes_the_connection(standalone, status, line, lines):
    """libmicrohttpd sends its own response, 0.9.75 the header of some of them twice."""
    sent = f"{line}\r\nHost: h\r\n{lines}\r\n\r\n".encode()
    received = exchange(standalone, sent, NEXT)
    assert received.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"HTTP/1.1 200" not in received and b"ok\n" not in received
