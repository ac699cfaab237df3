"""Evidence of policy reviews: published keys, offline verification, and another implementation of it."""

import base64
import hashlib
import json

import httpx
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from support.pages import Pages
from support.program import Server, run


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("evidence")) as server:
        yield server


@pytest.fixture(scope="module")
def evidence(server):
    """The bytes of an evidence file, downloaded by an owner."""
    ada = Pages(server.url).set_up(server.setup_code)
    ada.create_project("acme-shop")
    answer = ada.get("/projects/acme-shop/review/evidence.json")
    assert answer.status_code == 200
    assert "attachment" in answer.headers["content-disposition"]
    return answer.content


def key_of(server):
    return httpx.get(server.url + "/.well-known/countersign-evidence-keys").json()["keys"]


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def test_the_published_key_verifies_a_file_in_another_implementation(server, evidence):
    document = json.loads(evidence)
    [key] = key_of(server)
    assert document["signature"]["key"] == key["kid"]
    public = Ed25519PublicKey.from_public_bytes(
        base64.urlsafe_b64decode(key["x"] + "=" * (-len(key["x"]) % 4)))
    signature = base64.b64decode(document["signature"]["value"])
    public.verify(signature, b"countersign evidence\n" + compact(document["evidence"]))
    with pytest.raises(InvalidSignature):
        public.verify(signature, b"countersign evidence\n" + compact(document["evidence"]) + b" ")
    digest = hashlib.sha256(compact(document["evidence"]["policySet"])).hexdigest()
    assert document["evidence"]["policySetDigest"] == digest


def test_verify_needs_no_server_and_tells_what_is_wrong(server, evidence, tmp_path):
    key, file = tmp_path / "key.pem", tmp_path / "evidence.json"
    key.write_text(run("evidence", "key", "--data", server.data).stdout)
    file.write_bytes(evidence)
    valid = run("evidence", "verify", "--key", key, file)
    assert valid.returncode == 0 and "acme" in valid.stdout, valid.stderr
    file.write_text(json.dumps(json.loads(evidence), indent=2))
    assert run("evidence", "verify", "--key", key, file).returncode == 0
    file.write_bytes(evidence.replace(b'"users":0', b'"users":1', 1))
    altered = run("evidence", "verify", "--key", key, file)
    assert altered.returncode == 1 and "Altered" in altered.stderr
    file.write_text("{}")
    assert run("evidence", "verify", "--key", key, file).returncode == 3
    document = json.loads(evidence)
    document["signature"]["key"] = "\x1b[2K\rValid"
    file.write_text(json.dumps(document))
    forged = run("evidence", "verify", "--key", key, file)
    assert forged.returncode == 3 and "Valid" not in forged.stderr
    assert run("evidence", "verify", file).returncode == 64
    assert run("evidence", "verify", "--key", file, file).returncode == 78
    assert run("evidence", "verify", "--key", key, tmp_path / "missing").returncode == 78


def test_a_retired_key_stays_published(server, evidence, tmp_path):
    before = [key["kid"] for key in key_of(server)]
    new = tmp_path / "new.pem"
    new.write_text(run("evidence", "key", "--rotate", "--data", server.data).stdout)
    assert [key["kid"] for key in key_of(server)][1:] == before
    file = tmp_path / "evidence.json"
    file.write_bytes(evidence)
    wrong = run("evidence", "verify", "--key", new, file)
    assert wrong.returncode == 2 and before[0] in wrong.stderr
    help = run("evidence", "verify", "--help")
    assert help.returncode == 0 and "--key FILE" in help.stdout
