"""The clicks that other tests rely on."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Slow(BaseHTTPRequestHandler):
    """Serves a form, and a page that is sent in two parts."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        if not self.path.startswith("/next"):
            self.wfile.write(b"<!doctype html><form action='/next'><button>Go on</button></form>")
            return
        self.wfile.write(b"<!doctype html><h1>First</h1>" + b" " * 4_096)
        self.wfile.flush()
        time.sleep(0.4)
        self.wfile.write(b"<p>Second</p>")

    def log_message(self, *_):
        pass


@pytest.fixture
def slow():
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_click_waits_for_the_whole_new_page(chromium, slow):
    page = chromium.new_page()
    page.goto(slow)
    page.get_by_role("button").click()
    assert page.locator("p").count() == 1
    page.close()
