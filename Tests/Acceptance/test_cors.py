"""Calls from web pages of applications: the API allows every origin, the emulator those of this
machine, and the console none."""

import http.server
import threading

import httpx
import pytest

from support.program import Server, run

ORIGIN = "https://shop.example"
LOCAL = "http://localhost:3000"
CLEAR = "/emulator/v1/projects/demo-project/accounts"


@pytest.fixture(params=[("standalone", ORIGIN), ("standalone", "null"), ("emulator", LOCAL)])
def allowed(request):
    """A server, and the origin of a page that may call it."""
    profile, origin = request.param
    return request.getfixturevalue(profile), origin


@pytest.fixture(params=["standalone", "emulator"])
def server(request):
    return request.getfixturevalue(request.param)


def preflight(server, origin, path="/v1/accounts:signUp"):
    return httpx.options(server.url + path, headers={
        "Origin": origin, "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-client-version,x-firebase-appcheck",
        "Access-Control-Request-Private-Network": "true"})


def test_a_preflight_request_is_answered(allowed):
    server, origin = allowed
    answer = preflight(server, origin)
    assert answer.status_code == 204 and answer.content == b""
    fields = answer.headers
    assert fields["access-control-allow-origin"] == origin
    assert "POST" in fields["access-control-allow-methods"]
    assert "x-firebase-appcheck" in fields["access-control-allow-headers"]
    assert fields["access-control-allow-private-network"] == "true"
    assert "access-control-allow-credentials" not in fields
    assert "Origin" in fields["vary"]


@pytest.mark.parametrize("path,status", [
    ("/v1/accounts:signUp?key=wrong", None), ("/v2/nothing", 404), ("/v1/accounts:signUp", 403),
])
def test_errors_are_readable_across_origins(allowed, path, status):
    server, origin = allowed
    answer = httpx.post(server.url + path, json={}, headers={"Origin": origin})
    assert answer.headers["access-control-allow-origin"] == origin
    assert "access-control-allow-credentials" not in answer.headers
    assert status is None or answer.status_code == status


def test_the_error_for_a_large_body_is_readable_across_origins(allowed):
    server, origin = allowed
    answer = httpx.post(
        server.url + "/v1/accounts:signUp?key=k", content=b"a" * 3_000_000,
        headers={"Origin": origin})
    assert answer.status_code == 413
    assert answer.headers["access-control-allow-origin"] in (origin, "*")


def sign_up(server):
    answer = httpx.post(server.url + "/v1/accounts:signUp?key=k", json={})
    assert answer.status_code == 200
    return answer.json()["localId"]


def exists(server, user):
    found = httpx.post(
        server.url + "/v1/projects/demo-project/accounts:lookup", json={"localId": [user]},
        headers={"Authorization": "Bearer owner"})
    return "users" in found.json()


@pytest.mark.parametrize("origin", [
    "http://localhost:3000", "https://app.localhost", "http://127.0.0.1:5173", "http://[::1]:8100",
    "capacitor://localhost", "https://localhost", "ionic://localhost", None])
def test_local_pages_and_programs_may_call_the_emulator(emulator, origin):
    user = sign_up(emulator)
    headers = {"Origin": origin} if origin else {}
    answer = httpx.delete(emulator.url + CLEAR, headers=headers)
    assert answer.status_code == 200
    assert answer.headers.get("access-control-allow-origin") == origin
    assert not exists(emulator, user)


@pytest.mark.parametrize("origin", [
    ORIGIN, "null", "http://localhost.evil.example", "http://192.168.0.7:3000", "file://"])
def test_other_pages_can_neither_call_nor_clear_the_emulator(emulator, origin):
    user = sign_up(emulator)
    for answer in (
            preflight(emulator, origin), preflight(emulator, origin, CLEAR),
            httpx.delete(emulator.url + CLEAR, headers={"Origin": origin}),
            httpx.post(emulator.url + "/v1/accounts:signUp?key=k", headers={"Origin": origin},
                       content='{"email": "x@example.com"}')):
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
        assert "access-control-allow-private-network" not in answer.headers
    assert exists(emulator, user)


def test_configured_origins_may_call_the_emulator(tmp_path):
    flags = ["--emulator-origin", f"{ORIGIN},null", "--emulator-origin", "http://192.168.0.7:3000"]
    with Server(tmp_path, *flags, profile="emulator") as server:
        for origin in (ORIGIN, "null", "http://192.168.0.7:3000", LOCAL):
            answer = preflight(server, origin)
            assert answer.status_code == 204
            assert answer.headers["access-control-allow-origin"] == origin
        assert preflight(server, "https://other.example").status_code == 403
    refused = run("serve", "--data", tmp_path, "--emulator-origin", ORIGIN)
    assert refused.returncode == 78 and "--emulator-origin" in refused.stderr


@pytest.mark.parametrize("path", ["/", "/sign-in", "/projects/p", "/static/countersign.css"])
def test_the_console_allows_no_other_origin(server, path):
    for method in ("GET", "OPTIONS"):
        answer = httpx.request(
            method, server.url + path, headers={"Origin": ORIGIN, "Accept": "text/html"})
        assert "access-control-allow-origin" not in answer.headers


@pytest.fixture
def shop():
    """A page of another origin: its port is different."""
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


def test_a_page_in_a_browser_signs_a_user_up(emulator, chromium, shop):
    """Chromium itself checks the headers."""
    page = chromium.new_page()
    page.goto(shop)
    answer = page.evaluate("""async (url) => {
      const answer = await fetch(url + "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", {
        method: "POST", headers: {"Content-Type": "application/json", "X-Client-Version": "t"},
        body: JSON.stringify({email: "web@example.com", password: "bright-swordfish"})});
      return await answer.json();
    }""", emulator.url)
    assert answer["email"] == "web@example.com" and answer["idToken"]
    page.close()
