"""Sign-in methods turned off that leave users with a second factor without a way to sign in."""

from support.mail import MailServer, text_of
from support.pages import Pages, error_of
from support.program import Server
from support.rest import Api, create_token, ok, refused
from support.waiting import until

PROJECT = "outside"
METHODS = f"/projects/{PROJECT}/settings/sign-in-methods"


def test_users_left_outside_are_counted_by_the_console_and_reported_for_programs(tmp_path):
    with MailServer() as mail_server:
        flags = ["--smtp", f"smtp://127.0.0.1:{mail_server.port}", "--smtp-from", "accounts@example.com"]
        with Server(tmp_path / "data", *flags) as server:
            pages = Pages(server.url).set_up(server.setup_code)
            pages.create_project(PROJECT, "Outside")
            token = create_token(server.data, PROJECT, "owner")
            api = Api(server.url, PROJECT, pages.api_key(PROJECT), token)
            api.switch_totp_on()
            for email in ["eve@example.com", "kim@example.com"]:
                api.enroll(api.user(email)[1])
            api.user("without-factor@example.com")

            sentence = "2 users with a second factor would have no way to sign in."
            asked = pages.post(METHODS, {"was-password": "on"})
            assert asked.status_code == 422 and sentence in asked.text
            assert error_of(asked.text, "note")
            assert ok(api.sign_in("eve@example.com"))["mfaPendingCredential"]
            saved = pages.post(METHODS, {"was-password": "on", "note": "Moving to another provider."})
            assert saved.status_code == 303, saved.text
            refused(api.sign_in("eve@example.com"), "PASSWORD_LOGIN_DISABLED")
            assert "Moving to another provider." in pages.get(f"/projects/{PROJECT}/audit").text

            def set_password(is_on):
                ok(api.admin(
                    "PATCH", "config", {"signIn": {"email": {"enabled": is_on, "passwordRequired": is_on}}},
                    version="v2", params={"updateMask": "signIn.email"}))

            def reports():
                received = [mail for mail in mail_server.mails if "can no longer sign in" in mail["Subject"]]
                return [(mail["To"], " ".join(text_of(mail).split())) for mail in received]

            for is_on in [True, False, True, False]:
                set_password(is_on)
            until(reports, "the owner is told", 30)
            (recipient, text), = reports()
            assert recipient == "ada@example.com"
            assert "2 users with a second factor have no other way to sign in." in text
            assert METHODS in text
