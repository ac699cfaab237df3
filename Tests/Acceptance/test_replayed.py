"""Conversations as the JS, iOS, Android, Node and Go clients hold them with the emulator profile,
replayed: paths, headers and bodies as they send them (see `support/replay.py`)."""

import pytest

from support.replay import FOLDER, Conversation, files, make_as_new

FILES = files()


@pytest.fixture
def conversation(emulator):
    """With a server whose project is as new."""
    make_as_new(emulator.url)
    return Conversation(emulator.url)


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_replayed(conversation, path):
    conversation.run(path)


def test_every_client_speaks():
    assert {path.parent.name for path in FILES} == {"js", "ios", "android", "node", "go"}


def test_a_wrong_answer_is_noticed(emulator):
    """The comparison itself: what it must let through and what not."""
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
