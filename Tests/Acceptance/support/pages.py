"""The console over plain HTTP, as a browser without scripts uses it."""

import html
import re

import httpx

from .program import Server, reset_sign_ins


class Pages:
    """A browser: its cookies and requests."""

    def __init__(self, url, origin=None, verify=True):
        self.url = url
        self.origin = origin or url
        self.http = httpx.Client(base_url=url, timeout=60, verify=verify)

    def get(self, path, **more):
        return self.http.get(path, **more)

    def token_of(self, path):
        """Returns the CSRF token of a page's forms."""
        return self.hidden_fields(path)["csrf"]

    def hidden_fields(self, path):
        """Returns the CSRF token of a page's forms, the IDs of the factors to remove, and the
        version of the settings that the page shows."""
        page = self.get(path)
        found = re.search(r'name="csrf" value="([^"]+)"', page.text)
        assert found, f"{path} has no form: {page.status_code} {page.text[:300]}"
        shown = re.findall(r'name="enrollment" value="([^"]+)"', page.text)
        version = re.findall(r'name="(settings-version)" value="([^"]+)"', page.text)
        return {"csrf": html.unescape(found.group(1)), "enrollment": [html.unescape(id) for id in shown],
                **dict(version)}

    def post(self, path, form, page=None, **more):
        """Submits a form as the page at `page` (by default the same path) would."""
        fields = {**self.hidden_fields(page or path), **form}
        headers = {"Origin": self.origin, **more.pop("headers", {})}
        return self.http.post(path, data=fields, headers=headers, **more)

    def set_up(self, code, email="ada@example.com", password="correct horse battery", name="Ada"):
        answer = self.post("/setup", {
            "code": code, "name": name, "email": email, "password": password})
        assert answer.status_code == 303, answer.text
        reset_sign_ins(Server.folders[self.url])
        return self

    def sign_in(self, email="ada@example.com", password="correct horse battery", **more):
        return self.post("/sign-in", {"email": email, "password": password, **more})

    def create_project(self, id, name=None):
        answer = self.post("/projects/new", {"id": id, "name": name or id})
        assert answer.status_code == 303, answer.text

    def api_key(self, project):
        """Returns the project's API key from its overview page."""
        facts = self.get(f"/projects/{project}").text.split("API key</dt>")[1]
        return re.search(r">([\w-]{20,})<", facts).group(1)

    def create_tenant(self, project, name):
        """Creates a tenant and returns its ID."""
        answer = self.post(f"/projects/{project}/tenants/new", {"name": name})
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].rsplit("/", 1)[1]


def error_of(text, field):
    """Returns the error message of a field, or None."""
    found = re.search(rf'id="{field}-error">(.*?)<', text)
    return html.unescape(found.group(1)) if found else None


def assert_flags(cookie, same_site, secure):
    """Checks the attributes of a `Set-Cookie` header."""
    flags = [flag.strip().lower() for flag in cookie.split(";")[1:]]
    assert "httponly" in flags and "path=/" in flags and f"samesite={same_site.lower()}" in flags
    assert ("secure" in flags) == secure
    assert not any(flag.startswith("domain=") for flag in flags)
