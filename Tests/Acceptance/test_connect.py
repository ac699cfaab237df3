"""The sample code on the overview pages for connecting an application, run as printed."""

import html
import json
import os
import re
import subprocess

import httpx
import pytest

from support.rest import create_administrator
from support.pages import Pages


def sample(page, name):
    """Returns the sample of a platform, as a person would copy it."""
    found = re.search(
        rf"<h3>{name}</h3>.*?<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert found, f"no sample for {name}"
    return html.unescape(found.group(1)).strip()


def run(line, **more):
    done = subprocess.run(
        ["sh", "-c", line.replace("curl ", "curl -sS -w '\\n%{http_code}' ", 1)],
        capture_output=True, text=True, timeout=60, env={**os.environ, **more})
    body, status = done.stdout.rsplit("\n", 1)
    assert (done.returncode, status) == (0, "200"), done.stdout + done.stderr
    return json.loads(body)


@pytest.mark.parametrize("of_tenant", [False, True])
def test_curl_samples_of_a_standalone_server_work(api, owner, of_tenant):
    tenant = owner.create_tenant(api.project, "acme") if of_tenant else None
    path = f"/projects/{api.project}" + (f"/tenants/{tenant}" if tenant else "")
    lines = sample(owner.get(path).text, "curl").splitlines()
    answer = run(lines[0])
    assert answer["authorizedDomains"] == ["localhost"]
    assert len(lines) == (2 if of_tenant else 1)
    if of_tenant:
        assert run(lines[1], TOKEN=api.token)["name"].endswith(f"/tenants/{tenant}")


def test_curl_samples_of_an_emulator_work(emulator):
    create_administrator(emulator.data, "ada@example.com", "owner")
    pages = Pages(emulator.url)
    assert pages.sign_in().status_code == 303
    pages.create_project("some-app")
    tenant = pages.create_tenant("some-app", "shop")
    project = run(sample(pages.get("/projects/some-app").text, "curl"))
    assert project["name"].endswith("/config")
    page = pages.get(f"/projects/some-app/tenants/{tenant}").text
    assert run(sample(page, "curl"))["name"].endswith(f"/tenants/{tenant}")
    assert emulator.url.split("//")[1] in sample(page, "Node.js")
    assert f'"{tenant}"' in sample(page, "Python")


def test_a_revoked_key_is_refused_at_once(api, owner):
    assert httpx.get(f"{api.url}/v1/projects?key={api.key}").status_code == 200
    keys = f"/projects/{api.project}/settings/keys"
    page = owner.get(keys).text
    [revocation] = re.findall(r'href="([^"]+/keys/[^"]+/revocation)"', page)
    assert api.key not in revocation
    assert owner.post(revocation, {}).status_code == 303
    refused = httpx.get(f"{api.url}/v1/projects?key={api.key}")
    assert refused.status_code == 400
    assert refused.json()["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert owner.post(keys, {}).status_code == 303
    new = owner.api_key(api.project)
    assert new != api.key
    assert httpx.get(f"{api.url}/v1/projects?key={new}").status_code == 200


def test_a_deleted_project_accepts_no_credentials(api, owner):
    _, id_token = api.user("mallory@example.com")
    path = f"/projects/{api.project}/settings/deletion"
    assert owner.post(path, {"confirmation": "something else"}).status_code == 422
    assert owner.post(path, {"confirmation": api.project}).status_code == 303
    assert owner.get(f"/projects/{api.project}").status_code == 404
    lookup = httpx.post(
        f"{api.url}/v1/accounts:lookup?key={api.key}", json={"idToken": id_token})
    assert lookup.status_code == 400
    bearer = {"Authorization": f"Bearer {api.token}"}
    config = httpx.get(f"{api.url}/v2/projects/{api.project}/config", headers=bearer)
    assert config.status_code == 401
