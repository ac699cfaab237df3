"""SIGHUP: reopening logs and reloading certificates."""

import datetime
import json
import signal
import socket
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from support.program import Server
from support.waiting import until

NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])


def make_certificate(folder, days, began=datetime.timedelta(days=100)):
    """Creates a self-signed certificate that expires in `days`, with its key; returns it as DER."""
    now = datetime.datetime.now(datetime.timezone.utc)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        x509.CertificateBuilder().subject_name(NAME).issuer_name(NAME).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - began)
        .not_valid_after(now + datetime.timedelta(days=days)).sign(key, hashes.SHA256()))
    pem = serialization.Encoding.PEM
    (folder / "key.pem").write_bytes(key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(pem))
    return certificate.public_bytes(serialization.Encoding.DER)


def served(server):
    """Returns the certificate that new connections get."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = server.url.split("//")[1].split(":")
    with socket.create_connection((host, int(port)), 30) as connection:
        with context.wrap_socket(connection) as secure:
            certificate = secure.getpeercert(binary_form=True)
            secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            received = b""
            while part := secure.recv(4096):
                received += part
            assert received.endswith(b"ok\n")
            return certificate


def ask(server, path):
    with socket.create_connection(server.address, 30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        while connection.recv(65536):
            pass


def paths(log):
    return [json.loads(line)["path"] for line in log.read_text().splitlines()] if (
        log.exists()) else []


def flags(folder):
    return ["--tls-certificate", str(folder / "certificate.pem"), "--tls-key",
            str(folder / "key.pem")]


def test_a_moved_log_is_reopened(tmp_path):
    log, moved = tmp_path / "access.log", tmp_path / "access.log.1"
    log.write_text('{"path":"/before"}\n')
    with Server(tmp_path / "data", "--access-log", str(log)) as server:
        server.setup_code
        ask(server, "/first")
        until(lambda: "/first" in paths(log), "the first request is written")
        log.rename(moved)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(reopened the access log)")
        ask(server, "/second")
        until(lambda: paths(log) == ["/second"], "the second is in the new file")
        assert paths(moved) == ["/before", "/first"]
        assert log.stat().st_mode & 0o007 == 0
        assert server.stop() == 0


def test_sighup_does_not_stop_the_server(tmp_path):
    with Server(tmp_path) as server:
        server.setup_code
        for _ in range(3):
            server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(SIGHUP)")
        ask(server, "/healthz")
        assert server.process.poll() is None
        assert server.stop() == 0


def test_a_renewed_certificate_is_served_without_a_restart(tmp_path):
    former = make_certificate(tmp_path, 90)
    with Server(tmp_path / "data", *flags(tmp_path)) as server:
        server.setup_code
        assert served(server) == former
        renewed = make_certificate(tmp_path, 90)
        assert served(server) == former
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(reloaded the TLS certificate)")
        assert served(server) == renewed
        # An invalid key changes nothing.
        (tmp_path / "key.pem").write_text("nonsense")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for_line(r"(certificate couldn't be reloaded)")
        assert served(server) == renewed
        assert "expire" not in server.text
        assert server.stop() == 0


@pytest.mark.parametrize("days,words", [
    (-1, r"(expired on)"), (5, r"(expires on .*, in \d days)")])
def test_an_expiring_certificate_is_reported_at_startup_and_on_reload(tmp_path, days, words):
    make_certificate(tmp_path, days)
    with Server(tmp_path / "data", *flags(tmp_path)) as server:
        server.wait_for_line(words)
        before = server.text.count("CN=localhost")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.text.count("CN=localhost") > before, "it warns again")
