"""The table of exit codes: commands that end with each code that it has."""

import re

import pytest

from support.program import ROOT, Server, initialize, run

CASES = [
    (0, "project list --data {data}"),
    (0, "policy diff --data {data} {same}"),
    (1, "policy diff --data {data} {other}"),
    (1, "import --data {data} --project acme-shop {users}"),
    (2, "doctor --data {open}"),
    (2, "policy diff --data {missing} {same}"),
    (3, "evidence verify --key {key} {users}"),
    (64, "audit"),
    (64, "project list --unknown"),
    (75, "migrate --data {held}"),
    (78, "project list --data {missing}"),
    (78, "tenant list --data {data} --project unknown"),
    (78, "check-config --sms-daily many"),
]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The files and folders of the commands."""
    folder = tmp_path_factory.mktemp("codes")
    data, opened = folder / "data", folder / "open"
    initialize(data)
    run("project", "create", "acme-shop", "--data", data)
    initialize(opened)
    opened.chmod(0o755)
    (folder / "key.pem").write_text(run("evidence", "key", "--all", "--data", data).stdout)
    (folder / "users.json").write_text('{"users": [{"localId": "ada", "email": "ada@"}]}')
    (folder / "same.json").write_text(policies := run("policy", "export", "--data", data).stdout)
    (folder / "other.json").write_text(policies.replace('"sms": false', '"sms": true'))
    with Server(folder / "held") as server:
        yield {
            "data": data, "open": opened, "held": server.data, "missing": folder / "missing",
            "key": folder / "key.pem", "users": folder / "users.json",
            "same": folder / "same.json", "other": folder / "other.json"}


@pytest.mark.parametrize(("code", "words"), CASES)
def test_a_command_ends_with_the_code_of_the_table(code, words, names):
    result = run(*[word.format_map(names) for word in words.split()])
    assert result.returncode == code, result.stdout + result.stderr


def test_each_code_of_the_table_has_a_command():
    table = (ROOT / "docs/configuration.md").read_text().split("| Exit code | Meaning |")[1]
    codes = re.findall(r"^\| (\d+) \|", table.split("\n\n")[0], re.M)
    assert {int(code) for code in codes} == {code for code, _ in CASES}
