"""Killing the server: acknowledged writes are preserved."""

import http.client
import json
import threading
import time

from support.pages import Pages
from support.program import Server
from support.rest import Api, create_token, ok, refused
from support.waiting import until
from test_data_folder import found

CONNECTIONS = 64


def test_every_acknowledged_write_survives_a_kill(tmp_path):
    with Server(tmp_path) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("killed-off")
        token = create_token(tmp_path, "killed-off", "owner")
        api = Api(server.url, "killed-off", pages.api_key("killed-off"), token)
        acknowledged, failures = [], []

        def write(name):
            connection = http.client.HTTPConnection(*server.address, timeout=60)
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            number = 0
            try:
                while True:
                    id = f"{name}-{number}"
                    connection.request(
                        "POST", "/v1/projects/killed-off/accounts", json.dumps({"localId": id}),
                        headers)
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status != 200:
                        failures.append(body)
                        return
                    assert json.loads(body)["localId"] == id
                    acknowledged.append(id)
                    number += 1
            except (OSError, http.client.HTTPException):
                # The server is gone.
                return

        writers = [threading.Thread(target=write, args=(n,)) for n in range(CONNECTIONS)]
        for writer in writers:
            writer.start()
        until(lambda: len(acknowledged) > 2000 or failures, "2000 writes are acknowledged", 60)
        # A user signs in while every connection is writing.
        sign_in = used_code(api)
        assert server.kill() == -9
        for writer in writers:
            writer.join()
        assert not failures, failures[0]
        assert len({id.split("-")[0] for id in acknowledged}) == CONNECTIONS

    with Server(tmp_path) as server:
        assert found(server, "killed-off", token, acknowledged) == set(acknowledged)
        api = Api(server.url, "killed-off", api.key, token)
        # A code that was accepted before the kill isn't accepted again.
        first = ok(api.sign_in("eve@example.com"))
        refused(api.factor("mfaSignIn:finalize", {
            **sign_in, "mfaPendingCredential": first["mfaPendingCredential"]}), "INVALID_CODE")
        ok(api.admin("POST", "accounts", {"localId": "afterwards"}))
        assert server.stop() == 0


def used_code(api):
    """Enrolls a user and signs them in; returns the acknowledged call."""
    api.switch_totp_on(10)
    _, id_token = api.user("eve@example.com")
    authenticator, _ = api.enroll(id_token)
    first = ok(api.sign_in("eve@example.com"))
    call = {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": authenticator.at(time.time() + 30)}}
    ok(api.factor("mfaSignIn:finalize", call))
    return call
