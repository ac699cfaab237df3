"""Text that is expensive to normalize costs the server no more than plain text of its length."""

import os
import threading

import httpx
import pytest

from support.pages import Pages
from support.program import Server
from support.rest import Api, create_token

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}
REPORT = {"Content-Type": "application/csp-report"}
TICKS = os.sysconf("SC_CLK_TCK")
# An allowance, in seconds, for the clock's resolution of 10 ms and the rest of the request.
SLACK = 0.1


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A separate server, and an API key."""
    with Server(tmp_path_factory.mktemp("text")) as server:
        owner = Pages(server.url).set_up(server.setup_code)
        owner.create_project("hostile-text")
        api = Api(server.url, "hostile-text", owner.api_key("hostile-text"),
                  create_token(server.data, "hostile-text", "owner"))
        # Without a credential in the header, a large body isn't read at all.
        session = "; ".join(f"{name}={value}" for name, value in owner.http.cookies.items())
        api.credentials = {"Authorization": f"Bearer {api.token}", "Cookie": session}
        yield server, api


def marks(size):
    """Returns a letter with combining marks that have to be reordered."""
    return ("a" + "\u0301\u0323" * (size // 4)).encode()[:size - (size + 1) % 2]


def plain(size):
    return b"a" * size


def coded(text):
    return b"".join(b"%%%02X" % byte if byte > 127 else bytes([byte]) for byte in text)


def requests(api, text, size):
    """Returns requests with the same text in different places, as (method, path, body, headers)."""
    form, small = coded(text(size)), text(4_095)
    key = api.key
    template = "notification.sendEmail.resetPasswordTemplate"
    return {
        "form field name": ("POST", "/sign-in", form + b"=1&email=a", FORM),
        "form field value": ("POST", "/sign-in", b"csrf=a&email=" + form, FORM),
        "token form": ("POST", f"/v1/token?key={key}", form + b"=1", FORM),
        "JSON member name": (
            "POST", f"/v1/accounts:signUp?key={key}", b'{"' + text(size) + b'":1}', JSON),
        "email at sign-up": (
            "POST", f"/v1/accounts:signUp?key={key}",
            b'{"password":"secret-1","email":"' + text(size) + b'"}', JSON),
        "email at sign-in": (
            "POST", f"/v1/accounts:signInWithPassword?key={key}",
            b'{"password":"secret-1","email":"' + text(size) + b'"}', JSON),
        "query": ("GET", "/sign-in?next=" + coded(small).decode(), b"", {}),
        "query name": ("GET", "/sign-in?" + coded(small).decode() + "=1", b"", {}),
        "path": ("GET", "/projects/" + coded(small).decode(), b"", {}),
        "cookie": ("GET", "/sign-in", b"", {"Cookie": b"countersign-form=" + small}),
        "coded cookie": (
            "GET", "/sign-in", b"", {"Cookie": b"countersign-form=" + coded(small)}),
        "provider's answer": (
            "GET", "/sign-in/provider/callback?code=x&state=" + coded(small).decode(), b"", {}),
        "report of a violation": (
            "POST", "/csp-reports",
            b'{"csp-report":{"effective-directive":"img-src","document-uri":"' + small + b'"}}',
            REPORT),
        "form of a provider": (
            "POST", f"/v1/accounts:signInWithIdp?key={key}",
            b'{"requestUri":"http://localhost","postBody":"providerId=' + form + b'"}', JSON),
        "name of a factor in JSON": (
            "POST", f"/v2/accounts/mfaEnrollment:finalize?key={key}",
            b'{"idToken":"x","displayName":"' + text(size) + b'","totpVerificationInfo":{}}', JSON),
        "email template": (
            "PATCH", f"/v2/projects/hostile-text/config?updateMask={template}",
            b'{"notification":{"sendEmail":{"resetPasswordTemplate":{"body":"' + text(size)
            + b'"}}}}', {**JSON, "Authorization": f"Bearer {api.token}"}),
        "header": ("GET", "/v1/projects", b"", {"Authorization": b"Bearer " + small}),
    }


def cpu(server):
    """Returns the CPU time that the server has used, in seconds."""
    with open(f"/proc/{server.process.pid}/stat", "rb") as file:
        fields = file.read().rsplit(b")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def cost(server, api, request, times=5):
    method, path, body, headers = request
    origin = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    # Hashing a password would dominate the cost; these requests fail before that.
    before = cpu(server)
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for _ in range(times):
            answer = client.request(method, path, content=body, headers={
                **origin, **api.credentials, **headers})
            assert answer.status_code < 500 and answer.status_code != 413, answer.text
    return cpu(server) - before


@pytest.mark.parametrize("place", list(requests(type("Key", (), {"key": "", "token": ""}), plain, 9)))
def test_combining_marks_cost_no_more_than_letters(target, place):
    server, api = target
    # Twice this is just below the body limit; form encoding takes three bytes per byte.
    size = 480 * 1024 if "JSON" in place or "email" in place else 160 * 1024
    cheap = cost(server, api, requests(api, plain, size)[place])
    costly = cost(server, api, requests(api, marks, size)[place])
    double = cost(server, api, requests(api, marks, 2 * size)[place])
    assert costly <= 3 * cheap + SLACK, f"{place}: {cheap} s plain, {costly} s with marks"
    assert double <= 2.5 * costly + SLACK, f"{place}: {costly} s, then {double} s"


def test_hostile_requests_do_not_delay_others(target):
    server, api = target
    places = requests(api, marks, 320 * 1024)
    chosen = [places[name] for name in (
        "JSON member name", "email at sign-up", "form field name")]
    before = cpu(server)
    threads = [threading.Thread(target=cost, args=(server, api, request, 2)) for request in chosen]
    for thread in threads:
        thread.start()
    answers = 0
    with httpx.Client(base_url=server.url, timeout=30) as client:
        while any(thread.is_alive() for thread in threads) or answers == 0:
            assert client.get("/healthz").text.strip() == "ok"
            answers += 1
    for thread in threads:
        thread.join()
    # Unmitigated, one of them takes many seconds.
    assert cpu(server) - before < 2


def test_an_overlong_name_gets_a_clear_error(target):
    server, api = target
    with httpx.Client(base_url=server.url) as client:
        long = client.post(f"/v1/accounts:signUp?key={api.key}", content=b'{"' + plain(257) + b'":1}',
                           headers=JSON)
        assert long.status_code == 400
        assert "longer than 256 bytes" in long.json()["error"]["message"]
        page = client.post("/sign-in", content=plain(257) + b"=1",
                           headers={**FORM, "Origin": server.url, "Sec-Fetch-Site": "same-origin"})
        assert page.status_code == 400
        assert "longer than 256 bytes" in page.text
        cookie = client.get("/sign-in", headers={"Cookie": plain(257) + b"=1"})
        assert cookie.status_code == 400
