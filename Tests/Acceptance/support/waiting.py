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
