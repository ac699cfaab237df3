"""Output that can't be written, and the data folder while other programs use it."""

import fcntl
import threading
import time

import httpx
import pytest

from support.program import Server, create_instance, run


def redirected(redirection):
    """The prefix of a command whose output is redirected."""
    return ["sh", "-c", f'exec "$@" {redirection}', "sh"]


def report(server):
    body = {"csp-report": {"effective-directive": "script-src", "blocked-uri": "inline"}}
    answer = httpx.post(server.url + "/csp-reports", json=body,
                        headers={"content-type": "application/csp-report"})
    assert answer.status_code == 204


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_a_server_whose_log_cant_be_written_keeps_serving_and_counts_lines(tmp_path, redirection):
    with Server(tmp_path, "--metrics-listen", "127.0.0.1:0",
                prefix=redirected(redirection)) as server:
        metrics = server.wait_for_line(r"(http://127.0.0.1:\d+/metrics)")
        report(server)
        report(server)
        assert httpx.get(server.url + "/healthz").text == "ok\n"
        lost = next(line for line in httpx.get(metrics).text.splitlines()
                    if line.startswith("countersign_log_lost_lines_total"))
        assert int(lost.split()[1]) >= 1
        assert server.stop() == 0


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_a_command_does_its_work_and_says_that_its_output_is_lost(tmp_path, redirection):
    create_instance(tmp_path)
    created = run("admin", "create", "--data", tmp_path, "--email", "ada@example.com", "--name",
                  "Ada", "--role", "owner", input="correct horse battery staple\n",
                  prefix=redirected(redirection))
    assert created.returncode == 1 and "output can't be written" in created.stderr, created.stderr
    assert "ada@example.com" in run("admin", "list", "--data", tmp_path).stdout


@pytest.mark.sqlite
def test_a_backup_of_an_empty_database_doesnt_replace_good_ones(tmp_path):
    data, backups = tmp_path / "data", tmp_path / "backups"
    create_instance(data)
    backups.mkdir()
    link = tmp_path / "link"
    link.symlink_to(backups)
    assert run("backup", "--data", data, "--keep", "1", link).returncode == 0
    [good] = list(backups.iterdir())
    (data / "countersign.sqlite").write_bytes(b"")
    time.sleep(1)
    refused = run("backup", "--data", data, "--keep", "1", link)
    assert refused.returncode == 78 and list(backups.iterdir()) == [good]


@pytest.mark.sqlite
def test_a_server_waits_for_a_command_that_uses_the_folder(tmp_path):
    create_instance(tmp_path)
    with open(tmp_path / "server.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Timer(2, fcntl.flock, (lock, fcntl.LOCK_UN)).start()
        with Server(tmp_path) as server:
            assert httpx.get(server.url + "/healthz").text == "ok\n"
