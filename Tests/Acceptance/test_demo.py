"""The demo: made at the start, the same each time, for one's own machine."""

import time

import httpx
import pytest

from support.demo import Demo
from support.pages import Pages
from support.program import ROOT, Server, run
from support.rest import Api, ok


def test_it_is_ready_soon_and_everybody_signs_in(demo):
    # A release build takes a few seconds; this one was built for debugging and has neighbors.
    assert demo.ready_after < 60
    assert {person.role.split()[0] for person in demo.administrators} == {
        "owner", "policy", "support", "auditor"}
    for person in demo.administrators:
        demo.browse(person)
    front = demo.browse(demo.owner).get("/").text
    assert front.count('href="/projects/') >= 3


def test_its_example_user_signs_in_with_a_code(demo):
    pages, user = demo.browse(demo.owner), demo.user
    tenant = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    api = Api(demo.url, "harbour-bank", pages.api_key("harbour-bank"),
              tenant=tenant.rsplit("/", 1)[1])
    first = ok(api.sign_in(user.email, user.password))
    assert "mfaPendingCredential" in first
    done = ok(api.factor("mfaSignIn:finalize", {
        "mfaPendingCredential": first["mfaPendingCredential"],
        "mfaEnrollmentId": first["mfaInfo"][0]["mfaEnrollmentId"],
        "totpVerificationInfo": {"verificationCode": user.totp.at(time.time())}}))
    assert done["idToken"]


@pytest.mark.parametrize("words,sentence", [
    (["--listen", "0.0.0.0:0", "--public-url", "https://mfa.example.com"], "loopback"),
    (["--public-url", "https://mfa.example.com"], "loopback"),
    (["--trusted-proxy", "127.0.0.1"], "loopback"),
    (["--profile", "emulator"], "standalone"),
    (["--demo-seed", "many"], "--demo-seed"),
], ids=" ".join)
def test_it_is_refused_elsewhere(tmp_path, words, sentence):
    said = run("serve", "--demo", "--listen", "127.0.0.1:0", "--assets", ROOT,
               "--data", tmp_path / "data", *words)
    assert said.returncode == 78 and sentence in said.stderr
    assert not (tmp_path / "data").exists()


def test_a_seed_belongs_to_a_demo(tmp_path):
    said = run("serve", "--demo-seed", "3", "--assets", ROOT, "--data", tmp_path / "data")
    assert said.returncode == 78 and "--demo" in said.stderr


def test_it_is_refused_beside_other_data(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    said = run("serve", "--demo", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", tmp_path)
    assert said.returncode == 78 and "isn't empty" in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_its_folder_is_served_again_but_to_nobody_else(tmp_path):
    with Demo(tmp_path / "data", "--demo-seed", "5") as demo:
        people = [person.email for person in demo.administrators]
        assert demo.server.stop() == 0
    said = run("serve", "--listen", "127.0.0.1:0", "--assets", ROOT, "--data", tmp_path / "data",
               "--public-url", "https://mfa.example.com")
    assert said.returncode == 78 and "loopback" in said.stderr
    with Server(tmp_path / "data") as server:
        answer = Pages(server.url).sign_in(people[1], "sentry-at-the-gate")
        assert answer.status_code == 303
        assert httpx.get(server.url + "/healthz").status_code == 200


def test_one_of_any_size_is_made_first_and_served_afterwards(tmp_path):
    data = tmp_path / "data"
    said = run("demo", "--users", "300", "--data", data)
    assert said.returncode == 0, said.stderr
    assert "Users of Metropolis: 300 of 300" in said.stdout
    assert "olga@example.com" in said.stdout
    assert sorted(path.name for path in data.iterdir()) == ["countersign.sqlite", "master.key"]
    again = run("demo", "--users", "300", "--data", data)
    assert again.returncode == 78 and "empty" in again.stderr
    with Server(data) as server:
        assert httpx.get(f"{server.url}/sign-in").status_code == 200


@pytest.mark.parametrize("words", [["--users", "many"], ["--users", "99"], ["--seed", "x"]])
def test_one_of_no_size_is_refused(tmp_path, words):
    said = run("demo", "--data", tmp_path / "data", *words)
    assert said.returncode == 64 and words[0] in said.stderr
