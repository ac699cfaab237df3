"""A real SMTP server that tests can make slow, silent, or uncooperative."""

import datetime
import email
import email.policy
import ipaddress
import socket
import ssl
import threading
import time

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .program import free_port
from .waiting import until


class MailServer:
    """Receives email on a loopback port and replies to each recipient with `answer`.

    `answer` maps the recipient's address to a reply, and `sender` is the reply to that of the sender; `delay` is the time until the reply to a message, in seconds, or maps the recipient's address to it. Without `utf8`, it offers no SMTPUTF8.
    """

    def __init__(self, port=None, tls=None, password=None, answer=None, delay=0, utf8=True):
        self.port = port or free_port()
        self.mails = []
        self.envelopes = []
        self.answer = answer or (lambda recipient: "250 OK")
        self.delay = delay
        self.scanning = False
        self.sender = "250 OK"
        more = {}
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls.certificate, tls.key)
            more = {"tls_context": context, "require_starttls": True}
        if password:
            more |= {"auth_required": True, "auth_require_tls": bool(tls),
                     "authenticator": lambda server, session, envelope, mechanism, data:
                     AuthResult(success=(data.login, data.password) == (b"mailer", password))}
        self.controller = Controller(
            self, hostname="127.0.0.1", port=self.port, enable_SMTPUTF8=utf8, **more)

    async def handle_MAIL(self, server, session, envelope, address, options):
        if self.sender.startswith("250"):
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return self.sender

    async def handle_RCPT(self, server, session, envelope, address, options):
        reply = self.answer(address)
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server, session, envelope):
        import asyncio
        delay = self.delay(envelope.rcpt_tos[0]) if callable(self.delay) else self.delay
        if delay:
            self.scanning = True
            await asyncio.sleep(delay)
        self.envelopes.append((envelope.mail_from, list(envelope.rcpt_tos), bool(session.ssl)))
        self.mails.append(
            email.message_from_bytes(envelope.content, policy=email.policy.default))
        return "250 taken"

    def received(self, count, seconds=30):
        until(lambda: len(self.mails) >= count, f"{count} messages received", seconds)
        return self.mails

    def __enter__(self):
        self.controller.start()
        return self

    def __exit__(self, *_):
        self.controller.stop()


class SilentServer:
    """Accepts connections and never sends a byte."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(8)
        self.port = self.listener.getsockname()[1]
        self.connections = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
            except OSError:
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for connection in self.connections:
            connection.close()


class Certificate:
    """A self-signed certificate for 127.0.0.1."""

    def __init__(self, folder, name="mail"):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name} server")])
        now = datetime.datetime.now(datetime.timezone.utc)
        day = datetime.timedelta(days=1)
        loopback = x509.SubjectAlternativeName(
            [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        signed = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - day).not_valid_after(now + day)
            .add_extension(loopback, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256()))
        self.certificate = folder / f"{name}.pem"
        self.key = folder / f"{name}.key"
        self.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        self.key.write_bytes(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()))


def settled(mail_server, seconds=3):
    """Waits until no message arrives for `seconds`, and returns all messages."""
    count, since = len(mail_server.mails), time.monotonic()
    while time.monotonic() - since < seconds:
        if len(mail_server.mails) != count:
            count, since = len(mail_server.mails), time.monotonic()
        time.sleep(0.05)
    return mail_server.mails


def text_of(mail):
    """Returns the plain text of an email with two parts."""
    return mail.get_body(("plain",)).get_content().replace("\r\n", "\n")


def html_of(mail):
    """Returns the HTML of an email with two parts."""
    return mail.get_body(("html",)).get_content().replace("\r\n", "\n")
