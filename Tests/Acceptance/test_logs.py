"""The log as JSON lines, and the ID that connects it with the audit log and error pages."""

import json
import re
import signal

import httpx
import pyotp
import pytest

from support.pages import Pages
from support.program import ROOT, Server, execute, query, run
from support.rest import Api, create_administrator, create_token
from support.waiting import until


def events(server):
    """Returns the lines of the server's output, each of which must be a JSON object."""
    lines = [json.loads(line) for line in list(server.output)]
    for line in lines:
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]), line
        assert line["level"] in {"info", "warning", "error"} and line["event"], line
    return lines


def named(server, name):
    return [line for line in events(server) if line["event"] == name]


def setup_code(server):
    return until(lambda: named(server, "server.setup_code"), "there's a code")[0]["code"]


@pytest.fixture
def server(tmp_path):
    # Without a terminal, JSON is the default.
    with Server(tmp_path, env={"COUNTERSIGN_LOG_FORMAT": ""}) as server:
        yield server


def test_every_line_is_json_without_a_terminal(server):
    started = until(lambda: named(server, "server.started"), "it has started")[0]
    assert started["url"] == server.url and started["profile"] == "standalone"
    Pages(server.url).set_up(setup_code(server))
    server.process.send_signal(signal.SIGHUP)
    until(lambda: server.process.poll() is None and httpx.get(server.url + "/healthz"), "it runs")
    assert server.stop() == 0
    stopped = named(server, "server.stopped")[0]
    assert stopped["level"] == "info" and stopped["writes"] > 0
    requests = named(server, "request")
    assert {"/setup", "/healthz"} <= {line["path"] for line in requests}
    assert all(re.fullmatch(r"[0-9A-Z]{12}", line["id"]) for line in requests)


def test_a_request_has_one_id_in_the_log_and_in_the_audit_log(server):
    pages = Pages(server.url)
    pages.set_up(setup_code(server))
    pages.create_project("linked")
    file = pages.get("/projects/linked/audit.csv").text
    ids = set(re.findall(r"\b[0-9A-HJKMNP-TV-Z]{12}\b", file))
    assert ids
    logged = until(
        lambda: [line for line in named(server, "request") if line["id"] in ids],
        "the request that created the project is logged")
    assert {("POST", "/projects/new")} <= {(line["method"], line["path"]) for line in logged}


def test_a_request_has_one_id_on_the_error_page_and_in_the_log(server):
    page = httpx.get(f"{server.url}/no/such/page").text
    shown = re.search(r"\b([0-9A-HJKMNP-TV-Z]{12})\b", page).group(1)
    logged = until(
        lambda: [line for line in named(server, "request") if line["id"] == shown], "it's logged")
    assert logged[0]["path"] == "/no/such/page" and logged[0]["status"] == 404


def test_c12_a_denied_request_is_logged_with_who_lacks_what(server):
    pages = Pages(server.url)
    pages.set_up(setup_code(server))
    pages.create_project("guarded")
    create_administrator(server.data, "ann@example.com", "auditor")
    auditor = Pages(server.url)
    auditor.sign_in("ann@example.com")
    page = auditor.get("/projects/new")
    assert page.status_code == 403
    token = create_token(server.data, "guarded", "auditor")
    api = Api(server.url, "guarded", pages.api_key("guarded"), token)
    assert api.admin("DELETE", "tenants/none", version="v2").status_code == 403
    # Without a session there's nobody to deny, only the sign-in page.
    assert httpx.get(f"{server.url}/projects/guarded/users").status_code == 303
    by_auditor, by_token = until(
        lambda: named(server, "request.denied")[1:] and named(server, "request.denied"),
        "both are logged")
    assert by_auditor["id"] in page.text and by_auditor["level"] == "warning"
    [[auditor_id]] = query(
        server.data, "SELECT administrator_id FROM administrator WHERE email = 'ann@example.com'")
    assert (by_auditor["actor"], by_auditor["actor_id"]) == ("administrator", auditor_id)
    assert by_auditor["permission"] == "createProject"
    assert (by_token["actor"], by_token["permission"]) == ("service token", "manageTenants")


def test_the_cause_of_an_error_has_the_id_of_the_error_page(tmp_path):
    with Server(tmp_path, "--log-format", "json", "--access-log", "none") as server:
        pages = Pages(server.url)
        pages.set_up(setup_code(server))
        damage(tmp_path)
        answers = [pages.get("/account") for _ in range(50)]
        assert {answer.status_code for answer in answers} == {503}
        failed = until(lambda: named(server, "request.failed"), "the causes are logged")
        assert failed[0]["id"] in answers[0].text
        assert failed[0]["level"] == "error" and failed[0]["cause"] in failed[0]["message"]
        server.stop()
    # The log is limited, and says how much is missing.
    assert len(named(server, "request.failed")) == 30
    left_out = [line for line in named(server, "log.suppressed")
                if line["suppressed"] == "request.failed"]
    assert sum(line["count"] for line in left_out) == 20


def damage(data):
    """Makes reads of sessions fail."""
    execute(data, "ALTER TABLE console_session RENAME TO former_console_session")


@pytest.mark.parametrize("flags,count", [
    (["--listen", "nonsense", "--profile", "both"], 2), (["--log-format", "xml"], 1),
    (["--listen", "127.0.0.1:0", "--data", "/nowhere"], 1)])
def test_why_a_server_does_not_start_is_json_as_the_rest_of_its_log(tmp_path, flags, count):
    data = [] if "--data" in flags else ["--data", tmp_path]
    result = run("serve", "--assets", ROOT, *data, *flags, env={"COUNTERSIGN_LOG_FORMAT": ""})
    assert result.returncode == 78 and result.stdout == ""
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [("server.failed", "error")] * count
    assert all(line["message"] for line in lines)


def test_text_is_for_people(tmp_path):
    with Server(tmp_path, "--log-format", "text", "--access-log", "none") as server:
        server.setup_code
        server.stop()
    assert server.output[0].startswith("Countersign ")
    assert not any(line.startswith("{") for line in server.output)
