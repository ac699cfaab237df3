"""The demo: created at startup, reproducible, and for local use only."""

import subprocess
import time

import httpx
import pytest

from support.demo import SAVED, Demo, sign_in
from support.pages import Pages
from support.program import DATABASES, PROGRAM, ROOT, Server, environment, run
from support.rest import ok
from support.waiting import until


def test_the_demo_starts_quickly():
    # A release build takes a few seconds; this is a debug build, and other tests run in parallel.
    # On PostgreSQL each write waits for the disk.
    assert SAVED.seconds() < (150 if DATABASES.has_all else 60)


def test_everyone_can_sign_in_and_sees_the_projects(demo):
    assert {person.role.split()[0] for person in demo.administrators} == {
        "owner", "policy", "support", "auditor"}
    for person in demo.administrators:
        demo.browse(person)
    front = demo.browse(demo.owner).get("/projects").text
    assert front.count('href="/projects/') >= 3


def test_the_example_user_signs_in_with_a_code(demo):
    done = ok(demo.sign_in_user()(demo.user.totp.at(time.time())))
    assert done["idToken"]


@pytest.mark.parametrize("words,sentence", [
    (["--listen", "0.0.0.0:0", "--public-url", "https://mfa.example.com"], "loopback"),
    (["--public-url", "https://mfa.example.com"], "loopback"),
    (["--trusted-proxy", "127.0.0.1"], "loopback"),
    (["--profile", "emulator"], "standalone"),
    (["--demo-seed", "many"], "--demo-seed"),
], ids=" ".join)
def test_the_demo_is_refused_beyond_loopback(tmp_path, words, sentence):
    result = run("serve", "--demo", "--listen", "127.0.0.1:0", "--assets", ROOT,
                 "--data", tmp_path / "data", *words)
    assert result.returncode == 78 and sentence in result.stderr
    assert not (tmp_path / "data").exists()


def test_a_seed_requires_the_demo(tmp_path):
    result = run("serve", "--demo-seed", "3", "--assets", ROOT, "--data", tmp_path / "data")
    assert result.returncode == 78 and "--demo" in result.stderr


def test_the_demo_is_refused_in_a_folder_with_other_data(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    result = run("serve", "--demo", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", tmp_path)
    assert result.returncode == 78 and "isn't empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


# The command creates a file.
@pytest.mark.sqlite
def test_the_demo_command_replaces_an_interrupted_demo_and_nothing_else_and_serve_serves_it(tmp_path):
    data = tmp_path / "data"
    unfinished = data / "unfinished"
    words = ["demo", "--data", data]
    with subprocess.Popen([PROGRAM, *words], env=environment(), stdout=subprocess.DEVNULL) as first:
        until((unfinished / "countersign.sqlite").exists, "the demo is begun")
        first.kill()
    (unfinished / "notes").write_text("mine")
    found = sorted(unfinished.iterdir())
    kept = run(*words)
    assert kept.returncode == 78 and "isn't empty" in kept.stderr
    assert sorted(unfinished.iterdir()) == found
    (unfinished / "notes").unlink()
    replaced = run(*words)
    assert replaced.returncode == 0, replaced.stderr
    assert "olga@example.com" in replaced.stdout
    assert sorted(path.name for path in data.iterdir()) == ["countersign.sqlite", "master.key"]
    again = run(*words)
    assert again.returncode == 78 and "empty" in again.stderr
    with Server(data) as server:
        assert httpx.get(f"{server.url}/sign-in").status_code == 200


def test_a_demo_folder_can_be_served_again_on_loopback_only(tmp_path):
    with Demo(tmp_path / "data", "--demo-seed", "5") as demo:
        owner = demo.owner
        assert demo.server.stop() == 0
    result = run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", tmp_path / "data",
                 "--public-url", "https://mfa.example.com")
    assert result.returncode == 78 and "loopback" in result.stderr
    with Server(tmp_path / "data") as server:
        pages = sign_in(Pages(server.url), owner)
        assert pages.get("/projects").status_code == 200


def test_an_invalid_seed_is_refused(tmp_path):
    result = run("demo", "--data", tmp_path / "data", "--seed", "x")
    assert result.returncode == 64 and "--seed" in result.stderr


def test_the_demo_command_refuses_a_database_on_a_server(tmp_path):
    # Not ignored, because the demo would be in a file instead.
    address = "postgresql://me@127.0.0.1/countersign"
    for words, env, code, reason in [(["--database", address], {}, 64, "unknown option --database"),
                                     ([], {"COUNTERSIGN_DATABASE": address}, 78, "serve --demo")]:
        result = run("demo", "--data", tmp_path / "data", *words, env=env)
        assert result.returncode == code and reason in result.stderr
        assert not (tmp_path / "data").exists()
