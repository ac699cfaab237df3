"""Runs the sections of script/test, repeats single failed tests, and adds up the results.

    suite.py REPORTS command NAME COMMAND …     runs a command, which passes or fails
    suite.py REPORTS swift NAME [VARIABLE=VALUE …] [options of `swift test`]
    suite.py REPORTS pytest NAME [VARIABLE=VALUE …] [arguments of pytest]
    suite.py REPORTS finish                     repeats, prints what happened, and the last line
"""

import html
import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass, field
from pathlib import Path

NEVER_REPEATED = Path(__file__).parent / "never_repeated.txt"
# With more failures, something is broken that a second run doesn't explain.
MOST_REPEATED = 5
# What ends a test's process, and so other tests with it. The first is what pytest-xdist reports.
CRASH = re.compile(r"^worker '\w+' crashed while running|the program crashed \(signal \d+\)", re.M)


@dataclass
class Section:
    """A part of the run, and how to run one of its tests again."""

    kind: str
    name: str
    variables: dict
    words: list
    # None while it runs, and if it never ended.
    code: int | None = None
    seconds: float = 0


@dataclass
class Test:
    """A test of a report. One without a name is a run that didn't end with a whole report."""

    section: Section
    name: str
    seconds: float = 0
    failed: bool = False
    skipped: bool = False
    output: list = field(default_factory=list)
    crashed: bool = False


def run_section(reports, kind, name, words):
    """Runs a section and stores what `finish` needs; returns the exit code."""
    variables = {}
    while words and re.match(r"[A-Z_]+=", words[0]):
        variable, value = words.pop(0).split("=", 1)
        variables[variable] = value
    section = Section(kind, name, variables, words)
    stem = reports / f"{len(list(reports.glob('*.json'))):02}"
    save(section, stem)
    started = time.monotonic()
    section.code = run(section, words, stem)
    section.seconds = time.monotonic() - started
    save(section, stem)
    return section.code


def save(section, stem):
    stem.with_suffix(".json").write_text(json.dumps(asdict(section)))


def run(section, words, stem):
    """Runs a command, or tests with a report, and keeps a copy of the output."""
    if section.kind == "swift":
        words = ["swift", "test", "--skip-build", "--parallel", *words,
                 "--xunit-output", f"{stem}.xml"]
    elif section.kind == "pytest":
        words = [".venv/bin/python", "-m", "pytest", *words, "--junit-xml", f"{stem}.xml"]
    # A file, since what a test leaves behind would keep a pipe open.
    with open(f"{stem}.log", "wb") as log, open(log.name, "rb") as copy:
        process = subprocess.Popen(words, env={**os.environ, **section.variables}, stdout=log,
                                   stderr=subprocess.STDOUT)
        ended = False
        while not ended:
            time.sleep(0.1)
            ended = process.poll() is not None
            sys.stdout.buffer.write(copy.read())
            sys.stdout.buffer.flush()
    return process.returncode


def results(section, stem):
    """Returns the tests of a run, and one that failed without a name if the report isn't whole."""
    if section.kind == "command":
        return [Test(section, section.name, failed=section.code != 0)]
    log = Path(f"{stem}.log")
    log = log.read_text(errors="replace") if log.exists() else ""
    read = swift_report if section.kind == "swift" else pytest_report
    try:
        tests = read(section, stem, log)
    except (OSError, ValueError, ElementTree.ParseError):
        tests = []
    # pytest exits with more than 1 if it was interrupted, couldn't collect tests, or broke.
    broken = not tests or section.code not in (0, 1) or (
        section.code == 0) == any(test.failed for test in tests)
    if broken:
        tests.append(Test(section, "", failed=True, crashed=True))
    return tests


def swift_report(section, stem, log):
    """Reads the report of Swift Testing, which has a test per line and doesn't escape names."""
    # SwiftPM adds a suffix to the name of its report.
    text = Path(f"{stem}-swift-testing.xml").read_text()
    if not text.rstrip().endswith("</testsuites>"):
        raise ValueError("the report isn't whole")
    tests = []
    for line in text.splitlines():
        if found := re.match(r'    <testcase classname="(.*?)" name="(.*?)" (?:time="([\d.]+)" )?/?>$',
                             line):
            suite, function, seconds = found.groups()
            tests.append(Test(section, f"{suite}/{function}", float(seconds or 0)))
        elif found := re.match(r'      <failure message="(.*)" />$', line):
            # The report has no files and lines; what was printed has.
            tests[-1].output = tests[-1].output if tests[-1].failed else swift_issues(function, log)
            tests[-1].output = tests[-1].output or [html.unescape(found[1])]
            tests[-1].failed = True
        elif line.startswith("      <skipped"):
            tests[-1].skipped = True
    return tests


def swift_issues(function, log):
    """Returns what Swift Testing printed about the issues of a test, also of its namesakes."""
    shown = re.sub(r"^`(.*)`\(.*\)$", r'"\1"', function)
    return re.findall(
        rf"^\S (Test {re.escape(shown)} recorded an issue.*(?:\n(?:↳|  ).*)*)", log, re.M)


def pytest_report(section, stem, log):
    """Reads the report of pytest. A test that failed and couldn't clean up is there twice."""
    tests = {}
    for case in ElementTree.parse(f"{stem}.xml").iter("testcase"):
        # A file that couldn't be collected has a name only.
        file = case.get("classname").replace(".", "/")
        name = "Tests/Acceptance/" + (f"{file}.py::" if file else "") + case.get("name")
        test = tests.setdefault(name, Test(section, name))
        test.seconds += float(case.get("time", 0))
        faults = [f"{fault.get('message', '')}\n{fault.text or ''}"
                  for kind in ("failure", "error") for fault in case.iter(kind)]
        test.failed = test.failed or bool(faults)
        test.output += faults
        test.skipped = case.find("skipped") is not None
        test.crashed = test.crashed or any(CRASH.search(fault) for fault in faults)
    return list(tests.values())


def never_repeated():
    """Returns the names of never_repeated.txt: of tests, or of what contains them."""
    lines = (line.split("#")[0].strip() for line in NEVER_REPEATED.read_text().splitlines())
    return [line for line in lines if line]


def is_listed(name, names):
    return any(name == listed or name.startswith((f"{listed}/", f"{listed}.", f"{listed}::",
                                                  f"{listed}[")) for listed in names)


def to_repeat(tests):
    """Returns the failed tests that may run again."""
    failed = [test for test in tests if test.failed]
    if len(failed) > MOST_REPEATED or any(test.crashed for test in tests):
        return []
    names = never_repeated()
    return [test for test in failed
            if test.section.kind != "command" and not is_listed(test.name, names)]


def selection(test):
    """Returns the words that select one test."""
    if test.section.kind == "pytest":
        return [test.name]
    # A suite within another is behind a dot in the report and behind a slash in the test's name.
    exact = re.sub(r"([\\^$|?*+()\[\]{}])", r"\\\1", test.name)
    return ["--filter", "^" + re.sub("[./]", "[./]", exact) + "(/|$)"]


def passes_alone(test, stem):
    """Runs a failed test again, as in its section, with nothing beside it."""
    section = Section(test.section.kind, test.section.name, test.section.variables, selection(test))
    section.code = run(section, section.words, stem)
    again = results(section, stem)
    return [each.name for each in again] == [test.name] and not (
        again[0].failed or again[0].skipped)


def heading(text):
    print(f"\n== {text}", flush=True)


def finish(reports):
    """Prints the results; returns whether nothing failed."""
    tests, sections = [], []
    for stored in sorted(reports.glob("*.json")):
        sections.append(Section(**json.loads(stored.read_text())))
        tests += results(sections[-1], stored.with_suffix(""))
    flaky = []
    for number, test in enumerate(to_repeat(tests)):
        heading(f"Again, alone: {test.name} ({test.section.name})")
        started = time.monotonic()
        if passes_alone(test, reports / f"again{number}"):
            test.failed = False
            flaky.append(test)
        sections.append(Section("", f"Again: {test.name}", {}, [],
                                seconds=time.monotonic() - started))

    heading("Time of each section")
    for section in sections:
        print(f"{section.seconds:7.1f} s  {section.name}")
    heading("The 20 slowest tests")
    timed = [test for test in tests if test.section.kind != "command"]
    for test in sorted(timed, key=lambda test: -test.seconds)[:20]:
        print(f"{test.seconds:7.1f} s  {test.name} ({test.section.name})")
    print()
    for test in flaky:
        print(f"flaky: {test.name} ({test.section.name})")
        for line in "\n".join(test.output).splitlines():
            print(f"  {line}")
    for test in tests:
        if test.failed and test.section.kind == "command":
            print(f"failed: {test.name}")
        elif test.failed and test.name:
            print(f"failed: {test.name} ({test.section.name})")
        elif test.failed:
            print(f"failed: {test.section.name} without a whole report of its tests "
                  f"(exit code {test.section.code}), counted as one failure")
    failed = sum(test.failed for test in tests)
    skipped = sum(test.skipped and not test.failed for test in tests)
    summary = f"{len(tests) - failed - skipped} passed, {failed} failed"
    print(summary + (f", {skipped} skipped" if skipped else ""))
    return failed == 0


if __name__ == "__main__":
    folder, action, *rest = sys.argv[1:]
    if action == "finish":
        sys.exit(0 if finish(Path(folder)) else 1)
    sys.exit(run_section(Path(folder), action, rest[0], rest[1:]))
