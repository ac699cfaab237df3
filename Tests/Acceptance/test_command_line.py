"""The command line: help, usage errors, invalid configuration, input, and output."""

import os
import pty
import re
import ssl
import subprocess

import pytest

from support.pages import Pages
from support.program import PROGRAM, ROOT, Server, environment, free_port, run
from support.rest import create_token

COMMANDS = ["serve", "admin create", "admin list", "admin reset-password", "admin reset-totp",
            "project create", "project list", "tenant create", "tenant list", "token create",
            "token list", "token revoke", "keys list", "keys rotate", "keys retire", "keys rotate-master", "clock confirm",
            "evidence key", "init", "backup", "restore", "import", "export"]


def test_help_lists_every_command():
    result = run("--help")
    assert result.returncode == 0
    for command in COMMANDS:
        assert command in result.stdout
    assert run("--version").stdout.startswith("countersign ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    for flag in ("--help", "-h"):
        result = run(*command.split(), flag)
        assert result.returncode == 0 and result.stderr == ""
        assert f"countersign {command}" in result.stdout and "--data DIR" in result.stdout


def test_no_command_refuses_an_option_that_its_help_lists(tmp_path):
    """Each option is tried alone, with the data folder of an instance or without one."""
    refused, tried = [], 0
    text = run("--help").stdout
    names = re.findall(r"^  ([a-z-]+(?: [a-z-]+)?)$", text, re.M)
    assert len(names) > 35 and "demo" in names
    for number, name in enumerate(names):
        options = re.findall(r"^  --([\w-]+)(?: (\S+))?$", run(*name.split(), "--help").stdout, re.M)
        # It would run on; check-config has the same options.
        for option, value in options if name != "serve" else []:
            words = ["--data", tmp_path / f"{number}-{option}"] if ("data", "DIR") in options else []
            if value in ("FILE", "DIR"):
                value = tmp_path / "value"
            if name == "demo":
                # It's refused, since creating one takes seconds.
                words[1].mkdir()
                (words[1] / "notes.txt").touch()
            if option != "data":
                words += [f"--{option}={value}"] if value else [f"--{option}"]
            result = run(*name.split(), *words, input="")
            tried += 1
            if re.search(rf"unknown option|[Rr]emove --{option}\b|--{option} has no effect", result.stderr):
                refused.append((name, option, result.stderr))
    assert refused == [] and tried > 100


@pytest.mark.parametrize("words", [
    [], ["nonsense"], ["serve", "--nonsense"], ["serve", "extra"], ["serve", "--data"],
    ["admin"], ["admin", "create"], ["admin", "create", "--data", "d", "--email", "e"],
    ["admin", "create", "--data", "d", "--email", "e", "--role", "king"],
    ["token", "create", "--data", "d", "--project", "p", "--role", "king"],
    ["token", "revoke", "--data", "d", "--project", "p"], ["backup", "--data", "d"],
    ["export", "--data", "d", "--project", "p", "--format", "json", "-"],
    ["user", "export", "--data", "d", "--project", "p", "--uid", "u", "-"],
    ["keys"], ["keys", "retire", "--data", "d"], ["keys", "rotate", "--soon", "--data", "d"],
], ids=" ".join)
def test_invalid_usage_is_refused(words):
    result = run(*words)
    assert result.returncode == 64, result.stderr
    assert (result.stderr or result.stdout).strip()


def test_text_from_outside_cannot_control_the_terminal():
    result = run("evidence", "\x1b[2K\x9b1A\x7f")
    assert result.returncode == 64 and r"\u001B[2K\u009B1A\u007F" in result.stderr
    assert not [letter for letter in result.stderr if letter < " " and letter != "\n"]


def test_all_configuration_problems_are_reported_at_once(tmp_path):
    result = run(
        "serve", "--listen", "0.0.0.0:0", "--profile", "emulator", "--assets", tmp_path,
        "--tls-certificate", "c.pem", "--data", tmp_path / "data")
    assert result.returncode == 78
    problems = result.stderr.strip().splitlines()
    for word in ("--public-url", "--tls-key", "--emulator-beyond-loopback", "--assets"):
        assert any(word in problem for problem in problems), word
    assert len(problems) >= 4 and all(problem.endswith(".") for problem in problems)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words,word", [
    (["--listen", "nonsense"], "--listen"), (["--listen", "127.0.0.1:99999"], "--listen"),
    (["--profile", "both"], "--profile"), (["--public-url", "mfa.example.com"], "--public-url"),
    (["--public-url", "https://mfa.example.com/path"], "--public-url"),
    (["--project", "p"], "--project"),
    (["--tls-certificate", "/nowhere", "--tls-key", "/nowhere"], "/nowhere"),
    (["--access-log", "/nowhere/log"], "/nowhere/log"), (["--audit-file", "/nowhere/log"], "/nowhere/log"),
])
def test_an_invalid_configuration_is_refused(tmp_path, words, word):
    run("init", "--data", tmp_path)
    result = run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", tmp_path, *words)
    assert result.returncode == 78 and word in result.stderr


def test_a_port_in_use_is_refused(tmp_path):
    with Server(tmp_path / "one") as server:
        _, port = server.address
        run("init", "--data", tmp_path / "other")
        result = run("serve", "--listen", f"127.0.0.1:{port}", "--assets", ROOT,
                     "--data", tmp_path / "other")
        assert result.returncode == 75 and str(port) in result.stderr


def test_environment_variables_configure_the_server(tmp_path):
    port = free_port()
    with Server(tmp_path / "flag", listen=f"127.0.0.1:{port}", env={
            "COUNTERSIGN_LISTEN": "127.0.0.1:1", "COUNTERSIGN_DATA": str(tmp_path / "variable"),
            "COUNTERSIGN_PROFILE": "emulator"}) as server:
        # Flags override the environment.
        assert server.address[1] == port
        assert "emulator" in server.text
        assert (tmp_path / "flag/master.key").exists()
        assert not (tmp_path / "variable").exists()


def test_an_administrator_is_created_with_a_password_from_standard_input(standalone):
    words = ["admin", "create", "--data", standalone.data, "--role", "auditor"]
    created = run(*words, "--email", "carl@example.com", "--name", "Carl",
                  input="carls own password\n")
    assert created.returncode == 0 and "carls own password" not in created.stdout + created.stderr
    pages = Pages(standalone.url)
    assert pages.sign_in("carl@example.com", "carls own password").status_code == 303
    listed = run("admin", "list", "--data", standalone.data).stdout
    assert "carl@example.com\tCarl\tauditor" in listed

    taken = run(*words, "--email", "carl@example.com", input="carls own password\n")
    assert taken.returncode == 78 and "already" in taken.stderr
    weak = run(*words, "--email", "weak@example.com", input="short\n")
    assert weak.returncode == 78 and "weak" in weak.stderr
    none = run(*words, "--email", "none@example.com", input="")
    assert none.returncode == 64


def test_a_token_is_printed_once(standalone, api):
    token = create_token(standalone.data, api.project, "application")
    assert re.fullmatch(r"\S{30,}", token)
    listed = run("token", "list", "--data", standalone.data, "--project", api.project).stdout
    assert "application" in listed and token not in listed
    for file in standalone.data.iterdir():
        assert token.encode() not in file.read_bytes()
    unknown = run("token", "create", "--data", standalone.data, "--project", "nobody-has-this",
                  "--role", "owner")
    assert unknown.returncode == 78 and unknown.stdout == ""


def test_the_server_serves_https(tmp_path):
    """With a self-signed certificate, cookies and URLs are those of https."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2",
         "-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem"],
        check=True, capture_output=True)
    flags = ["--tls-certificate", str(tmp_path / "certificate.pem"),
             "--tls-key", str(tmp_path / "key.pem")]
    with Server(tmp_path / "data", *flags) as server:
        assert server.url.startswith("https://127.0.0.1:")
        pages = Pages(server.url, verify=ssl.create_default_context(
            cafile=tmp_path / "certificate.pem"))
        pages.set_up(server.setup_code)
        assert all(cookie.secure and cookie.name.startswith("__Host-")
                   for cookie in pages.http.cookies.jar)
        assert pages.get("/projects").status_code == 200
        assert server.stop() == 0


@pytest.mark.parametrize("group", ["admin", "token", "token-key", "keys", "clock"])
def test_a_command_group_lists_its_commands(group):
    alone, asked, wrong = run(group), run(group, "--help"), run(group, "nonsense")
    assert (alone.returncode, asked.returncode, wrong.returncode) == (64, 0, 64)
    for result in (alone.stdout, asked.stdout, wrong.stderr):
        assert re.search(rf"^  {group} \w+", result, re.M), result
    assert "nonsense" in wrong.stderr


def run_on_terminal(words, *lines):
    """Returns a command's output on a terminal where lines are typed, and its exit code."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [str(PROGRAM), *map(str, words)], stdin=terminal, stdout=terminal, stderr=terminal,
        env=environment(words=words), start_new_session=True)
    os.close(terminal)
    shown = b""
    for line in lines:
        while not shown.rstrip(b" ").endswith(b":"):
            shown += os.read(controller, 1000)
        os.write(controller, line.encode() + b"\n")
        shown += b"|"
    while True:
        try:
            part = os.read(controller, 1000)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(controller)
    return shown.decode(), process.wait(60)


def test_a_password_is_typed_twice_without_echo(tmp_path):
    assert run("init", "--data", tmp_path / "data").returncode == 0
    words = ["admin", "create", "--data", tmp_path / "data", "--email", "ada@example.com",
             "--role", "owner"]
    shown, code = run_on_terminal(words, "correct horse battery", "correct horse batteries")
    assert code == 78 and "don't match" in shown and "horse" not in shown, shown
    shown, code = run_on_terminal(words, "correct horse battery", "correct horse battery")
    assert code == 0 and "horse" not in shown, shown
    assert "ada@example.com" in run("admin", "list", "--data", tmp_path / "data").stdout


def test_projects_and_tenants_are_created_and_listed(tmp_path):
    data = tmp_path / "data"

    def countersign(*words, **more):
        return run(*words, "--data", data, **more)
    assert run("init", "--data", data).returncode == 0
    assert "no projects" in countersign("project", "list").stderr
    assert countersign("project", "create", "acme-app", "--name", "Acme").returncode == 0
    for id, problem in [("acme-app", "already in use"), ("Acme", "6 to 30 characters")]:
        refused = countersign("project", "create", id)
        assert refused.returncode == 78 and problem in refused.stderr
    assert re.fullmatch(r"acme-app\t\d{12}\tAcme\n", countersign("project", "list").stdout)

    refused = countersign("tenant", "create", "europe", "--project", "acme-apps")
    assert refused.returncode == 78 and "no project acme-apps" in refused.stderr
    created = countersign("tenant", "create", "europe", "--project", "acme-app")
    assert created.returncode == 0, created.stderr
    listed = countersign("tenant", "list", "--project", "acme-app").stdout
    assert re.fullmatch(r"europe-\w{5}\teurope\n", listed) and listed.split()[0] in created.stdout

    for tenant in [], ["--tenant", "europe"]:
        refused = countersign("token", "create", "--project", "acme-apps", *tenant,
                              "--role", "owner")
        assert refused.returncode == 78 and "no project acme-apps" in refused.stderr
    refused = countersign("token", "create", "--project", "acme-app", "--tenant", "europe",
                          "--role", "owner")
    assert refused.returncode == 78 and "no tenant europe" in refused.stderr

    # None of these asks for a password.
    for words, problem in [
            (["--email", "nonsense", "--role", "owner"], "valid email"),
            (["--email", "a@example.com", "--role", "owner", "--project", "acme-apps"],
             "no project acme-apps")]:
        refused = countersign("admin", "create", *words, input="")
        assert refused.returncode == 78 and problem in refused.stderr, refused.stderr
