"""The configuration file, check-config, and doctor."""

import json
import re

import httpx

from support.pages import Pages
from support.program import (
    DATABASES, ROOT, Server, create_instance, execute, free_port, query, run)
from support.rest import Api, create_token


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
    assert problems[1] == f"{path}:3: listen is set twice, first in {path}:1."
    assert "requires --public-url" in problems[2] and "--tls-certificate" in problems[3]
    assert "data folder" in problems[4] and len(problems) == 5
    assert [file.name for file in tmp_path.iterdir()] == ["countersign.conf"]


def test_an_invalid_value_is_reported_with_its_line(tmp_path):
    values = {"drain-delay": "301", "backup-age": "0", "max-connections": "0",
              "metrics-listen": "here", "sms-daily": "many", "sms-url": "nobody",
              "outbound-proxy": "https://proxy:3128", "google-address": "10.0.0.8"}
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


def test_doctor_finds_what_a_server_couldnt_use_and_prints_no_password(tmp_path):
    data = tmp_path / "data"
    create_instance(data)
    (tmp_path / "policies.json").write_text("{")
    link = tmp_path / "link"
    link.symlink_to(data)
    examined = run(
        "doctor", "--data", link, "--assets", ROOT, "--json", "--policy-file",
        tmp_path / "policies.json", "--backups", tmp_path / "none", "--audit-file",
        tmp_path / "none/audit")
    found = {finding["check"]: finding for finding in reversed(json.loads(examined.stdout))}
    assert examined.returncode == 2 and found["permissions"]["severity"] == "ok", found
    problem = found["configuration"]["message"]
    for name in ["policies.json", "none", "none/audit"]:
        assert str(tmp_path / name) in problem, problem
    checked = run("check-config", "--data", link, "--assets", ROOT, "--backups",
                  tmp_path / "none", "--listen", "127.0.0.1:8080", "--metrics-listen",
                  "127.0.0.1:8080")
    assert checked.returncode == 78
    assert "none" in checked.stderr and "127.0.0.1:8080" in checked.stderr
    secret = run("doctor", "--data", data, "--assets", ROOT, "--smtp",
                 "smtp://a:hunter2@mail.example.com:587", "--mail-from", "a@example.com")
    assert "hunter2" not in secret.stdout + secret.stderr


def test_doctor_gives_advice_about_a_readable_key(tmp_path):
    with Server(tmp_path / "data") as server:
        assert server.stop() == 0
    (tmp_path / "data/master.key").chmod(0o644)
    examined = run("doctor", "--data", tmp_path / "data", "--assets", ROOT)
    assert examined.returncode == 2
    assert f"chmod 600 {tmp_path}/data/master.key" in examined.stdout


def test_doctor_finds_unreadable_secrets_and_emails_that_wait_or_failed(tmp_path):
    data = tmp_path / "data"
    smtp = ["--smtp", f"smtp://127.0.0.1:{free_port()}", "--smtp-from", "mfa@example.com"]
    with Server(data, *smtp) as server:
        pages = Pages(server.url)
        pages.set_up(server.setup_code)
        pages.create_project("examined")
        api = Api(server.url, "examined", pages.api_key("examined"),
                  create_token(data, "examined", "owner"))
        api.switch_totp_on()
        _, id_token = api.user("eve@example.com")
        api.enroll(id_token)
        assert server.stop() == 0

    def findings(check):
        examined = run("doctor", "--data", data, "--assets", ROOT, "--json", *smtp)
        return [(finding["severity"], finding["message"])
                for finding in json.loads(examined.stdout) if finding["check"] == check]

    assert findings("keys") == [
        ("ok", "The master key matches the database and decrypts the 1 second factor tested.")]
    assert [severity for severity, _ in findings("mail")] == ["ok"]
    # The notice about the new factor.
    assert query(data, "SELECT count(*) FROM outbox WHERE next_try_at >= 0")[0][0] >= 1
    execute(data, "UPDATE outbox SET created_at = created_at - 3600000000")
    found = findings("mail")
    assert found[0][0] == "warning" and "has waited to be sent for 6" in found[0][1], found
    execute(data, "UPDATE outbox SET failed_at = created_at, next_try_at = NULL, sealed_text = NULL")
    found = findings("mail")
    assert found[0][0] == "warning" and "failed in the last 24 hours" in found[0][1], found
    execute(data, "UPDATE factor SET sealed_secret = ?", b"not sealed")
    found = findings("keys")
    assert found == [
        ("error", "The master key doesn't decrypt 1 of the 1 second factor tested.")], found


def test_a_backup_uses_the_folder_of_the_configuration_file_unless_the_database_is_on_a_server(tmp_path):
    data, backups = tmp_path / "data", tmp_path / "backups"
    assert run("init", "--data", data).returncode == 0
    backups.mkdir()
    conf = write(tmp_path, f"data = {data}\nbackups = {backups}\nlisten = here\n")
    created = run("backup", "--config", conf, "--check", "--keep", "14", backups)
    assert created.returncode == 0 and len(list(backups.iterdir())) == 1, created.stderr
    missing = run("backup", "--config", tmp_path / "nothing.conf", backups)
    assert missing.returncode == 78 and "nothing.conf can't be read" in missing.stderr
    # The file that a move leaves.
    conf = write(tmp_path, f"data = {data}\ndatabase = postgresql://countersign@db.example.com/countersign\n")
    refused = run("backup", "--config", conf, "--check", "--keep", "14", backups)
    assert refused.returncode == 78
    assert "only for a database in the data folder" in " ".join(refused.stderr.split())
    assert len(list(backups.iterdir())) == 1
    unit = (ROOT / "packaging/countersign-backup.service").read_text()
    assert "ExecStart=/usr/bin/countersign backup --config /etc/countersign/countersign.conf " in unit


def test_check_config_refuses_backups_next_to_a_key(tmp_path):
    with Server(tmp_path / "data") as server:
        assert server.stop() == 0
    checked = run("check-config", "--data", tmp_path / "data", "--assets", ROOT,
                  "--backups", tmp_path / "data")
    assert checked.returncode == 78
    assert f"{tmp_path}/data has a master.key." in checked.stderr
