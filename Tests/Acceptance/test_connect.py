"""The sample code on the overview pages for connecting an application, run as printed."""

import html
import json
import os
import re
import subprocess

import httpx
import jwt
import pytest

from support.rest import Api, claims, create_administrator, create_token, ok
from support.pages import Pages
from test_guides import opened


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


@pytest.fixture
def namesakes(standalone, api, owner):
    """Three pools of a project: ID tokens of a user with the same UID and a second factor in each."""
    pools = [api, *(
        Api(api.url, api.project, api.key, api.token, owner.create_tenant(api.project, name))
        for name in ("acme", "other"))]
    tokens = []
    for pool in pools:
        pool.switch_totp_on()
        pool.token = create_token(standalone.data, api.project, "owner", pool.tenant)
        ok(pool.admin("POST", "accounts", {
            "localId": "namesake", "email": "ada@example.com", "password": "bright-swordfish",
            "emailVerified": True}))
        _, session = pool.enroll(ok(pool.sign_in("ada@example.com"))["idToken"])
        tokens.append(session["idToken"])
    assert {claims(token)["sub"] for token in tokens} == {"namesake"}
    return list(zip(pools, tokens))


def test_the_python_sample_refuses_tokens_of_other_pools(owner, namesakes):
    for pool, _ in namesakes:
        path = f"/projects/{pool.project}" + (f"/tenants/{pool.tenant}" if pool.tenant else "")
        check = compile(sample(owner.get(path).text, "Python"), "sample", "exec")
        for other, token in namesakes:
            if other is pool:
                exec(check, {"id_token": token})
            else:
                with pytest.raises(PermissionError):
                    exec(check, {"id_token": token})
        head, body, signature = token.split(".")
        with pytest.raises(jwt.InvalidSignatureError):
            exec(check, {"id_token": f"{head}.{body}.{signature[:20]}AAAA{signature[24:]}"})


@pytest.mark.parametrize("name, end, passes, fails", [
    ("mandatory", "gate(claims)", '"pass"', '"refuse"'),
    ("step-up", 'guard("pay-out", claims).status', "200", "401"),
])
def test_a_guides_check_refuses_tokens_of_other_pools(
        owner, namesakes, tmp_path, name, end, passes, fails):
    for pool, _ in namesakes:
        samples = [html.unescape(re.sub(r"<[^>]+>", "", each)) for each in re.findall(
            r"<pre[^>]*aria-label=\"[^\"]*: your backend\"[^>]*><code>(.*?)</code></pre>",
            opened(owner, f"{name}/build", pool), re.DOTALL)]
        code = "\n".join(each for each in samples if "claims.firebase.tenant" in each)
        program = tmp_path / f"{name}.mjs"
        program.write_text(f"{code}\nconst claims = JSON.parse(process.argv[2]);\n"
                           f"console.log(JSON.stringify({end}));\n")
        for other, token in namesakes:
            done = subprocess.run(
                ["node", program, json.dumps(claims(token))], capture_output=True, text=True,
                check=True, timeout=60)
            assert done.stdout.strip() == (passes if other is pool else fails)


def test_the_node_sample_compares_the_tenant(owner, namesakes):
    for pool, _ in namesakes:
        path = f"/projects/{pool.project}" + (f"/tenants/{pool.tenant}" if pool.tenant else "")
        [line] = [each for each in sample(owner.get(path).text, "Node.js").splitlines()
                  if "firebase.tenant" in each]
        for other, token in namesakes:
            done = subprocess.run(
                ["node", "-e", f"const payload = JSON.parse(process.argv[1]);\n{line}",
                 json.dumps(claims(token))], capture_output=True, text=True, timeout=60)
            assert (done.returncode == 0) is (other is pool), done.stderr
