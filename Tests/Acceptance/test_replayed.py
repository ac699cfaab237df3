"""Replays the requests of the JS, iOS, Android, Node.js, and Go clients against the emulator
profile, with paths, headers, and bodies as the clients send them; see `support/replay.py`."""

import pytest

from support.replay import FOLDER, Conversation, files, reset_project

FILES = files()


@pytest.fixture
def conversation(emulator):
    """A conversation with a fresh project."""
    reset_project(emulator.url)
    return Conversation(emulator.url)


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_a_conversation_gets_the_expected_responses(conversation, path):
    conversation.run(path)


def test_every_client_has_conversations():
    assert {path.parent.name for path in FILES} == {"js", "ios", "android", "node", "go"}


def test_the_comparison_detects_differences(emulator):
    """Checks what the comparison accepts and refuses."""
    check = Conversation(emulator.url)._compare
    good = [("a", "$text"), (3, "$number"), ({"a": 1}, {"a": "$number"}), ([], []),
            ({"a": 1, "b": 2}, {"a": 1, "…": "$any"}), ("2026-09-24T10:15:00.1Z", "$time")]
    bad = [("", "$text"), ("3", "$number"), (True, "$number"), ({}, {"a": "$any"}), (1, True),
           ({"a": 1, "b": 2}, {"a": 1}), ([1], []), ("2026-09-24T10:15:00Z", "$time"),
           ("a.b", "$token"), ("1a", "$digits"), (None, {}), ("x", "y")]
    for real, expected in good:
        check(real, expected, "good")
    for real, expected in bad:
        with pytest.raises(AssertionError):
            check(real, expected, "bad")
