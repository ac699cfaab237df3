"""Verifies the documentation: its calls, and the tables, links, and commands of every page."""

import json
import os
import re
import subprocess

import pytest

from support.agents import set_rules
from support.program import ROOT, Server, execute, reauthenticate, run
from support.rest import Api, ok

README = (ROOT / "README.md").read_text()
ENROLLMENT = (ROOT / "docs/first-enrollment.md").read_text()
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
             *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]


def rows(document, heading):
    """Returns the cells of the first table below a heading of a document."""
    below = (ROOT / document).read_text().split(f"# {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", below, re.M).group(0).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def headings(name, level="##+"):
    """Returns the headings of a document, without lines of code that look like one."""
    text = re.sub(r"^ *```.*?^ *```", "", (ROOT / name).read_text(), flags=re.M | re.S)
    return re.findall(rf"^{level} (.*)$", text, re.M)


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_documents_are_short():
    texts = {name: (ROOT / name).read_text() for name in DOCUMENTS}
    assert len(README.split()) <= 900
    assert sum(len(text.split()) for name, text in texts.items() if "/reference/" not in name) <= 48_500
    assert len(texts["SECURITY.md"].encode()) <= 25 * 1024
    for page in ("install", "backup", "monitoring", "logs", "incidents", "imports", "administration"):
        assert len(texts[f"docs/{page}.md"].encode()) <= 15 * 1024, page


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_long_document_has_a_table_of_contents(name):
    text, parts = (ROOT / name).read_text(), headings(name, "##")
    if text.count("\n") > 100 and len(parts) > 1:
        above = text.split(f"\n## {parts[1]}\n")[0]
        assert [part for part in parts[1:] if f"](#{anchor(part)})" not in above] == []


def test_the_example_request_and_response_are_correct(api, tmp_path):
    call, answer = re.search(r"```sh\n(curl .*?)```\n\n```json\n(.*?)```", ENROLLMENT, re.S).groups()
    api.switch_totp_on()
    _, id_token = api.user("eve@example.com")
    result = subprocess.run(
        call.replace("http://127.0.0.1:8080", api.url), shell=True, cwd=tmp_path,
        env={**os.environ, "KEY": api.key, "ID_TOKEN": id_token}, capture_output=True, text=True)
    real, shown = json.loads(result.stdout), json.loads(answer)
    assert list(real) == list(shown) == ["totpSessionInfo"]
    assert list(real["totpSessionInfo"]) == list(shown["totpSessionInfo"])
    for name in ("verificationCodeLength", "hashingAlgorithm", "periodSec"):
        assert real["totpSessionInfo"][name] == shown["totpSessionInfo"][name]


def test_the_commands_of_the_first_enrollment_work(tmp_path):
    """Runs the commands as printed, in one shell, against an empty emulator."""
    section = ENROLLMENT.split("## With curl\n", 1)[1].split("\n## ", 1)[0]
    start, *steps = re.findall(r"```sh\n(.*?)```", section, re.S)
    assert start.startswith("script/server --profile emulator ") and len(steps) == 6
    with Server(tmp_path / "data", profile="emulator") as server:
        script = "\necho =====\n".join(steps).replace("http://127.0.0.1:8080", server.url)
        ran = subprocess.run(
            ["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    answers = ran.stdout.split("=====\n")
    assert not any('"error"' in answer for answer in answers), ran.stdout
    assert '"idToken"' in answers[3]
    assert '"mfaPendingCredential"' in answers[4] and '"idToken"' not in answers[4]
    assert '"idToken"' in answers[5] and '"refreshToken"' in answers[5]


CALLS = [
    (verb, path, status)
    for heading in ("Calls", "Version 3")
    for cell, _, status in rows("docs/api.md", heading)
    for verbs, path in [cell.strip("`").rsplit(" ", 1)]
    for verb in verbs.split(", ")
]


@pytest.mark.parametrize("verb,path,status", CALLS, ids=[" ".join(call[:2]) for call in CALLS])
def test_a_documented_call_exists(tenant_api, emulator, verb, path, status):
    api = tenant_api
    if "emulator profile" in status:
        api = Api(emulator.url, "demo-project", "k", "owner", "documented")
    # Calls on accounts also exist below a tenant.
    places = [path] + ([path.replace("{p}", "{p}/tenants/{t}")] if "{p}/accounts" in path else [])
    for place in places:
        address = place.replace("{p}", api.project).replace("{t}", api.tenant)
        answer = api.http.request(
            verb, address, params={"key": api.key},
            headers={"Authorization": f"Bearer {api.token}"},
            **({"json": {}} if verb in ("POST", "PATCH") else {}))
        assert (answer.status_code != 404) == (not status.startswith("not yet")), answer.text
        assert answer.status_code not in (405, 500)
        assert answer.headers["content-type"].startswith("application/json")


def remove_factor(owner, tenant_api, pool, server):
    """Removes the factor of the pages' user; returns the removal's ID."""
    reauthenticate(server.data)
    [user] = ok(tenant_api.admin("POST", "accounts:lookup", {"email": ["eve@example.com"]}))["users"]
    page = f"{pool}/users/{user['localId']}"
    assert owner.post(f"{page}/factors/removal", {"reason": "lost"}).status_code == 303
    return re.search(r"/removals/([^/]+)/undo", owner.get(page).text).group(1)


def request_removal(owner, pool):
    """Requests a bulk removal that requires another administrator's approval; returns the IDs of
    the list and of the request."""
    set_rules(owner, pool, approval_over_users="0")
    answer = owner.post(f"{pool}/bulk-removals", {"list": "eve@example.com"})
    assert answer.status_code == 303, answer.text
    job = answer.headers["location"]
    assert owner.post(job, {"reason": "lost"}).status_code == 303
    waiting = re.search(rf'href="{pool}/approvals/([^"]+)"', owner.get("/approvals").text)
    return job.rsplit("/", 1)[1], waiting.group(1)


def request_campaign(tenant_api, owner, pool):
    """Requests an enrollment campaign for a user without a second factor; returns its number."""
    uid, _ = tenant_api.user("ivy@example.com")
    set_rules(owner, pool, approval_over_users="0")
    answer = owner.post(f"{pool}/enrollment-links", {"user": f"{pool}/users/{uid}"}, f"{pool}/users")
    assert answer.status_code == 303, answer.text
    campaign = answer.headers["location"]
    assert owner.post(campaign, {"days": "7", "reminders": "on"}).status_code == 303
    return campaign.rsplit("/", 1)[1]


def request_weaker_policy(owner, pool):
    """Requests approval of a weaker policy; returns the request's number."""
    set_rules(owner, pool, approval_over_users="0", policy_approval_over_users="0")
    version = re.search(r'name="version" value="(\d+)"', owner.get(f"{pool}/policy").text)
    answer = owner.post(f"{pool}/policy/changes", {
        "version": version.group(1), "totp": "on", "intervals": "10",
        "sms": "off", "pattern": "none", "note": "Clocks are off."}, f"{pool}/policy")
    assert answer.status_code == 303, answer.text
    approvals = owner.get("/approvals").text
    return re.search(rf'href="{pool}/policy-approvals/([^"]+)"', approvals).group(1)


def block(administrator, tenant, server):
    """Blocks an administrator as if they had hit the hourly action limit."""
    execute(
        server.data, """INSERT INTO support_hold (administrator_id, scope_key, held_at)
                        SELECT ?, scope_key, 1 FROM scope WHERE tenant_id = ?
                        ON CONFLICT DO NOTHING""", administrator, tenant)


def add_passkey(administrator, server):
    """Stores a passkey that no authenticator has, until `remove_passkeys`; returns its ID."""
    execute(
        server.data, """INSERT INTO passkey (passkey_id, administrator_id, credential_id, cose_key,
                          sign_count, aaguid, transports, is_backup_eligible, is_backed_up, name,
                          created_at)
                        VALUES ('a-passkey', ?, ?, ?, 0, ?, '', 0, 0, 'Laptop', 1)
                        ON CONFLICT DO NOTHING""", administrator, b"\1", b"\0", b"\0")
    return "a-passkey"


def remove_passkeys(server):
    execute(server.data, "DELETE FROM passkey")


def link_provider(administrator, server):
    """Sets up a sign-in provider that the administrator is linked with, until `remove_provider`."""
    execute(
        server.data, """INSERT INTO sign_in_provider (provider_id, name, issuer, client_id, scopes,
                          groups_claim, mfa_values)
                        VALUES (1, 'Example ID', 'https://id.example.com', 'console', 'openid',
                          'groups', '["mfa"]')
                        ON CONFLICT DO NOTHING""")
    execute(
        server.data, """INSERT INTO administrator_provider_link (issuer, subject, administrator_id,
                          groups)
                        VALUES ('https://id.example.com', 's', ?, '[]')
                        ON CONFLICT DO NOTHING""", administrator)


def remove_provider(server):
    execute(server.data, "DELETE FROM administrator_provider_link")
    execute(server.data, "DELETE FROM sign_in_provider")


@pytest.mark.parametrize("cell", [row[0] for row in rows("docs/pages.md", "Pages")])
def test_a_documented_page_exists(owner, tenant_api, standalone, request, cell):
    tenant_api.switch_totp_on(1)
    uid, id_token = tenant_api.user("eve@example.com")
    tenant_api.enroll(id_token)
    [user] = ok(tenant_api.admin("POST", "accounts:lookup", {"localId": [uid]}))["users"]
    pool = f"/projects/{tenant_api.project}/tenants/{tenant_api.tenant}"
    ok(tenant_api.admin(
        "POST", "oauthIdpConfigs", {"issuer": "https://login.example.com", "clientId": "client-1"},
        version="v2", params={"oauthIdpConfigId": "oidc.acme"}))
    removal = remove_factor(owner, tenant_api, pool, standalone) if "{removal}" in cell else ""
    job, waiting = request_removal(owner, pool) if "{number}" in cell else ("", "")
    policy = request_weaker_policy(owner, pool) if "/policy-approvals/" in cell else ""
    if "/enrollment-campaigns/" in cell:
        job = request_campaign(tenant_api, owner, pool)
    administrator = re.search(
        r'href="/administrators/([0-9a-f-]{36})"', owner.get("/administrators").text).group(1)
    if "/blocked-agents/" in cell:
        block(administrator, tenant_api.tenant, standalone)
    remove_passkeys(standalone)
    passkey = add_passkey(administrator, standalone) if "{passkey}" in cell else ""
    if "provider" in cell:
        link_provider(administrator, standalone)
        request.addfinalizer(lambda: remove_provider(standalone))
    for path in re.findall(r"`([^`]+)`", cell):
        address = re.sub(r"^S", pool, path)
        for name, value in {
            "{project}": tenant_api.project, "{uid}": uid, "{guide}": "mandatory",
            "{administrator}": administrator, "{removal}": removal, "{provider}": "oidc.acme",
            "{email}": "reset-password", "{passkey}": passkey,
            "{enrollment}": user["mfaInfo"][0]["mfaEnrollmentId"],
            "{number}": policy if "policy-approvals" in path
            else waiting if "approvals" in path else job,
        }.items():
            address = address.replace(name, value)
        # Pages for signed-out visitors redirect administrators who are signed in.
        expected = (303, 404) if path in (
            "/setup", "/sign-in", "/invitation", "/__/auth/action", "/__/auth/enroll",
            "/__/auth/links", "/__/auth/not-me") else (200,)
        if path in ("S/users.csv", "S/policy/affected.csv", "S/reports/locked.csv", "S/reports/factors.csv",
                    "S/reports/exemptions.csv", "/exemptions.csv", "S/users/{uid}/code-attempts.csv"):
            # Exports of users accept only POST.
            expected = (405,)
        if path in ("S/users/{uid}/caller-code", "/administrators/{administrator}/grants/end"):
            # Forms of other pages; their own addresses lead there.
            expected = (303,)
        if path.startswith("/projects/{project}/settings/connection"):
            # Of connected projects.
            expected = (404,)
        if path == "/":
            # Leads to the start page of the role.
            expected = (303,)
        if path in ("/attention", "/csp-reports"):
            # Accept only POST.
            expected = (405,)
        if path == "/administrators/{administrator}/sessions":
            # One's own sessions are on the account's page.
            expected = (303,)
        if path in ("/account/reauthentication", "/account/reauthentication/passkey"):
            # Leads to what can be confirmed, and back.
            expected = (200, 303)
        assert owner.get(address).status_code in expected, address


def test_the_documented_options_match_the_program():
    output = run("serve", "--help").stdout
    options = set(re.findall(r"^  (--[a-z-]+(?: [A-Z:]+)?)$", output, re.M))
    assert options == {row[0].strip("`") for row in rows("docs/configuration.md", "Options")}
    variables = re.findall(r"\[(COUNTERSIGN_\w+)\]", output)
    assert len(variables) == len(options)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_in_documents_work(name):
    for link, part in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", (ROOT / name).read_text()):
        if link.startswith("https://"):
            continue
        target = (ROOT / name).parent / link if link else ROOT / name
        assert target.exists(), link
        if part and target.suffix == ".md":
            assert part in map(anchor, headings(target)), (link, part)


def test_documented_commands_and_flags_exist():
    text = "\n".join((ROOT / name).read_text() for name in DOCUMENTS)
    for script in set(re.findall(r"\b(script/\w+)", text)):
        assert os.access(ROOT / script, os.X_OK), script
    helps = {}
    for words in set(re.findall(r"countersign (admin [\w-]+|keys [\w-]+|token-key \w+|token \w+|connection \w+|clock \w+|policy \w+|evidence \w+|audit \w+|user \w+|project \w+|tenant \w+|migrate|doctor|check-config|manual|serve|init|backup|restore|move|import|export|demo)\b", text)):
        helps[words] = run(*words.split(), "--help")
        assert helps[words].returncode == 0, words
    known = "\n".join(result.stdout for result in helps.values())
    known += (ROOT / "script/bootstrap").read_text() + (ROOT / "script/format").read_text()
    known += (ROOT / "script/package").read_text() + (ROOT / "script/container").read_text()
    known += (ROOT / "script/bench").read_text() + (ROOT / "script/screenshots").read_text()
    known += (ROOT / "script/soak").read_text() + (ROOT / "script/test").read_text()
    known += " --filter --totp --disable-default-traits "
    # Flags of other programs in docs/install.md.
    known += " --webroot --deploy-hook --name --since --grep --reuid --regid --init-groups --rm "
    known += " --read-only --cap-drop --detach --env --property --value --now "
    # Flags of createdb in docs/configuration.md.
    known += " --encoding --lc-collate --lc-ctype --template --owner "
    # A flag of pg_basebackup in docs/scaling.md.
    known += " --checkpoint "
    # Flags of gcloud in docs/connected-projects.md.
    known += " --title --permissions --member --iam-account "
    # A flag of vacuumdb in docs/user-data.md.
    known += " --full "
    # Chromium's flags.
    known += " --user-data-dir --host-resolver-rules --ignore-certificate-errors-spki-list "
    for flag in set(re.findall(r"(?<![-\w])--[a-z][a-z0-9-]+", text)):
        assert re.search(rf"{flag}\b", known), flag
