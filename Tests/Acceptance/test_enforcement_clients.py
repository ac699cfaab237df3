"""Enforcement of enrollment as unmodified client libraries see it.

An application signs users in with firebase-rest-api, and its back end verifies their tokens with
firebase-admin. Both call production's hostnames, which lead to the server as in docs/connect.md.
"""

import datetime
import json
import socket
import subprocess
from types import SimpleNamespace

import firebase_admin
import pytest
import requests

from support import rest_client
from support.mail import MailServer, text_of
from support.nodes import deployment
from support.pages import Pages
from support.rest import claims, create_token, ok
from support.waiting import until
from test_admin_sdk_standalone import COMMANDS, PROJECT, application, program
from test_federation import custom_token, new_key, register
from test_mail import flags
from test_policy import change

PASSWORD = "bright-swordfish"
DUE = {"mfa_enrollment_required": True}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server that sends email, with a project, and the libraries of its application."""
    files = tmp_path_factory.mktemp("certificates")
    subprocess.run(["sh", "-euc", COMMANDS], cwd=files, check=True, capture_output=True)
    with MailServer() as mail, pytest.MonkeyPatch.context() as process:
        tls, folder = (files / "tls.pem", files / "tls.key"), tmp_path_factory.mktemp("libraries")
        with deployment(folder, *flags(mail.port), tls=tls) as server:
            owner = Pages(server.url, verify=False).set_up(server.setup_code)
            owner.create_project(PROJECT)
            server.key = owner.api_key(PROJECT)
            process.setattr(socket, "getaddrinfo", socket.getaddrinfo)
            process.setenv("REQUESTS_CA_BUNDLE", str(files / "ca.pem"))
            process.setenv("SERVICE_TOKEN", create_token(server.data, PROJECT, "application"))
            sdk = {}
            exec(program(server), sdk)
            sdk["HOSTS"].add("securetoken.googleapis.com")
            api = application(server, files)
            api.token = create_token(server.data, PROJECT, "owner")
            api.switch_totp_on(1)
            ok(api.admin("PATCH", "config", {"signIn": {"anonymous": {"enabled": True}}},
                         version="v2", params={"updateMask": "signIn.anonymous.enabled"}))
            key = new_key()
            register(server, PROJECT, key)
            client = rest_client.auth().Auth(server.key, None, requests.Session())
            yield SimpleNamespace(
                api=api, owner=owner, mail=mail, client=client, admin=sdk["auth"], mode=None,
                custom_token=lambda uid: custom_token(key, uid=uid))
            firebase_admin.delete_app(sdk["app"])


def enforce(world, mode):
    """Sets what happens to users who are due: nothing, the claim, or a refusal."""
    if mode == world.mode:
        return
    world.mode = mode
    change(world.owner, f"/projects/{PROJECT}/policy", pattern="mandatory", **{
        "enforcement": mode, "enforced-from": "2020-01-01", "grace": "0"})


def failure(call, *arguments):
    """Returns the message of the error that the library raises."""
    with pytest.raises(requests.HTTPError) as raised:
        call(*arguments)
    return json.loads(raised.value.args[1])["error"]["message"]


def test_a_claim_reaches_the_back_end_with_every_kind_of_token(world):
    enforce(world, "claim")
    world.api.user("claimed@example.com")
    user = world.client.sign_in_with_email_and_password("claimed@example.com", PASSWORD)
    decoded = world.admin.verify_id_token(user["idToken"], check_revoked=True)
    assert decoded["countersign"] == DUE and decoded["email"] == "claimed@example.com"
    renewed = world.client.refresh(user["refreshToken"])
    assert world.admin.verify_id_token(renewed["idToken"])["countersign"] == DUE
    custom = world.client.sign_in_with_custom_token(world.custom_token(user["localId"]))
    assert world.admin.verify_id_token(custom["idToken"])["countersign"] == DUE
    cookie = world.admin.create_session_cookie(user["idToken"], datetime.timedelta(hours=1))
    assert world.admin.verify_session_cookie(cookie)["countersign"] == DUE
    # Anonymous users are never due.
    anonymous = world.client.sign_in_anonymous()
    assert "countersign" not in world.admin.verify_id_token(anonymous["idToken"])


def test_the_claim_is_gone_after_enrollment_and_codes_are_required(world):
    enforce(world, "claim")
    _, id_token = world.api.user("enrolled@example.com")
    _, enrolled = world.api.enroll(id_token)
    decoded = world.admin.verify_id_token(enrolled["idToken"])
    assert "countersign" not in decoded
    assert decoded["firebase"]["sign_in_second_factor"] == "totp"
    renewed = world.client.refresh(enrolled["refreshToken"])
    assert "countersign" not in world.admin.verify_id_token(renewed["idToken"])
    # The library knows no second factors: it gets no token from a password alone.
    first = world.client.sign_in_with_email_and_password("enrolled@example.com", PASSWORD)
    assert "idToken" not in first and first["mfaPendingCredential"]


def test_a_refusal_is_an_error_with_its_code(world):
    enforce(world, "claim")
    world.api.user("refused@example.com")
    user = world.client.sign_in_with_email_and_password("refused@example.com", PASSWORD)
    enforce(world, "refuse")
    for call, *arguments in (
        (world.client.sign_in_with_email_and_password, "refused@example.com", PASSWORD),
        (world.client.refresh, user["refreshToken"]),
        (world.client.sign_in_with_custom_token, world.custom_token(user["localId"])),
    ):
        message = failure(call, *arguments)
        assert message.startswith("MFA_ENROLLMENT_REQUIRED : "), message
    until(lambda: any(
        mail["To"].addresses[0].addr_spec == "refused@example.com"
        and "/__/auth/enroll?" in text_of(mail) for mail in world.mail.mails),
        "the link to enroll")
    # The ID token from before is valid until it expires, and the back end's calls aren't affected.
    assert world.client.get_account_info(user["idToken"])["users"][0]["localId"] == user["localId"]
    assert world.admin.verify_id_token(user["idToken"], check_revoked=True)["countersign"] == DUE
    assert world.admin.get_user(user["localId"]).email == "refused@example.com"
    assert world.client.sign_in_anonymous()["idToken"]


def test_without_enforcement_nothing_changes_for_libraries(world):
    enforce(world, "off")
    world.api.user("free@example.com")
    user = world.client.sign_in_with_email_and_password("free@example.com", PASSWORD)
    assert "countersign" not in world.admin.verify_id_token(user["idToken"])
    assert "countersign" not in claims(world.client.refresh(user["refreshToken"])["idToken"])
