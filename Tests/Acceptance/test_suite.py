"""script/test's sections: what is repeated, how it's counted, and what is printed at the end."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.program import ROOT

SUITE = ROOT / "Tests/Suite/suite.py"
NEVER_REPEATED = ROOT / "Tests/Suite/never_repeated.txt"

# Stands for `swift` and for the Python of .venv: each run has the next outcome.
PROGRAM = """#!/usr/bin/env python3
import json, os, sys
from pathlib import Path
calls = Path("calls")
done = calls.read_text().splitlines() if calls.exists() else []
code, printed, report = json.loads(Path("outcomes").read_text())[len(done)]
with calls.open("a") as file:
    print(json.dumps([os.environ.get("COUNTERSIGN_TEST_DATABASE"), *sys.argv[1:]]), file=file)
print(printed)
path = sys.argv[-1]
if sys.argv[-2] == "--xunit-output":
    path = path.replace(".xml", "-swift-testing.xml")
if report is not None:
    Path(path).write_text(report)
sys.exit(code)
"""


def swift(*cases, whole=True):
    """Returns a report of Swift Testing, in which a failed test has messages."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", "  <testsuite>"]
    for suite, name, *messages in cases:
        head = f'    <testcase classname="{suite}" name="{name}" time="0.25" '
        lines += [head + ">", *(f'      <failure message="{text}" />' for text in messages),
                  "    </testcase>"] if messages else [head + "/>"]
    return "\n".join([*lines, *(["  </testsuite>", "</testsuites>"] if whole else [])])


def pytest_report(*cases):
    """Returns a report of pytest."""
    return "<testsuites><testsuite>" + "".join(
        f'<testcase classname="{file}" name="{name}" time="1.5">' + (
            f"<failure message='assert 1 == 2'>{text}</failure>" if text else "") + "</testcase>"
        for file, name, text in cases) + "</testsuite></testsuites>"


@pytest.fixture
def sections(tmp_path):
    """Runs sections with outcomes; returns the exit code and lines of the end, and the calls."""
    for name in ("bin/swift", ".venv/bin/python"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(PROGRAM)
        path.chmod(0o755)
    (tmp_path / "reports").mkdir()

    def suite(*words):
        return subprocess.run(
            [sys.executable, SUITE, "reports", *words], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})

    def run(outcomes, *sections):
        (tmp_path / "outcomes").write_text(json.dumps(outcomes))
        for words in sections:
            suite(*words)
        end = suite("finish")
        assert not end.stderr
        calls = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
        return end.returncode, end.stdout.splitlines(), calls
    return run


SWIFT = ("swift", "Swift tests on PostgreSQL", "COUNTERSIGN_TEST_DATABASE=postgresql",
         "--filter", "^OTPTests")
ACCEPTANCE = ("pytest", "Acceptance tests", "Tests/Acceptance", "-n", "4")
ODD = '`1.5 (of [2]) has "its" <help>, & $ or/and * + ?`(a:b:)'


def test_a_failed_test_that_passes_alone_is_flaky_and_has_passed(sections):
    issue = ('✘ Test "1.5 (of [2]) has "its" <help>, & $ or/and * + ?" recorded an issue with 1 argument '
             "a → 2 at Times.swift:8:5: Expectation failed: 1 == 2\n↳ it was late")
    suite = "OTPTests.TimeTests.Inner"
    code, lines, calls = sections([
        (1, issue, swift((suite, ODD, "1 == 2", "2 == 3"), (suite, "`other`()"))),
        (0, "", swift((suite, ODD)))], SWIFT)
    assert code == 0 and lines[-1] == "2 passed, 0 failed"
    flaky = lines.index(f"flaky: {suite}/{ODD} (Swift tests on PostgreSQL)")
    assert "at Times.swift:8:5: Expectation failed" in lines[flaky + 1]
    assert lines[flaky + 2] == "  ↳ it was late"
    # Alone, with the variables of its section.
    assert len(calls) == 2
    database, *words = calls[1]
    assert database == "postgresql" and words.count("--filter") == 1
    pattern = re.compile(words[words.index("--filter") + 1])
    assert pattern.search(f"OTPTests.TimeTests/Inner/{ODD}/Times.swift:7:4")
    assert not pattern.search(f"OTPTests.TimeTests/Inner/{ODD.replace('1.5', '105')}")
    assert not pattern.search(f"OTPTests.TimeTests/Inner/{ODD}x")


def test_an_acceptance_test_is_repeated_by_its_id(sections):
    code, lines, calls = sections([
        (1, "", pytest_report(("test_a", "test_b[x-1]", "Traceback"), ("test_a", "test_c", ""))),
        (0, "", pytest_report(("test_a", "test_b[x-1]", "")))], ACCEPTANCE)
    assert code == 0 and lines[-1] == "2 passed, 0 failed"
    flaky = lines.index("flaky: Tests/Acceptance/test_a.py::test_b[x-1] (Acceptance tests)")
    assert lines[flaky + 1:flaky + 3] == ["  assert 1 == 2", "  Traceback"]
    assert calls[1][:4] == [None, "-m", "pytest", "Tests/Acceptance/test_a.py::test_b[x-1]"]
    assert "-n" not in calls[1]


@pytest.mark.parametrize("again", [
    (1, "", pytest_report(("test_a", "test_b", "Traceback"))),
    (0, "", pytest_report(("test_a", "test_other", ""))),
    (5, "", pytest_report()), (-11, "", None)])
def test_a_test_that_does_not_pass_alone_has_failed(sections, again):
    code, lines, calls = sections(
        [(1, "", pytest_report(("test_a", "test_b", "Traceback"))), again], ACCEPTANCE)
    assert code == 1 and len(calls) == 2
    assert lines[-2:] == ["failed: Tests/Acceptance/test_a.py::test_b (Acceptance tests)",
                          "0 passed, 1 failed"]


def test_a_listed_test_is_never_repeated(sections):
    code, lines, calls = sections([
        (1, "", swift(("IdentityUsersTests.SecondFactorTests", "`V1: one succeeds`()", "2 == 1"))),
        (1, "", pytest_report(("test_races", "test_a_link_sets_one_password", "Traceback")))],
        SWIFT, ACCEPTANCE)
    assert code == 1 and len(calls) == 2
    assert lines[-3:] == [
        "failed: IdentityUsersTests.SecondFactorTests/`V1: one succeeds`()"
        " (Swift tests on PostgreSQL)",
        "failed: Tests/Acceptance/test_races.py::test_a_link_sets_one_password (Acceptance tests)",
        "0 passed, 2 failed"]


def test_the_name_of_a_listed_suite_is_not_a_prefix(sections):
    """A suite whose name only begins like a listed one is repeated."""
    suite = "IdentityUsersTests.SecondFactorTestsOfOthers"
    code, _, calls = sections([
        (1, "", swift((suite, "a()", "2 == 1"))), (0, "", swift((suite, "a()")))], SWIFT)
    assert code == 0 and len(calls) == 2


def test_more_than_five_failures_are_not_repeated(sections):
    report = swift(*(("OTPTests.TimeTests", f"test{number}()", "no") for number in range(6)))
    code, lines, calls = sections([(1, "", report)], SWIFT)
    assert code == 1 and len(calls) == 1 and lines[-1] == "0 passed, 6 failed"


@pytest.mark.parametrize("outcome", [
    (1, "", None), (1, "", swift(("OTPTests.TimeTests", "a()"), whole=False)),
    (1, "", swift(("OTPTests.TimeTests", "a()"))), (0, "", swift()),
    (-11, "", swift(("OTPTests.TimeTests", "a()", "no")))])
def test_after_a_crash_nothing_is_repeated(sections, outcome):
    """Neither in the section that crashed nor in others."""
    code, lines, calls = sections(
        [outcome, (1, "", pytest_report(("test_a", "test_b", "Traceback")))], SWIFT, ACCEPTANCE)
    assert code == 1 and len(calls) == 2
    assert "failed: Tests/Acceptance/test_a.py::test_b (Acceptance tests)" in lines
    assert any("Swift tests on PostgreSQL without a whole report" in line for line in lines)


@pytest.mark.parametrize("text", [
    "worker 'gw1' crashed while running 'test_a.py::test_b'",
    "AssertionError: the program crashed (signal 11)"])
def test_after_a_crash_of_a_worker_or_of_the_program_nothing_is_repeated(sections, text):
    code, lines, calls = sections(
        [(1, "", pytest_report(("test_a", "test_b", text), ("test_a", "test_c", "x")))], ACCEPTANCE)
    assert code == 1 and len(calls) == 1 and lines[-1] == "0 passed, 2 failed"


def test_sections_and_the_slowest_tests_are_printed_with_their_times(sections):
    report = swift(*(("OTPTests.TimeTests", f"test{number}()") for number in range(30)))
    code, lines, _ = sections(
        [(0, "", report), (0, "", pytest_report(("test_a", "test_b", "")))],
        ("command", "Format", "true"), SWIFT, ACCEPTANCE)
    assert code == 0 and lines[-1] == "32 passed, 0 failed"
    times = lines[lines.index("== Time of each section") + 1:]
    assert [re.sub(r"^ +\d+\.\d s  ", "", line) for line in times[:3]] == [
        "Format", "Swift tests on PostgreSQL", "Acceptance tests"]
    slowest = lines[lines.index("== The 20 slowest tests") + 1:-2]
    assert len(slowest) == 20
    assert slowest[0] == "    1.5 s  Tests/Acceptance/test_a.py::test_b (Acceptance tests)"


def test_a_command_that_fails_is_a_failure(sections):
    code, lines, _ = sections([(0, "", pytest_report(("test_a", "test_b", "")))],
                              ("command", "Format", "false"), ACCEPTANCE)
    assert code == 1 and lines[-2:] == ["failed: Format", "1 passed, 1 failed"]


def test_the_list_names_tests_that_exist():
    for line in NEVER_REPEATED.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("Tests/"):
            path, _, test = line.partition("::")
            assert f"def {test}(" in (ROOT / path).read_text() if test else (ROOT / path).exists(), line
            continue
        module, suite = line.split(".")
        files = Path(ROOT / "Tests" / module).rglob("*.swift")
        assert any(re.search(rf"\bstruct {suite}\b", file.read_text()) for file in files), line
