"""Self-signed certificates for servers."""

import datetime
import socket
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

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


def flags(folder):
    return ["--tls-certificate", str(folder / "certificate.pem"), "--tls-key",
            str(folder / "key.pem")]


def make_authority(folder, *names):
    """Creates a certificate authority, in `authority.pem`, and its certificate for names, with the key."""
    now, day = datetime.datetime.now(datetime.timezone.utc), datetime.timedelta(days=1)
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Test authority")])
    root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM

    def sign(subject, owner, extension, critical):
        return (
            x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
            .public_key(owner.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - day).not_valid_after(now + day)
            .add_extension(extension, critical).sign(root, hashes.SHA256()).public_bytes(pem))

    (folder / "authority.pem").write_bytes(
        sign(issuer, root, x509.BasicConstraints(ca=True, path_length=None), True))
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    (folder / "certificate.pem").write_bytes(sign(NAME, key, alternatives, False))
    (folder / "key.pem").write_bytes(key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
