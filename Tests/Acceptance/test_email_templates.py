"""Email templates edited in the console, in emails that a real mail server receives."""

import re

from support.mail import MailServer, html_of, settled, text_of
from support.program import Server
from support.rest import ok
from test_mail import PROJECT, api_of, flags, set_up_project

TEMPLATE = f"/projects/{PROJECT}/email-templates/reset-password"


def save(pages, to=TEMPLATE, **fields):
    """Submits the form of the template."""
    form = {"subject": "", "text": "", "html": "", "sender-name": "", "reply-to": ""}
    return pages.post(to, {**form, **fields}, page=TEMPLATE)


def reset_password(api, address):
    ok(api.admin("POST", "accounts", {"email": address, "password": "swordfish"}))
    ok(api.client(":sendOobCode", {"requestType": "PASSWORD_RESET", "email": address}))


def test_an_email_has_the_template_of_the_console_in_both_parts(tmp_path):
    with MailServer() as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            api = api_of(server, pages)
            long = "Ünïcode 🙂 " * 40
            saved = save(
                pages, subject="Grüße von %APP_NAME%: " + "ä" * 60,
                html=f'<h1>Hallo %EMAIL%</h1><p>{long}</p><p><a href="%LINK%">Neues Passwort</a></p>',
                **{"sender-name": "Hilfe & Co", "reply-to": "help@example.com"})
            assert saved.status_code == 303, saved.text
            reset_password(api, "sam@example.com")
            mail, = mail_server.received(1)
            assert not mail.defects and mail.get_content_type() == "multipart/alternative"
            assert [part.get_content_type() for part in mail.iter_parts()] == [
                "text/plain", "text/html"]
            assert all(not part.defects for part in mail.iter_parts())
            assert str(mail["Subject"]).startswith("Grüße von ")
            assert str(mail["Subject"]).endswith("ä" * 60)
            assert mail["Reply-To"].addresses[0].addr_spec == "help@example.com"
            sender = mail["From"].addresses[0]
            assert (sender.display_name, sender.addr_spec) == ("Hilfe & Co", "accounts@example.com")
            text, html = text_of(mail), html_of(mail)
            assert text.startswith("Hallo sam@example.com\n\nÜnïcode 🙂 Ünïcode")
            link = re.search(r"Neues Passwort: (http\S+oobCode=\S+)", text).group(1)
            assert f'<a href="{link.replace("&", "&amp;")}">Neues Passwort</a>' in html
            assert "color-scheme" in html and not re.search(r"<(img|link|script)|src=|url\(", html)
            assert all(len(line) <= 78 for line in mail.as_bytes().splitlines())


def test_a_default_email_has_html_too(tmp_path):
    with MailServer() as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            reset_password(api_of(server, pages), "sam@example.com")
            mail, = mail_server.received(1)
            assert not mail.defects
            link = re.search(r"^http\S+$", text_of(mail), re.MULTILINE).group()
            assert f'<a href="{link.replace("&", "&amp;")}">' in html_of(mail)


def test_a_test_email_goes_to_the_administrator(tmp_path):
    with MailServer() as mail_server:
        with Server(tmp_path, *flags(mail_server.port)) as server:
            pages = set_up_project(server)
            assert "Send test email" in pages.get(TEMPLATE).text
            answer = save(pages, TEMPLATE + "/test", subject="Draft", text="Draft: %LINK%")
            assert answer.status_code == 200 and "ada@example.com" in answer.text
            mail, = settled(mail_server)
            assert mail["Subject"] == "Draft" and text_of(mail).startswith("Draft: http")
