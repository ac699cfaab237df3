"""A gateway for text messages: an HTTP server that keeps what it gets, and may fail first."""

import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .waiting import until


class Gateway:
    """Responds to requests with the next of `statuses`, then with 200; keeps all requests.

    `before` gets each message before the response, which it can delay."""

    def __init__(self, statuses=(), response=b"", before=lambda message: None):
        self.statuses, self.response, self.requests = list(statuses), response, []
        self.before = before
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                gateway.requests.append((self.path, self.headers, body))
                gateway.before(body)
                try:
                    self.send_response(gateway.statuses.pop(0) if gateway.statuses else 200)
                    self.send_header("Location", "/redirected")
                    self.send_header("Content-Length", str(len(gateway.response)))
                    self.end_headers()
                    self.wfile.write(gateway.response)
                except OSError:
                    # The client has what it needs.
                    pass

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def received(self, count, seconds=40):
        until(lambda: len(self.requests) >= count, f"{count} requests", seconds)
        return self.requests

    def messages(self, count):
        return [json.loads(body) for _, _, body in self.received(count)]


def is_signed(headers, body, secret):
    """Checks a signature as documented, as a receiver would."""
    parts = dict(part.split("=", 1) for part in headers["Countersign-Signature"].split(","))
    code = hmac.new(secret, parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(code, parts["v1"]) and abs(time.time() - int(parts["t"])) < 300
