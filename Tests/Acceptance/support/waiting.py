"""Waits for a condition, with a deadline instead of a fixed delay."""

import time


def until(condition, what, seconds=30):
    """Polls a condition until it's true, and returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not after {seconds} s: {what}"
        time.sleep(0.02)


def room_in_interval(seconds):
    """Waits for the next 30-second interval unless this one has this many seconds left.

    The test and the server then agree on how far a code is from the current interval.
    """
    until(lambda: time.time() % 30 <= 30 - seconds, "an interval begins", 40)
