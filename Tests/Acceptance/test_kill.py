"""Pulling the plug: what was acknowledged stays."""

import http.client
import json
import threading

from support.pages import Pages
from support.program import Server
from support.rest import Api, make_token, ok
from support.waiting import until
from test_data_folder import found

CONNECTIONS = 64


def test_every_acknowledged_write_survives_a_kill(tmp_path):
    with Server(tmp_path) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project("killed-off")
        token = make_token(tmp_path, "killed-off", "owner")
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
        # In the middle of it, with every connection at work.
        until(lambda: len(acknowledged) > 2000 or failures, "2000 writes are acknowledged", 60)
        assert server.kill() == -9
        for writer in writers:
            writer.join()
        assert not failures, failures[0]
        assert len({id.split("-")[0] for id in acknowledged}) == CONNECTIONS

    with Server(tmp_path) as server:
        assert found(server, "killed-off", token, acknowledged) == set(acknowledged)
        api = Api(server.url, "killed-off", "k", token)
        ok(api.admin("POST", "accounts", {"localId": "afterwards"}))
        assert server.stop() == 0
