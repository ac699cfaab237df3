"""Email to users, over a real SMTP server that may be slow, silent, unavailable, or refusing."""

import collections
import re
import shutil
import subprocess
import time

import pytest

from support.mail import Certificate, SilentServer, MailServer, html_of, settled, text_of
from support.pages import Pages
from support.program import Server, free_port, private_mounts, reauthenticate, run
from support.rest import Api, create_token, ok
from support.waiting import until

PROJECT = "mailing"
NAME = 'Ünïcode "Shop" 🙂'


def set_up_project(server):
    """Sets up an owner and a project, and returns the owner's pages."""
    pages = Pages(server.url).set_up(server.setup_code)
    pages.create_project(PROJECT, NAME)
    return pages


def api_of(server, pages):
    token = create_token(server.data, PROJECT, "owner")
    return Api(server.url, PROJECT, pages.api_key(PROJECT), token)


def notify(api, address):
    """Changes a user's password as an administrator, of which the user is notified."""
    user = ok(api.admin("POST", "accounts", {"email": address, "password": "bright-swordfish"}))
    ok(api.admin("POST", "accounts:update", {
        "localId": user["localId"], "password": "another password"}))


def flags(port, *more):
    return ["--smtp", f"smtp://127.0.0.1:{port}", "--smtp-from", "accounts@example.com", *more]


def states(pages):
    """Returns the state of each recipient's message in the outbox."""
    text = pages.get(f"/projects/{PROJECT}/messages").text
    rows = re.findall(r'<bdi>([^<]+@[^<]+)</bdi></a>.*?class="chip[^"]*">(\w+)<', text, re.S)
    return dict(rows)


def wait_for_state(pages, address, state, seconds=30):
    until(lambda: states(pages).get(address) == state, f"{address} is {state}", seconds)


def message_page(pages, address):
    text = pages.get(f"/projects/{PROJECT}/messages", params={"q": address}).text
    return re.search(rf'href="(/projects/{PROJECT}/messages/\d+)"', text).group(1)


def test_an_internationalized_domain_needs_no_smtputf8(tmp_path):
    with MailServer(utf8=False) as mail_server:
        with Server(tmp_path / "data", *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "anna@exämple.de")
            mail, = mail_server.received(1)
            assert mail_server.envelopes[0][1] == ["anna@xn--exmple-cua.de"]
            assert "anna@xn--exmple-cua.de" in mail["To"]


def test_an_email_has_the_configured_sender_and_both_parts(tmp_path):
    with MailServer() as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            api = api_of(server, set_up_project(server))
            template = {"senderDisplayName": "Hilfe & Co", "replyTo": "help@example.com",
                        "subject": "Stored", "body": "<b>Stored</b>", "bodyFormat": "HTML"}
            ok(api.admin("PATCH", "config", {
                "notification": {"sendEmail": {"resetPasswordTemplate": template}}}, version="v2",
                params={"updateMask": "notification"}))
            stored = ok(api.admin("GET", "config", version="v2"))["notification"]["sendEmail"]
            assert stored["resetPasswordTemplate"] == template
            ok(api.admin("POST", "accounts", {"email": "sam@example.com", "password": "bright-swordfish"}))
            ok(api.client(":sendOobCode", {
                "requestType": "PASSWORD_RESET", "email": "sam@example.com"}))
            mail, = mail_server.received(1)
            assert not mail.defects and mail.get_content_type() == "multipart/alternative"
            assert [part.get_content_type() for part in mail.iter_parts()] == [
                "text/plain", "text/html"]
            assert all(not part.defects for part in mail.iter_parts())
            assert mail["Reply-To"].addresses[0].addr_spec == "help@example.com"
            sender = mail["From"].addresses[0]
            assert (sender.display_name, sender.addr_spec) == ("Hilfe & Co", "accounts@example.com")
            text, html = text_of(mail), html_of(mail)
            assert "Stored" not in mail["Subject"] + text + html
            link = re.search(r"^http\S+$", text, re.MULTILINE).group()
            assert f'<a href="{link.replace("&", "&amp;")}">' in html
            assert "color-scheme" in html and not re.search(r"<(img|link|script)|src=|url\(", html)


def test_a_project_whose_name_has_control_characters_sends_email(tmp_path):
    with MailServer() as mail_server:
        with Server(tmp_path / "data", *flags(mail_server.port)) as server:
            pages = Pages(server.url).set_up(server.setup_code)
            pages.create_project(PROJECT, "Sam\u0092s\u2028Shop")
            notify(api_of(server, pages), "sam@example.com")
            mail, = mail_server.received(1)
            assert mail["From"].startswith("Sam s Shop <")


# It looks into the file.
@pytest.mark.sqlite
def test_a_message_is_sent_with_tls_and_authentication(tmp_path):
    tls = Certificate(tmp_path)
    with MailServer(tls=tls, password=b"open sesame") as mail_server:
        words = ["--smtp", f"smtp://mailer@127.0.0.1:{mail_server.port}", "--smtp-from",
                 "accounts@example.com", "--smtp-ca", str(tls.certificate)]
        env = {"COUNTERSIGN_SMTP_PASSWORD": "open sesame"}
        with Server(tmp_path / "data", *words, env=env) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            mail, = mail_server.received(1)
            assert mail_server.envelopes == [("accounts@example.com", ["sam@example.com"], True)]
            assert mail["Subject"] == f"{NAME}: your password was changed"
            sender = mail["From"].addresses[0]
            assert (sender.display_name, sender.addr_spec) == (NAME, "accounts@example.com")
            assert mail["To"].addresses[0].addr_spec == "sam@example.com"
            assert mail["Auto-Submitted"] == "auto-generated"
            assert re.fullmatch(r"<\d+\.\d+@example\.com>", mail["Message-ID"])
            assert abs(mail["Date"].datetime.timestamp() - time.time()) < 60
            text = text_of(mail)
            assert "the password of your account was changed" in text
            assert f"about your account sam@example.com at {NAME}." in text
            assert not mail.defects
            wait_for_state(pages, "sam@example.com", "sent")
            # No one can read a sent message anymore.
            page = pages.get(message_page(pages, "sam@example.com")).text
            assert "The text was deleted" in page and "another password" not in page
            assert server.stop() == 0
            assert "open sesame" not in server.text
    assert "open sesame".encode() not in (tmp_path / "data/countersign.sqlite").read_bytes()


# On a shared database, a server that starts leaves what may be another's until it is due.
@pytest.mark.sqlite
@pytest.mark.parametrize("fault", ["certificate", "password"])
def test_an_untrusted_or_refusing_server_receives_nothing(tmp_path, fault):
    right, wrong = Certificate(tmp_path), Certificate(tmp_path, "other")
    with MailServer(tls=right, password=b"open sesame") as mail_server:
        def words(authority):
            return ["--smtp", f"smtp://mailer@127.0.0.1:{mail_server.port}", "--smtp-from",
                    "accounts@example.com", "--smtp-ca", str(authority)]
        file = tmp_path / "password"
        file.write_text("open sesame\n" if fault == "certificate" else "wrong\n")
        authority = (wrong if fault == "certificate" else right).certificate
        with Server(tmp_path / "data", *words(authority), "--smtp-password-file",
                    str(file)) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            server.wait_for_line(r"(Email delivery paused: smtp://127\.0\.0\.1)")
            wait_for_state(pages, "sam@example.com", "retrying")
            assert mail_server.mails == []
            assert server.stop() == 0
        file.write_text("open sesame\n")
        with Server(tmp_path / "data", *words(right.certificate), "--smtp-password-file",
                    str(file)):
            mail_server.received(1)
            assert len(settled(mail_server)) == 1


# With separate mounts, it creates its database as a file.
@pytest.mark.sqlite
@pytest.mark.skipif(private_mounts() is None, reason="private mounts aren't allowed here")
def test_a_named_ca_replaces_the_ones_of_the_system(tmp_path):
    known, other = Certificate(tmp_path), Certificate(tmp_path, "other")
    # What Debian has in /etc/ssl/certs for each CA, visible to this server only.
    system = tmp_path / "system"
    system.mkdir()
    digest = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", known.certificate],
                            check=True, capture_output=True, text=True).stdout.strip()
    shutil.copy(known.certificate, system / f"{digest}.0")
    shutil.copy(known.certificate, system / "ca-certificates.crt")
    script = 'mount --bind "$1" /etc/ssl/certs && shift && exec "$@"'
    prefix = [*private_mounts(), "sh", "-c", script, "sh", str(system)]
    with MailServer(tls=known, password=b"open sesame") as mail_server:
        words = ["--smtp", f"smtp://mailer@127.0.0.1:{mail_server.port}", "--smtp-from",
                 "accounts@example.com", "--smtp-ca", str(other.certificate)]
        env = {"COUNTERSIGN_SMTP_PASSWORD": "open sesame"}
        with Server(tmp_path / "data", *words, prefix=prefix, env=env) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            server.wait_for_line(r"(Email delivery paused: smtp://127\.0\.0\.1)", 30)
            wait_for_state(pages, "sam@example.com", "retrying")
            assert mail_server.mails == []


def test_a_refused_recipient_fails_without_affecting_others(tmp_path):
    def answer(recipient):
        return "550 5.1.1 No such user here" if recipient.startswith("nobody") else "250 OK"
    with MailServer(answer=answer) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            api = api_of(server, pages)
            notify(api, "nobody@example.com")
            notify(api, "sam@example.com")
            mail_server.received(1)
            wait_for_state(pages, "nobody@example.com", "failed")
            wait_for_state(pages, "sam@example.com", "sent")
            page = pages.get(message_page(pages, "nobody@example.com")).text
            assert "550 5.1.1 No such user here" in page and "The text was deleted" in page
            assert len(settled(mail_server)) == 1
            assert server.stop() == 0


# On a shared database, a server that starts leaves what may be another's until it is due.
@pytest.mark.sqlite
@pytest.mark.parametrize("waits", [False, True], ids=["at MAIL", "at RCPT"])
def test_a_rejected_sender_pauses_delivery_and_loses_nothing(tmp_path, waits):
    with MailServer() as mail_server:
        if waits:
            # Postfix with `smtpd_delay_reject`, which is its default.
            mail_server.answer = lambda recipient: (
                "550 5.7.1 <accounts@example.com>: Sender address rejected: not owned by user")
        else:
            mail_server.sender = "550 5.7.1 Sender address rejected"
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            server.wait_for_line(r"(Email delivery paused: .*550 5\.7\.1 .*Sender address rejected)")
            wait_for_state(pages, "sam@example.com", "retrying")
            assert mail_server.mails == []
            assert server.stop() == 0
        mail_server.sender = "250 OK"
        mail_server.answer = lambda recipient: "250 OK"
        with Server(tmp_path, *flags(mail_server.port)):
            mail_server.received(1)


# On a shared database, a server that starts leaves what may be another's until it is due.
@pytest.mark.sqlite
def test_a_temporary_error_is_retried(tmp_path):
    server_state = {"reply": "451 4.7.1 Try again later"}
    with MailServer(answer=lambda recipient: server_state["reply"]) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            address = message_page(pages, "sam@example.com")
            until(lambda: "451 4.7.1 Try again later" in pages.get(address).text, "an attempt")
            wait_for_state(pages, "sam@example.com", "retrying")
            page = pages.get(address).text
            assert "Next attempt" in page
            # No one can read a message that is being sent, not even an owner.
            assert "only the user can read its text" in page and "Show text" not in page
            assert mail_server.mails == []
            assert server.stop() == 0
        server_state["reply"] = "250 OK"
        with Server(tmp_path, *flags(mail_server.port)) as server:
            mail_server.received(1)
            assert len(settled(mail_server)) == 1


# On a shared database, a server that starts leaves what may be another's until it is due.
@pytest.mark.sqlite
def test_no_message_is_lost_when_the_server_is_killed(tmp_path):
    people = [f"user{number}@example.com" for number in range(40)]
    with MailServer(delay=0.05) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            api = api_of(server, pages)
            for address in people:
                notify(api, address)
            mail_server.received(8)
            server.kill()
        begun = len(settled(mail_server))
        assert begun < len(people), "the server was killed too late"
        with Server(tmp_path, *flags(mail_server.port)) as server:
            until(
                lambda: {m["To"].addresses[0].addr_spec for m in mail_server.mails} == set(people),
                "every user has a message", 60)
            mails = settled(mail_server)
            assert server.stop() == 0
    # The message being sent may arrive twice, with the same ID.
    assert len(mails) <= len(people) + 1
    ids = collections.Counter(m["Message-ID"] for m in mails)
    assert len(ids) == len(people)


def test_no_message_is_sent_twice_when_the_server_stops(tmp_path):
    people = [f"user{number}@example.com" for number in range(30)]
    with MailServer(delay=0.2) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            api = api_of(server, pages)
            for address in people:
                notify(api, address)
            mail_server.received(3)
            assert server.stop() == 0
        assert len(settled(mail_server)) < len(people), "all messages were sent before the stop"
        with Server(tmp_path, *flags(mail_server.port)):
            mail_server.received(len(people), 60)
            mails = settled(mail_server)
    assert len(mails) == len(people)
    assert len({m["Message-ID"] for m in mails}) == len(people)


def test_a_message_that_is_scanned_for_longer_than_a_minute_is_sent_once_and_delays_no_other(tmp_path):
    with MailServer(delay=lambda recipient: 70 if recipient == "scanned@example.com" else 0) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            api = api_of(server, pages)
            notify(api, "scanned@example.com")
            until(lambda: "scanned@example.com" in states(pages), "the message is queued")
            for number in range(3):
                notify(api, f"other{number}@example.com")
            mail_server.received(3)
            assert "scanned@example.com" not in recipients(mail_server)
            wait_for_state(pages, "scanned@example.com", "sent", 90)
            settled(mail_server)
            # The page was read so often that the owner is told how many users it showed.
            told = sorted(one for one in recipients(mail_server) if one != "ada@example.com")
            assert told == [*(f"other{number}@example.com" for number in range(3)),
                            "scanned@example.com"]
            assert "delivery paused" not in server.text
            assert server.stop() == 0


def test_an_outage_while_a_message_is_being_scanned_delays_others_for_seconds_only(tmp_path):
    with MailServer(delay=lambda recipient: 600 if recipient == "scanned@example.com" else 0) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            api = api_of(server, set_up_project(server))
            notify(api, "scanned@example.com")
            until(lambda: mail_server.scanning, "the mail server has the message")
            mail_server.sender = "421 too busy"
            notify(api, "early@example.com")
            server.wait_for_line(r"(Email delivery paused)")
            mail_server.sender = "250 OK"
            notify(api, "late@example.com")
            until(lambda: "late@example.com" in recipients(mail_server), "the message is sent", 30)
            server.wait_for_line(r"(Email delivery resumed)")
            assert server.stop() == 0


def test_a_message_that_is_being_scanned_does_not_delay_a_stop(tmp_path):
    with MailServer(delay=600) as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            until(lambda: mail_server.scanning, "the mail server has the message")
            begin = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - begin < 20


def recipients(mail_server):
    return [mail["To"].addresses[0].addr_spec for mail in mail_server.mails]


# On a shared database, a server that starts leaves what may be another's until it is due.
@pytest.mark.sqlite
def test_a_silent_mail_server_does_not_delay_a_stop(tmp_path):
    with SilentServer() as silent:
        with Server(tmp_path, *flags(silent.port)) as server:
            pages = set_up_project(server)
            notify(api_of(server, pages), "sam@example.com")
            until(lambda: silent.connections, "the mail server has a connection")
            begin = time.monotonic()
            # Requests don't wait for the mail server.
            assert pages.get("/healthz").status_code == 200
            assert server.stop() == 0
            assert time.monotonic() - begin < 20
    with MailServer() as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            mail_server.received(1)
            assert len(settled(mail_server)) == 1


def test_delivery_resumes_when_the_mail_server_is_back(tmp_path):
    port = free_port()
    with Server(tmp_path, *flags(port)) as server:
        pages = set_up_project(server)
        api = api_of(server, pages)
        notify(api, "early@example.com")
        server.wait_for_line(r"(Email delivery paused)")
        with MailServer(port=port) as mail_server:
            notify(api, "late@example.com")
            mail_server.received(1)
            server.wait_for_line(r"(Email delivery resumed)")
            assert server.stop() == 0


def test_without_a_mail_server_an_owner_reads_messages_which_are_sent_later(tmp_path):
    with Server(tmp_path) as server:
        pages = set_up_project(server)
        notify(api_of(server, pages), "sam@example.com")
        overview = pages.get(f"/projects/{PROJECT}").text
        assert "Email isn’t set up. Messages pending: " in overview
        page = message_page(pages, "sam@example.com")
        assert "The old password no longer works." not in pages.get(page).text
        opened = pages.post(f"{page}/text", {}, page=page)
        assert "The old password no longer works." in opened.text
        assert opened.headers["cache-control"] == "no-store"
        audit = pages.get(f"/projects/{PROJECT}/audit").text
        assert "Message to user opened" in audit
        assert server.stop() == 0
    with MailServer() as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            mail, = mail_server.received(1)
            assert "The old password no longer works." in text_of(mail)
            assert server.stop() == 0


@pytest.mark.parametrize("words, env, problems", [
    (["--smtp", "http://x"], {}, ["--smtp must begin with smtp://", "--smtp requires --smtp-from"]),
    (["--smtp", "smtp://sam:secret@mail.example.com", "--smtp-from", "nobody"], {},
     ["must not contain the password", "--smtp-from must be an address"]),
    (["--smtp", "smtp://sam@mail.example.com", "--smtp-from", "a@example.com"], {},
     ["has a user name"]),
    (["--smtp-from", "a@example.com", "--smtp-ca", "x"], {},
     ["--smtp-from requires --smtp", "--smtp-ca requires --smtp"]),
    (["--demo", "--smtp", "smtp://127.0.0.1", "--smtp-from", "a@example.com"], {},
     ["don't have real email addresses"]),
    ([], {"COUNTERSIGN_SMTP": "smtp://mail.example.com", "COUNTERSIGN_SMTP_FROM": "x\ny@z",
          "COUNTERSIGN_SMTP_CA": "/nowhere", "COUNTERSIGN_SMTP_PASSWORD_FILE": "/nowhere"},
     ["--smtp-from must be", "--smtp-ca /nowhere can't",
      "--smtp-password-file /nowhere can't"]),
    (["--smtp", "smtp://mail.example.com", "--smtp-from", "a@example.com", "--smtp-ca", __file__], {},
     [f"--smtp-ca file {__file__} has no certificate"]),
])
def test_all_problems_of_a_mail_configuration_are_reported(tmp_path, words, env, problems):
    answer = run("serve", "--data", tmp_path / "data", *words, env=env)
    assert answer.returncode == 78, answer.stderr
    for problem in problems:
        assert problem in answer.stderr
    assert "secret" not in answer.stderr
    assert not (tmp_path / "data").exists()
