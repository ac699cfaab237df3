"""Files that the program can't read: the reason, and whether another attempt can succeed."""

import pytest

from support.certificates import make_certificate
from support.program import ROOT, initialize, preloaded, run

pytestmark = pytest.mark.sqlite

LISTEN = ["--listen", "127.0.0.1:0", "--access-log", "none"]


@pytest.fixture
def words(tmp_path):
    """A server whose options name files of each kind."""
    initialize(tmp_path / "data")
    make_certificate(tmp_path, 90)
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "countersign.conf").write_text(f"data = {tmp_path}/data\n")
    return [
        "serve", "--config", tmp_path / "countersign.conf", "--assets", ROOT, *LISTEN,
        "--tls-certificate", tmp_path / "certificate.pem", "--tls-key", tmp_path / "key.pem",
        "--smtp", "smtp://mailer@localhost", "--smtp-from", "mfa@example.com",
        "--smtp-password-file", tmp_path / "password"]


@pytest.mark.parametrize("name", [
    "data/master.key", "countersign.conf", "certificate.pem", "key.pem", "password",
    "countersign.css", "frame.mustache", "en/account-build.md"])
def test_a_start_with_a_file_on_a_disk_with_errors_is_worth_repeating(tmp_path, words, name):
    env = {**preloaded(tmp_path, "unreadable"), "UNREADABLE": f"/{name}"}
    refusal = run(*words, env=env)
    assert refusal.returncode == 75, refusal.stderr
    assert name in refusal.stderr and "Input/output error" in " ".join(refusal.stderr.split())


@pytest.mark.parametrize("name", ["data/master.key", "countersign.conf", "password"])
def test_a_folder_in_place_of_a_file_is_an_error_in_the_configuration(tmp_path, words, name):
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir(mode=0o700)
    refusal = run(*words)
    assert refusal.returncode == 78, refusal.stderr
    said = " ".join(refusal.stderr.split())
    reason = "it isn't a regular file." if name == "countersign.conf" else "Is a directory"
    assert f"{tmp_path}/{name} can't be read: {reason}" in said, said


def test_a_signers_key_on_a_disk_with_errors_is_worth_another_attempt(tmp_path):
    (tmp_path / "signer.pem").write_text("a key")
    words = ["token-key", "add", "--data", tmp_path, "--project", "acme-app", "--issuer",
             "back-end@example.com", "--key", tmp_path / "signer.pem"]
    refusal = run(*words, env={**preloaded(tmp_path, "unreadable"), "UNREADABLE": "/signer.pem"})
    assert refusal.returncode == 75, refusal.stderr
    assert refusal.stderr == f"{tmp_path}/signer.pem can't be read: Input/output error\n"
