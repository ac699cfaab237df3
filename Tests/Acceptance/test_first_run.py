"""From a new instance to the first enrolled user."""

import html
import re
import subprocess
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest

from support.pages import Pages, error_of
from support.program import Server, reauthenticate
from support.rest import Api, ok

PASSWORD = "correct horse battery"
USER = {"email": "test@example.com", "password": "correct-horse", "verified": "yes"}


def steps(text):
    """The titles of the first steps, each with its state."""
    return [(re.sub("<[^>]+>", "", title), re.sub("<[^>]+>", "", state)) for title, state in re.findall(
        r"<h3>(.*?)</h3>.*?</div>(<span class=\"chip[^>]*>.*?</span>)</li>", text, re.S)]


def run(text):
    """Runs the commands of a page as they are; returns what they print."""
    commands = html.unescape(re.search(r"<pre[^>]*first user\">(.*?)</pre>", text, re.S)[1])
    done = subprocess.run(["bash", "-c", commands], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def set_up_factor(owner, address):
    """Sets up an own second factor; returns where the page of the recovery codes leads."""
    form = owner.get(address).text
    fields = {name: html.unescape(value) for name, value in re.findall(
        r'type="hidden" name="(ticket|next)" value="([^"]+)"', form)}
    secret = re.search(r"secret=([A-Z2-7]+)", form)[1]
    done = owner.post("/account/totp", fields | {
        "code": pyotp.TOTP(secret).now(), "password": PASSWORD}, address)
    assert done.status_code == 200, done.text
    return re.search(r'class="button primary" href="([^"]+)"', done.text)[1]


@pytest.mark.parametrize("in_tenant", [False, True], ids=["project", "tenant"])
def test_the_commands_of_the_last_step_enroll_a_user(standalone, owner, api, in_tenant):
    """With this server's address and the project's key, as they're copied."""
    tenant = owner.create_tenant(api.project, "acme") if in_tenant else None
    pool = Api(api.url, api.project, api.key, api.token, tenant)
    place = f"/projects/{api.project}" + (f"/tenants/{tenant}" if tenant else "")
    assert "oathtool --totp" not in owner.get(place).text
    pool.switch_totp_on(1)
    assert owner.post(f"{place}/new-user", USER).status_code == 303
    answer = run(owner.get(place).text)
    assert '"idToken"' in answer, answer
    assert "mfaPendingCredential" in ok(pool.sign_in(USER["email"], USER["password"]))
    assert "oathtool --totp" not in owner.get(place).text


def test_an_own_second_factor_is_the_first_step_and_leads_back(tmp_path):
    with Server(tmp_path / "data") as server:
        owner = Pages(server.url).set_up(server.setup_code)
        assert owner.post("/projects/new", {"name": "Crème & Söhne"}).headers["location"] == \
            "/projects/creme-sohne"
        page = owner.get("/projects/creme-sohne").text
        assert steps(page)[0] == ("Your own second factor", "next step"), steps(page)
        setup = html.unescape(re.search(r'href="(/account/totp[^"]*)"', page)[1])
        assert set_up_factor(owner, setup) == "/projects/creme-sohne"
        assert steps(owner.get("/projects/creme-sohne").text)[0] == ("Your own second factor", "done")


@pytest.mark.parametrize("next", [
    "https://evil.example/", "//evil.example", "/\\evil.example", "/nowhere", "/sign-out", "javascript:alert(1)"])
def test_the_second_factor_leads_back_only_to_pages_of_the_console(owner, next):
    form = owner.get("/account/totp", params={"next": next}).text
    assert 'name="next"' not in form and 'name="ticket"' in form


@pytest.mark.parametrize("name, id", [
    ("A name of its own", "a-name-of-its-own"), ("Zürich", "zurich"), ("Shop", "shop-project"),
    ("  42 — Acme, Inc. (test)", "acme-inc-test"), ("Łódź ma wiele bardzo długich nazw", "lodz-ma-wiele-bardzo-dlugich-n")])
def test_a_project_gets_its_id_from_its_name(owner, name, id):
    assert owner.post("/projects/new", {"name": name, "id": ""}).headers["location"] == f"/projects/{id}"
    again = owner.post("/projects/new", {"name": name, "id": ""})
    assert again.status_code == 422 and id in error_of(again.text, "id")


def test_a_name_without_latin_letters_needs_an_id(owner):
    answer = owner.post("/projects/new", {"name": "项目", "id": ""})
    assert answer.status_code == 422 and error_of(answer.text, "id")


def test_an_action_without_a_second_factor_leads_back_to_it(tmp_path):
    with Server(tmp_path / "data") as server:
        owner = Pages(server.url).set_up(server.setup_code)
        owner.create_project("first-run", "First run")
        assert owner.post("/projects/first-run/new-user", USER).status_code == 303
        users = owner.get("/projects/first-run/users").text
        user = re.search(r'href="(/projects/first-run/users/\w{28})"', users)[1]
        action = f"{user}/deletion"
        reauthenticate(server.data, ago=3600)
        links = [html.unescape(link)
                 for link in re.findall(r'href="(/account/totp[^"]*)"', owner.get(action).text)]
        assert links and all(parse_qs(urlsplit(link).query) == {"next": [action]} for link in links), links
        assert set_up_factor(owner, links[0]) == action
