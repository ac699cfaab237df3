"""The configuration file, check-config, and doctor."""

import json
import re

import httpx

from support.program import DATABASES, ROOT, Server, run


def write(folder, text):
    path = folder / "countersign.conf"
    path.write_text(text)
    return path


def test_a_server_reads_its_configuration_file(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    log = tmp_path / "access.log"
    path = write(tmp_path, f"access-log = {log} ; for fail2ban\npublic-url = http://mfa.example\n")
    with Server(tmp_path / "data", "--config", path) as server:
        assert server.url == "http://mfa.example"
        assert server.stop() == 0
    assert log.exists()


def test_check_config_reports_every_problem_and_changes_nothing(tmp_path):
    path = write(tmp_path, "listen = 0.0.0.0:443\nprofil = emulator\nlisten = here\n")
    checked = run("check-config", "--config", path, "--assets", ROOT, "--data", tmp_path / "data")
    assert checked.returncode == 78 and checked.stdout == ""
    problems = checked.stderr.splitlines()
    assert problems[0] == f"{path}:2: profil isn't a setting."
    assert problems[1] == f"{path}:3: listen is set twice; the first time in {path}:1."
    assert "requires --public-url" in problems[2] and "--tls-certificate" in problems[3]
    assert "data folder" in problems[4] and len(problems) == 5
    assert [file.name for file in tmp_path.iterdir()] == ["countersign.conf"]


def test_an_invalid_value_is_reported_with_its_line(tmp_path):
    values = {"drain-delay": "301", "backup-age": "0", "max-connections": "0",
              "metrics-listen": "here", "sms-daily": "many", "sms-mail": "nobody"}
    path = write(tmp_path, "".join(f"{name} = {text}\n" for name, text in values.items()))
    checked = run("check-config", "--config", path, "--assets", ROOT, "--data", tmp_path / "data")
    for line, name in enumerate(values, start=1):
        assert f"{path}:{line}: --{name} " in checked.stderr, name


def test_the_documented_file_has_no_unknown_settings(tmp_path):
    text = re.search(
        r"```ini\n(.*?)```", (ROOT / "docs/configuration.md").read_text(), re.S).group(1)
    checked = run("check-config", "--config", write(tmp_path, text), "--assets", ROOT)
    # Its files don't exist here.
    for problem in checked.stderr.splitlines():
        assert re.search(r"can't be read|data folder", problem), problem


def test_doctor_examines_a_running_server(tmp_path):
    with Server(tmp_path / "data") as server:
        examined = run("doctor", "--data", server.data, "--assets", ROOT, "--json")
        assert httpx.get(server.url + "/readyz").text == "ready\n"
    findings = json.loads(examined.stdout)
    worst = {"ok": 0, "warning": 1, "error": 2}
    assert examined.returncode == max(worst[finding["severity"]] for finding in findings)
    found = {finding["check"]: finding["severity"] for finding in findings}
    checks = ["configuration", "permissions", "keys", "schema", "mail"]
    # The integrity of a database on a server is the server's.
    for check in checks if DATABASES.has_all else [*checks, "integrity"]:
        assert found[check] == "ok", findings
    assert {"clock", "disk", "certificate", "open-files"} <= set(found)


def test_doctor_gives_advice_about_a_readable_key(tmp_path):
    with Server(tmp_path / "data") as server:
        assert server.stop() == 0
    (tmp_path / "data/master.key").chmod(0o644)
    examined = run("doctor", "--data", tmp_path / "data", "--assets", ROOT)
    assert examined.returncode == 2
    assert f"chmod 600 {tmp_path}/data/master.key" in examined.stdout
