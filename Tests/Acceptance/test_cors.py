"""Calls from web pages of applications: the API answers every origin, the console none."""

import http.server
import threading

import httpx
import pytest

ORIGIN = "https://shop.example"


@pytest.fixture(params=["standalone", "emulator"])
def server(request):
    return request.getfixturevalue(request.param)


def test_a_preflight(server):
    answer = httpx.options(server.url + "/v1/accounts:signUp", headers={
        "Origin": ORIGIN, "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-client-version,x-firebase-appcheck",
        "Access-Control-Request-Private-Network": "true"})
    assert answer.status_code == 204 and answer.content == b""
    fields = answer.headers
    assert fields["access-control-allow-origin"] == ORIGIN
    assert "POST" in fields["access-control-allow-methods"]
    assert "x-firebase-appcheck" in fields["access-control-allow-headers"]
    assert fields["access-control-allow-private-network"] == "true"
    assert "access-control-allow-credentials" not in fields
    assert "Origin" in fields["vary"]


@pytest.mark.parametrize("path,status", [
    ("/v1/accounts:signUp?key=wrong", None), ("/v2/nothing", 404), ("/v1/accounts:signUp", 403),
])
def test_errors_can_be_read(server, path, status):
    answer = httpx.post(server.url + path, json={}, headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "access-control-allow-credentials" not in answer.headers
    assert status is None or answer.status_code == status


def test_a_body_that_is_too_large_can_be_read(server):
    answer = httpx.post(
        server.url + "/v1/accounts:signUp?key=k", content=b"a" * 3_000_000,
        headers={"Origin": ORIGIN})
    assert answer.status_code == 413
    assert answer.headers["access-control-allow-origin"] in (ORIGIN, "*")


@pytest.mark.parametrize("path", ["/", "/sign-in", "/projects/p", "/static/countersign.css"])
def test_the_console_answers_no_other_origin(server, path):
    for method in ("GET", "OPTIONS"):
        answer = httpx.request(
            method, server.url + path, headers={"Origin": ORIGIN, "Accept": "text/html"})
        assert "access-control-allow-origin" not in answer.headers


@pytest.fixture
def shop():
    """A page of another origin: the port is part of it."""
    class Shop(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<h1>Shop</h1>")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_page_in_a_browser_signs_somebody_up(emulator, chromium, shop):
    """Chromium itself checks the fields."""
    page = chromium.new_page()
    page.goto(shop)
    answer = page.evaluate("""async (url) => {
      const answer = await fetch(url + "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", {
        method: "POST", headers: {"Content-Type": "application/json", "X-Client-Version": "t"},
        body: JSON.stringify({email: "web@example.com", password: "swordfish"})});
      return await answer.json();
    }""", emulator.url)
    assert answer["email"] == "web@example.com" and answer["idToken"]
    page.close()
