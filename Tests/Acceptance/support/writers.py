"""Clients that write all the time, while something fails."""

import http.client
import json
import threading
import time

from .waiting import until


class Writers:
    """Threads that create users and note which were acknowledged, until they're stopped or the server
    closes a connection."""

    def __init__(self, server, api, project, count=8):
        self.acknowledged, self.errors, self.refusals, self.losses = [], [], [], []
        self._address, self._token, self._project = server.address, api.token, project
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(count)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _write(self, name):
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        for number in range(100_000):
            if self._stopped.is_set():
                return
            id = f"{name}-{number}"
            try:
                connection = http.client.HTTPConnection(*self._address, timeout=60)
                connection.request("POST", f"/v1/projects/{self._project}/accounts",
                                   json.dumps({"localId": id}), headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.losses.append(repr(error))
                return
            if answer.status == 200:
                self.acknowledged.append(id)
            elif answer.status >= 500:
                self.errors.append(answer.status)
                time.sleep(0.05)
            else:
                self.refusals.append(answer.status)

    def wait(self, more, what, seconds=60):
        """Waits until more writes are acknowledged."""
        before = len(self.acknowledged)
        until(lambda: len(self.acknowledged) >= before + more
              or self.refusals or self.losses, what, seconds)
        assert not self.refusals and not self.losses
