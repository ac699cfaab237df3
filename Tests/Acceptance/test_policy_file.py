"""The watched policy file, while it's changed, replaced, and unreadable."""

import json
import os

import httpx
import pytest

from support.pages import Pages
from support.program import Server, run
from support.rest import Api, create_token
from support.waiting import until

PROJECT = "watched"
WARNING = "policy file can’t be read"
DIFFERS = "differs from the policy file"
PAGES = ["/projects", *(f"/projects/{PROJECT}{page}" for page in ("", "/policy", "/review"))]


@pytest.fixture
def started(tmp_path):
    """A server whose policy file differs, its owner, and a function that returns other versions."""
    data, path = tmp_path / "data", tmp_path / "policies.json"
    with Server(data) as server:
        pages = Pages(server.url).set_up(server.setup_code)
        pages.create_project(PROJECT)
        Api(server.url, PROJECT, pages.api_key(PROJECT),
            create_token(data, PROJECT, "owner")).switch_totp_on(1)
        server.stop()
    exported = json.loads(run("policy", "export", "--data", data).stdout)

    def text(intervals):
        exported["pools"][0]["totp"]["adjacentIntervals"] = intervals
        return json.dumps(exported)

    path.write_text(text(3))
    with Server(data, "--policy-file", path, "--metrics-listen", "127.0.0.1:0") as server:
        pages.url = pages.origin = server.url
        pages.http = httpx.Client(base_url=server.url, timeout=60, cookies=pages.http.cookies)
        yield server, pages, path, text


def shows(pages, text, paths=PAGES):
    until(lambda: all(text in pages.get(path).text for path in paths), f"the pages show {text!r}", 30)


def shows_not(pages, text, paths=PAGES):
    until(lambda: not any(text in pages.get(path).text for path in paths),
          f"the pages don't show {text!r}", 30)


def test_a_file_that_is_broken_is_not_shown_as_one_without_differences(started):
    server, pages, path, text = started
    metrics = server.wait_for_line(r"Metrics: (\S+)")
    shows(pages, DIFFERS)
    for broken in (lambda: path.write_text(text(3)[:-40]), path.unlink, path.mkdir):
        broken()
        shows(pages, WARNING)
        shows_not(pages, DIFFERS)
        assert "countersign_policy_file_readable 0" in httpx.get(metrics).text.splitlines()
    path.rmdir()
    path.write_text(text(3))
    shows_not(pages, WARNING)
    shows(pages, DIFFERS)
    assert "countersign_policy_file_readable 1" in httpx.get(metrics).text.splitlines()


def test_a_replaced_file_is_read_whatever_its_time_and_through_links(started):
    server, pages, path, text = started
    shows(pages, DIFFERS)
    # Of the same size and time.
    status, other = path.stat(), path.parent / "other"
    other.write_text(text(1))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)
    shows_not(pages, DIFFERS)
    # As in a ConfigMap of Kubernetes.
    for name, intervals in (("v1", 3), ("v2", 1)):
        (path.parent / name).mkdir()
        (path.parent / name / path.name).write_text(text(intervals))
    data, new = path.parent / "..data", path.parent / "..new"
    data.symlink_to("v1")
    path.unlink()
    path.symlink_to(f"..data/{path.name}")
    shows(pages, DIFFERS)
    new.symlink_to("v2")
    new.rename(data)
    shows_not(pages, DIFFERS)


def test_a_pipe_is_reported_once_and_blocks_nothing(started):
    server, pages, path, text = started
    path.unlink()
    os.mkfifo(path)
    shows(pages, WARNING)
    path.unlink()
    path.write_text(text(3))
    shows(pages, DIFFERS)
    lines = [line for line in server.output if "isn't a regular file" in line]
    assert len(lines) == 1
    assert server.stop() == 0
