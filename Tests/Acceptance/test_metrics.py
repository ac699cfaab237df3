"""Metrics, the alerts, and the dashboard, with Debian's Prometheus."""

import re
import socket
import subprocess
import time

import httpx
import pytest

from support.certificates import flags, make_certificate
from support.mail import MailServer
from support.pages import Pages
from support.program import DATABASES, ROOT, Server, execute, preloaded, run
from support.prometheus import (
    ALERTS, INSTALLED, ON_POSTGRESQL, dashboard_queries, families, query, scraping)
from support.rest import Api, create_token
from support.waiting import until

pytestmark = INSTALLED


def promtool(*words, **more):
    return subprocess.run(
        ["promtool", *map(str, words)], capture_output=True, text=True, timeout=60, **more)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with all that has metrics, after a sign-in with a second factor and a wrong code."""
    folder = tmp_path_factory.mktemp("metrics")
    backups = tmp_path_factory.mktemp("backups")
    make_certificate(backups, 90)
    secret = backups / "sms-secret"
    secret.write_text("open sesame\n")
    policies = backups / "policies.json"
    policies.write_text('{"format": "countersign-policy/1", "pools": []}')
    with MailServer() as mail_server, Server(
            folder, "--metrics-listen", "127.0.0.1:0", "--smtp", f"smtp://127.0.0.1:{mail_server.port}",
            "--smtp-from", "mfa@example.com", "--sms-url", "https://sms.example.com/send",
            "--sms-secret-file", secret, "--audit-file", backups / "audit.jsonl",
            "--backups", backups, "--policy-file", policies, *flags(backups)) as server:
        # On a database server, backups are those of the server.
        if not DATABASES.has_all:
            assert run("backup", "--data", folder, backups).returncode == 0
        server.metrics = server.wait_for_line(r"Metrics: (\S+)")
        pages = Pages(server.url, verify=False)
        pages.set_up(server.setup_code)
        pages.create_project("measured")
        api = Api(server.url, "measured", pages.api_key("measured"),
                  create_token(server.data, "measured", "owner"), verify=False)
        api.switch_totp_on()
        uid, id_token = api.user("eve@example.com")
        api.enroll(id_token)
        pending = api.sign_in("eve@example.com").json()
        api.factor("mfaSignIn:finalize", {
            "mfaPendingCredential": pending["mfaPendingCredential"],
            "mfaEnrollmentId": pending["mfaInfo"][0]["mfaEnrollmentId"],
            "totpVerificationInfo": {"verificationCode": "000000"}})
        yield server


def get(url):
    """Gets a page of the server, whose certificate is its own."""
    return httpx.get(url, verify=False)


def samples(text):
    """Returns the values of the metrics by name and labels, as written."""
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if not line.startswith("#")}


def scrape(server):
    answer = httpx.get(server.metrics)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.text


def test_promtool_accepts_the_metrics(server):
    result = promtool("check", "metrics", input=scrape(server))
    assert (result.returncode, result.stderr) == (0, ""), result.stderr


def test_requests_are_counted_by_route_and_not_by_path(server):
    get(f"{server.url}/projects/some-project-{time.time_ns()}/users")
    get(f"{server.url}/no/such/path-{time.time_ns()}")
    httpx.request("BREW", f"{server.url}/sign-in", verify=False)
    get(f"{server.url}/readyz")
    text = scrape(server)
    found = samples(text)
    assert "some-project" not in text and "such" not in text and "BREW" not in text
    assert found['countersign_http_requests_total{method="GET",route="/readyz",code="200"}'] >= 1
    users = r'requests_total\{method="GET",route="/projects/\{\w+\}/users",code="303"\} (\d+)'
    assert int(re.search(users, text).group(1)) >= 1
    assert found['countersign_http_requests_total{method="other",route="other",code="404"}'] >= 1
    finalize = [value for name, value in found.items() if "mfaSignIn:finalize" in name and "_total" in name]
    assert sum(finalize) >= 1
    for name, value in found.items():
        if name.startswith("countersign_http_request_duration_seconds_count"):
            bucket = name.replace("_count", "_bucket")[:-1] + ',le="+Inf"}'
            assert found[bucket] == value > 0


# The sizes of the file and its log are among the metrics.
@pytest.mark.sqlite
def test_the_state_of_the_server_is_measured(server):
    found = until(lambda: (lambda now: now if now.get(
        'countersign_code_attempts_total{result="incorrect"}') else None)(samples(scrape(server))),
        "the wrong code is counted")
    assert found['countersign_code_attempts_total{result="accepted"}'] >= 1
    assert found['countersign_password_attempts_total{kind="user",result="correct"}'] >= 1
    assert found['countersign_password_attempts_total{kind="user",result="blocked"}'] == 0
    assert found["countersign_audit_fault"] == found["countersign_tasks_unheld_seconds"] == 0
    assert found["countersign_audit_unsealed_seconds"] < 60 > found["countersign_audit_file_lag_seconds"]
    assert found["countersign_database_commit_seconds_count"] > 10
    assert found["countersign_ready"] == found["countersign_clock_trusted"] == 1
    assert found['countersign_check_failed{check="database"}'] == 0
    assert found['countersign_sessions{kind="console"}'] >= 1
    assert found["countersign_writer_group_size_count"] > 10
    assert found["countersign_database_writes_total"] > 10
    assert found["countersign_hashing_rejections_total"] == 0
    assert found["countersign_wal_size_bytes"] > 0
    assert abs(found["countersign_clock_offset_seconds"]) < 5
    assert found["countersign_clock_synchronized"] in (0, 1)
    assert 0 <= found["countersign_clock_error_seconds"] < 1000
    assert abs(found["countersign_backup_newest_timestamp_seconds"] - time.time()) < 600
    assert found["countersign_backup_age_limit_seconds"] == 26 * 3600
    assert abs(found["countersign_backup_due_timestamp_seconds"] - time.time() - 26 * 3600) < 600
    assert found["countersign_policy_file_readable"] == 1
    assert found["countersign_certificate_expiry_timestamp_seconds"] > time.time() + 80 * 86400
    assert found["countersign_sms_queued"] == found["countersign_sms_oldest_queued_seconds"] == 0
    assert found['countersign_sms_attempts_total{result="sent"}'] == 0
    assert found["countersign_sms_limit_rejections_total"] == 0
    assert abs(found["process_start_time_seconds"] - time.time()) < 600
    assert 10e6 < found["process_resident_memory_bytes"] < 1e9
    assert 5 < found["process_open_fds"] < found["process_max_fds"]
    assert any(name.startswith("countersign_build_info{version=") for name in found)


# On a database server, backups are those of the server.
@pytest.mark.sqlite
def test_a_new_instance_without_backups_is_reported_once_it_is_older_than_a_backup_may_be(tmp_path):
    data, backups = tmp_path / "data", tmp_path / "backups"
    backups.mkdir(mode=0o700)

    def due():
        """Returns the metric of a server that has just started, and what the server has said."""
        with Server(data, "--metrics-listen", "127.0.0.1:0", "--backups", backups) as server:
            found = samples(httpx.get(server.wait_for_line(r"Metrics: (\S+)")).text)
            # It's checked before the server is ready.
            until(lambda: httpx.get(f"{server.url}/readyz").status_code == 200, "it's ready")
            time.sleep(1)
            assert server.stop() == 0
            return found["countersign_backup_due_timestamp_seconds"], server.text

    time_due, text = due()
    assert 0 < time_due - time.time() < 26 * 3600 + 5 and "no backup in" not in text
    execute(data, f"UPDATE schema_migration SET applied_at = {int((time.time() - 27 * 3600) * 1000)}")
    time_due, text = due()
    assert abs(time.time() - time_due - 3600) < 600 and "no backup in" in text


def test_c14_metrics_are_only_at_their_own_address(server):
    public = get(f"{server.url}/metrics")
    assert public.status_code == 404 and "countersign_ready" not in public.text
    own = server.metrics.removesuffix("/metrics")
    assert httpx.get(f"{own}/").status_code == 404
    assert httpx.get(f"{own}/sign-in").status_code == 404
    assert httpx.post(server.metrics).status_code == 405


def test_promtool_accepts_the_alerts_and_their_tests():
    for words in (("check", "rules", ALERTS),
                  ("test", "rules", ROOT / "ops/prometheus/alerts.test.yml"),
                  ("check", "config", ROOT / "ops/prometheus/prometheus.yml")):
        result = promtool(*words)
        assert result.returncode == 0, result.stdout + result.stderr


def test_every_alert_is_tested_firing_and_quiet():
    alerts = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    tests = (ROOT / "ops/prometheus/alerts.test.yml").read_text()
    assert len(alerts) >= 20
    for alert in alerts:
        fires = [bool(found) for found in re.findall(
            rf"alertname: {alert}\n( +exp_alerts:\n)?", tests)]
        assert {True, False} <= set(fires), alert


@pytest.fixture(scope="module")
def prometheus(server, tmp_path_factory):
    """Prometheus, scraping the server every second and evaluating the alerts."""
    with scraping(server.metrics, tmp_path_factory.mktemp("prometheus")) as url:
        yield url


# The sizes of the file and its log are among the metrics.
@pytest.mark.sqlite
def test_every_query_of_the_dashboard_finds_data(server, prometheus):
    queries = list(dashboard_queries())
    assert len(queries) > 40
    known = set(re.findall(r"^# TYPE (\S+)", scrape(server), re.MULTILINE))
    for title, text in queries:
        if families(text) & ON_POSTGRESQL:
            continue
        assert families(text) <= known, f"{title}: {text}"
        # A rate takes two scrapes after the first request.
        get(f"{server.url}/readyz")
        found = until(lambda: query(prometheus, text) or None, f"{title}: {text}", 20)
        assert all("value" in each for each in found), title


# The sizes of the file and its log are among the metrics.
@pytest.mark.sqlite
def test_no_alert_fires_for_a_healthy_server(server, prometheus):
    groups = httpx.get(f"{prometheus}/api/v1/rules").json()["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) == ALERTS.read_text().count("- alert:")
    # An alert that isn't evaluated has an unknown health.
    assert {rule["health"] for rule in rules} == {"ok"}, rules
    assert [rule["name"] for rule in rules if rule["state"] == "firing"] == []
    known = set(re.findall(r"^# TYPE (\S+)", scrape(server), re.MULTILINE))
    for rule in rules:
        assert families(rule["query"]) <= known | ON_POSTGRESQL, rule["name"]


def alert_states(prometheus):
    """Returns the state of each alert by its name."""
    groups = httpx.get(f"{prometheus}/api/v1/rules").json()["data"]["groups"]
    return {rule["name"]: rule["state"] for group in groups for rule in group["rules"]}


# It's the disk of a database's file.
@pytest.mark.sqlite
def test_while_the_disk_hangs_the_right_alert_fires_and_probes_are_answered_at_once(
        tmp_path, tmp_path_factory):
    hung = tmp_path / "hung"
    env = {**preloaded(tmp_path, "hung"), "HUNG": str(hung)}
    with Server(tmp_path / "data", "--metrics-listen", "127.0.0.1:0", env=env) as server:
        metrics = server.wait_for_line(r"Metrics: (\S+)")
        folder = tmp_path_factory.mktemp("prometheus")
        with scraping(metrics, folder, alert_after=4) as prometheus:
            hung.touch()
            try:
                seen, slowest = set(), 0

                def fires():
                    nonlocal slowest
                    for url in (metrics, f"{server.url}/readyz", f"{server.url}/livez"):
                        began = time.monotonic()
                        httpx.get(url, timeout=30)
                        slowest = max(slowest, time.monotonic() - began)
                    states = alert_states(prometheus)
                    seen.add(states["CountersignDown"])
                    return states["CountersignNotReady"] == "firing"
                until(fires, "the alert fires", 60)
                assert seen == {"inactive"}
                # A second, and what a busy machine adds.
                assert slowest < 3
                waited = samples(httpx.get(metrics).text)["countersign_check_waiting_seconds"]
                assert waited > 10
                # Said while it hangs.
                server.wait_for_line(r"(The database took [1-9]\.\d seconds or longer for: COMMIT)", 1)
            finally:
                hung.unlink()
            until(lambda: httpx.get(f"{server.url}/readyz").text == "ready\n", "it's ready again", 60)
            found = samples(httpx.get(metrics).text)
            slow = (found["countersign_database_commit_seconds_count"]
                    - found['countersign_database_commit_seconds_bucket{le="10"}'])
            assert slow >= 1


def test_an_address_in_use_is_refused(tmp_path):
    from support.program import create_instance, run

    create_instance(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = "127.0.0.1:%d" % listener.getsockname()[1]
        result = run("serve", "--data", tmp_path, "--listen", "127.0.0.1:0", "--assets", ROOT,
                     "--metrics-listen", address)
    assert result.returncode == 75 and "Cannot listen" in result.stderr


def test_a_server_on_postgresql_has_metrics_of_its_connections_instead_of_a_writer(tmp_path, tmp_path_factory):
    DATABASES.add(tmp_path)
    with Server(tmp_path, "--metrics-listen", "127.0.0.1:0") as server:
        metrics = server.wait_for_line(r"Metrics: (\S+)")
        text = httpx.get(metrics).text
        known = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
        assert ON_POSTGRESQL <= known
        assert not [name for name in known if "writer" in name]
        found = samples(text)
        assert found["countersign_tasks_held"] == 1
        assert found["countersign_database_round_trip_seconds_count"] > 0
        assert found["countersign_database_writes_total"] > 0
        assert found['countersign_database_queue_length{kind="read"}'] == 0
        assert found['countersign_database_queue_length{kind="write"}'] == 0
        server.wait_for_line("(This server does the tasks)")
        with scraping(metrics, tmp_path_factory.mktemp("prometheus")) as url:
            own = [each for each in dashboard_queries() if families(each[1]) & ON_POSTGRESQL]
            assert {name for _, text in own for name in families(text)} == ON_POSTGRESQL
            for title, text in own:
                httpx.get(f"{server.url}/readyz")
                until(lambda: query(url, text) or None, f"{title}: {text}", 20)
            groups = httpx.get(f"{url}/api/v1/rules").json()["data"]["groups"]
            [waits] = [rule for group in groups for rule in group["rules"]
                       if rule["name"] == "CountersignDatabaseWaits"]
            assert (waits["health"], waits["state"]) == ("ok", "inactive")
