"""A public https URL, and a proxy that forwards plain http to the server."""

import re

import httpx
import pytest

from support.pages import assert_flags
from support.program import Server, free_port
from support.rest import create_token, ok

PUBLIC = "https://mfa.example.com"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    port = free_port()
    flags = ["--public-url", PUBLIC, "--trusted-proxy", "127.0.0.1"]
    data = tmp_path_factory.mktemp("proxied")
    with Server(data, *flags, listen=f"127.0.0.1:{port}") as server:
        assert server.url == PUBLIC
        server.setup_code
        server.url = f"http://127.0.0.1:{port}"
        yield server


def send(proxied, method, path, cookies=None, **more):
    headers = {"Host": "mfa.example.com", "X-Forwarded-Proto": "https",
               "X-Forwarded-For": "203.0.113.7", **more.pop("headers", {})}
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return httpx.request(method, proxied.url + path, headers=headers, **more)


@pytest.fixture(scope="module")
def cookies(proxied):
    """Completes the setup with cookies set by hand; returns those of the form and the session."""
    page = send(proxied, "GET", "/setup")
    form_cookie = page.headers["set-cookie"]
    token = re.search(r'name="csrf" value="([^"]+)"', page.text).group(1)
    name, value = form_cookie.split(";")[0].split("=", 1)
    answer = send(
        proxied, "POST", "/setup", cookies={name: value}, headers={"Origin": PUBLIC},
        data={"csrf": token, "code": proxied.setup_code, "name": "Ada",
              "email": "ada@example.com", "password": "correct horse battery"})
    assert answer.status_code == 303, answer.text
    return form_cookie, answer.headers.get_list("set-cookie")[0]


def test_c2_cookies_are_limited_to_this_host(proxied, cookies):
    form, session = cookies
    assert form.startswith("__Host-countersign-form=")
    assert_flags(form, same_site="Strict", secure=True)
    assert session.startswith("__Host-countersign-session=")
    assert_flags(session, same_site="Lax", secure=True)
    name, value = session.split(";")[0].split("=", 1)
    page = send(proxied, "GET", "/projects", cookies={name: value})
    assert page.status_code == 200
    # A cookie without the prefix, which another host could set, is ignored.
    assert send(
        proxied, "GET", "/projects", cookies={"countersign-session": value}).status_code == 303


def test_c7_hsts_is_sent(proxied):
    fields = send(proxied, "GET", "/sign-in").headers
    assert "max-age=31536000" in fields["strict-transport-security"]


EVIL = {"Host": "evil.example", "X-Forwarded-Host": "evil.example",
        "Forwarded": "host=evil.example"}


def test_c8_the_host_header_is_ignored(proxied, cookies):
    """Links have the public URL, whatever the headers of the request that they're created by."""
    owner = dict([cookies[1].split(";")[0].split("=", 1)])

    def submit(path, headers, **form):
        page = send(proxied, "GET", path, cookies=owner, headers=headers)
        token = re.search(r'name="csrf" value="([^"]+)"', page.text).group(1)
        answer = send(proxied, "POST", path, cookies=owner, headers={**headers, "Origin": PUBLIC},
                      data={"csrf": token, **form})
        assert "evil" not in page.text + answer.text + str(answer.headers)
        return answer

    assert submit("/projects/new", EVIL, id="acme-app", name="Acme").status_code == 303
    invited = submit("/administrators/new", EVIL, email="nina@example.com", name="Nina",
                     role="auditor", place="*")
    assert f"{PUBLIC}/invitation?token=" in invited.text
    bearer = {"Authorization": f"Bearer {create_token(proxied.data, 'acme-app', 'owner')}"}
    accounts = "/v1/projects/acme-app/accounts"
    ok(send(proxied, "POST", accounts, headers=bearer, json={"email": "eve@example.com"}))
    answer = ok(send(proxied, "POST", f"{accounts}:sendOobCode", headers={**EVIL, **bearer}, json={
        "requestType": "PASSWORD_RESET", "email": "eve@example.com", "returnOobLink": True}))
    assert answer["oobLink"].startswith(f"{PUBLIC}/")


def test_c5_a_form_from_another_origin_is_refused(proxied):
    page = send(proxied, "GET", "/sign-in")
    if page.status_code == 303:
        page = send(proxied, "GET", "/setup")
    token = re.search(r'name="csrf" value="([^"]+)"', page.text).group(1)
    name, value = page.headers["set-cookie"].split(";")[0].split("=", 1)
    for origin in ("https://evil.example", proxied.url, "null"):
        answer = send(
            proxied, "POST", "/sign-in", cookies={name: value}, headers={"Origin": origin},
            data={"csrf": token, "email": "ada@example.com", "password": "x"})
        assert answer.status_code == 403, origin


def test_the_log_has_the_client_address(proxied):
    send(proxied, "GET", "/healthz")
    proxied.wait_for_line(r"(203\.0\.113\.7)")
