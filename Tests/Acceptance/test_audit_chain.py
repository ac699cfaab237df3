"""The hash chain of the audit log: another implementation of it, tampering with SQL, and exported heads."""

import base64
import datetime
import hashlib
import json
import struct

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from support.audit_file import extract_heads
from support.pages import Pages
from support.program import Server, copy_instance, execute, query, run

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A stopped server's data folder with a sealed log, the exported heads, and the key."""
    folder = tmp_path_factory.mktemp("chain")
    file, heads = folder / "audit.jsonl", folder / "heads.jsonl"
    with Server(folder / "data", "--audit-file", file) as server:
        ada = Pages(server.url).set_up(server.setup_code)
        for name in ["acme-shop", "acme-desk", "acme-bank"]:
            ada.create_project(name)
        server.stop()
    extract_heads(file, heads)
    key = folder / "key.pem"
    key.write_text(run("evidence", "key", "--all", "--data", folder / "data").stdout)
    return folder / "data", heads, key


@pytest.fixture()
def copy(sealed, tmp_path):
    copy_instance(sealed[0], tmp_path / "data")
    return tmp_path / "data"


def change(data, *statements):
    for statement in statements:
        before = contents(data)
        execute(data, statement)
        assert contents(data) != before, statement


def contents(data):
    return [query(data, f"SELECT * FROM {table} ORDER BY 1")
            for table in ("audit", "audit_link", "audit_head", "evidence_key")]


def verify(data, *options):
    return run("audit", "verify", "--data", data, *options)


def encoded(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\2" + struct.pack(">q", value)
    return b"\1" + struct.pack(">I", len(value.encode())) + value.encode()


PARTS = [
    "audit_id, at, actor_kind, project_id, tenant_id, action, object_kind, request_id",
    "actor_id, actor_name, address",
    "object_id, object_name",
    "from_value, to_value, reason, note, ticket, proof",
]
FIELD = "position, field, old_kind, old_value, new_kind, new_value"


def test_the_documented_chain_is_that_of_another_implementation(sealed):
    data, heads, key = sealed
    links = query(data, "SELECT sequence, audit_id, salts, link FROM audit_link ORDER BY sequence")
    assert [link[0] for link in links] == list(range(1, len(links) + 1)) and len(links) > 5
    ids = [row[0] for row in query(data, "SELECT audit_id FROM audit ORDER BY audit_id")]
    assert [link[1] for link in links] == ids
    previous = bytes(32)
    for sequence, entry, salts, link in links:
        parts = [
            query(data, f"SELECT {part} FROM audit WHERE audit_id = ?", entry)[0] for part in PARTS]
        parts += query(
            data, f"SELECT {FIELD} FROM audit_change WHERE audit_id = ? ORDER BY position", entry)
        salts, link = bytes.fromhex(salts[2:]), bytes.fromhex(link[2:])
        digests = [
            hashlib.sha256(
                b"P\1" + salts[16 * index:16 * index + 16] + struct.pack(">I", index)
                + b"".join(encoded(value) for value in part)).digest()
            for index, part in enumerate(parts)]
        previous = hashlib.sha256(
            b"L\1" + previous + struct.pack(">qI", sequence, len(parts)) + b"".join(digests)).digest()
        assert previous == link
    head = json.loads(heads.read_text().splitlines()[-1])
    assert head["sequence"] == len(links) and head["link"] == previous.hex()
    moment = datetime.datetime.fromisoformat(head["signedAt"])
    microseconds = (moment - EPOCH) // datetime.timedelta(microseconds=1)
    message = struct.pack(">qq", head["sequence"], microseconds) + previous
    pem = key.read_text()
    public = load_pem_public_key(pem[pem.index("-----BEGIN"):].encode())
    public.verify(base64.b64decode(head["signature"]), b"countersign-audit-head-1\n" + message)


def test_an_unchanged_log_verifies_and_verify_says_what_is_not_proven(sealed):
    data, heads, key = sealed
    plain = verify(data)
    assert plain.returncode == 0, plain.stderr
    assert "Proven: " in plain.stdout and "--heads FILE" in plain.stdout
    assert "--key FILE" in plain.stdout
    full = verify(data, "--heads", heads, "--key", key)
    assert full.returncode == 0, full.stderr
    assert "exported head" in full.stdout and "--key FILE" not in full.stdout


def test_the_audit_file_has_the_stored_heads(sealed):
    data, heads, _ = sealed
    assert run("audit", "heads", "--data", data).stdout == heads.read_text()


THIRD = "SELECT audit_id FROM audit_link WHERE sequence = 3"


@pytest.mark.parametrize("statements, fault", [
    ([f"UPDATE audit SET actor_name = 'Eve' WHERE audit_id = ({THIRD})"], "entry 3 doesn't match"),
    ([f"DELETE FROM audit WHERE audit_id = ({THIRD})"], "entry 3 was deleted"),
    ([f"DELETE FROM audit WHERE audit_id = ({THIRD})", "DELETE FROM audit_link WHERE sequence = 3"],
     "entry 3 was deleted"),
    (["UPDATE audit_link SET sequence = -3 WHERE sequence = 3",
      "UPDATE audit_link SET sequence = 3 WHERE sequence = 4",
      "UPDATE audit_link SET sequence = 4 WHERE sequence = -3"], "reordered"),
    (["UPDATE audit_head SET signature = (SELECT link FROM audit_link WHERE sequence = 1)"], "isn't valid"),
], ids=["modified", "deleted", "deleted-with-link", "reordered", "forged-head"])
def test_c12_tampering_is_detected(copy, statements, fault):
    change(copy, *statements)
    found = verify(copy)
    assert found.returncode == 1
    assert fault in found.stderr, found.stderr
    assert "Proven" not in found.stdout.replace("Not proven", "")


def test_a_truncated_log_is_detected_with_exported_heads_only(sealed, copy):
    _, heads, key = sealed
    change(
        copy, "DELETE FROM audit_link WHERE sequence > 4", "DELETE FROM audit_head",
        "DELETE FROM audit WHERE audit_id > (SELECT audit_id FROM audit_link WHERE sequence = 4)")
    assert verify(copy).returncode == 0
    found = verify(copy, "--heads", heads, "--key", key)
    assert found.returncode == 1 and "truncated" in found.stderr, found.stderr


def test_a_chain_signed_with_a_replaced_key_is_detected_with_a_copy_of_the_keys(sealed, copy):
    key = sealed[2]
    change(copy, "DELETE FROM audit_head", "DELETE FROM evidence_key")
    with Server(copy) as server:
        server.stop()
    assert verify(copy).returncode == 0
    found = verify(copy, "--key", key)
    assert found.returncode == 1 and "its key isn't known" in found.stderr


def test_a_line_that_is_not_a_head_is_a_fault(sealed, copy, tmp_path):
    lines = sealed[1].read_text().splitlines()
    heads = tmp_path / "heads.jsonl"
    heads.write_text("\n".join([*lines, lines[-1][:70]]))
    found = verify(copy, "--heads", heads, "--key", sealed[2])
    assert found.returncode == 1
    assert f"Line {len(lines) + 1} of the exported heads isn't a head" in found.stderr


def test_an_audit_file_that_cannot_be_written_stops_the_start(copy, tmp_path):
    answer = run("serve", "--data", copy, "--audit-file", tmp_path / "none" / "audit")
    assert answer.returncode == 78 and "audit" in answer.stderr
