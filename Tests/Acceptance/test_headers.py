"""The security headers of every response."""

import re
from html import unescape

import httpx
import pytest

from support.pages import Pages, assert_flags
from support.program import run

pytestmark = pytest.mark.sqlite

PRIVATE = [
    "/", "/projects/new", "/projects/p", "/projects/p/policy", "/projects/p/users",
    "/projects/p/users/u", "/projects/p/users/u/factors/f/removal", "/projects/p/audit",
    "/projects/p/tenants", "/projects/p/tenants/new", "/projects/p/tenants/t",
    "/projects/p/tenants/t/policy", "/projects/p/tenants/t/users", "/projects/p/tenants/t/users/u",
    "/projects/p/tenants/t/users/u/factors/f/removal", "/projects/p/tenants/t/audit", "/sign-out",
]


def check(answer):
    """Checks the headers that every console page must have."""
    fields = answer.headers
    policy = dict(
        (part.strip().split(" ", 1) + [""])[:2]
        for part in fields["content-security-policy"].split(";") if part.strip())
    assert policy["default-src"] == "'none'"
    for name, sources in policy.items():
        assert "unsafe" not in sources and "*" not in sources and "http:" not in sources, name
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert fields["x-content-type-options"] == "nosniff"
    assert fields["referrer-policy"] in ("same-origin", "no-referrer")
    assert "no-store" in fields["cache-control"]
    assert "access-control-allow-origin" not in fields
    # No header reveals a version.
    assert "server" not in fields and "x-powered-by" not in fields


@pytest.mark.parametrize("path", PRIVATE)
def test_signed_out_visitors_are_redirected_to_sign_in(standalone, path):
    answer = httpx.get(standalone.url + path, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
    check(answer)


@pytest.mark.parametrize("path", PRIVATE)
def test_signed_out_visitors_cannot_post(standalone, path):
    answer = httpx.post(standalone.url + path, data={"a": "b"}, headers={"Origin": standalone.url})
    assert answer.status_code in (303, 405)
    check(answer)


def test_every_linked_page_exists_with_the_headers(standalone, owner, tenant_api):
    """Follows every link from the list of projects."""
    tenant_api.switch_totp_on(1)
    _, id_token = tenant_api.user("eve@example.com")
    tenant_api.enroll(id_token)
    waiting, seen, forms, pages = ["/projects"], {"/"}, set(), 0
    while waiting:
        path = waiting.pop()
        if path in seen or path.startswith("/static/"):
            continue
        seen.add(path)
        answer = owner.get(path)
        if path in forms and answer.status_code in (303, 405):
            # The target of a form may accept only POST, or require the form's fields.
            check(answer)
            continue
        assert answer.status_code == 200, path
        check(answer)
        inline = re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", answer.text)
        assert not inline, f"{path}: {inline}"
        pages += 1
        forms.update(
            unescape(form) for form in re.findall(
                r'(?:method="post" |form)action="([^"]*)"', answer.text))
        for link in re.findall(r'(?:href|src|action)="([^"]*)"', answer.text):
            link = unescape(link)
            # This link opens an authenticator app on the same device.
            if path.split("?")[0] == "/account/totp" and link.startswith("otpauth://totp/"):
                continue
            # Guides and the policy page name their sources.
            if re.match(r"/guides/|.*/policy\b", path) and link.startswith("https://"):
                continue
            assert not re.match(r"\w+:|//", link), f"{path} leads elsewhere: {link}"
            # Other tests create projects at the same time; this test's own are enough.
            if link.startswith("/") and ("/projects/project-" not in link
                                         or f"/projects/{tenant_api.project}" in link):
                waiting.append(link.split("#")[0])
    assert pages >= 20


def test_static_files_are_cached(standalone, owner):
    page = owner.get("/projects").text
    for link in re.findall(r'"(/static/[^"]+)"', page):
        answer = httpx.get(standalone.url + unescape(link))
        assert answer.status_code == 200
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "max-age=31536000" in answer.headers["cache-control"]
        again = httpx.get(
            standalone.url + unescape(link), headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304 and again.content == b""


def test_an_unknown_page_is_an_html_page(standalone, owner):
    answer = owner.get("/nothing/here")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    check(answer)
    wrong = owner.http.put("/guides")
    assert wrong.status_code == 405 and "GET" in wrong.headers["allow"]


def test_c14_nothing_shows_the_version_to_outsiders(standalone):
    version = run("--version").stdout.split()[1]
    for path in ("/sign-in", "/healthz", "/readyz", "/nothing", "/v1/projects", "/static/none",
                 "/guides", "/guides/mandatory", "/guides/common/build"):
        answer = httpx.get(standalone.url + path)
        assert version not in answer.text + str(answer.headers), path
        assert "server" not in answer.headers, path


def test_cookies_on_loopback_have_their_attributes(standalone):
    pages = Pages(standalone.url)
    form = pages.get("/sign-in").headers["set-cookie"]
    assert form.startswith("countersign-form=")
    assert_flags(form, same_site="Strict", secure=False)
    session = pages.sign_in().headers.get_list("set-cookie")[0]
    assert session.startswith("countersign-session=")
    assert_flags(session, same_site="Lax", secure=False)
