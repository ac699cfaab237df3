"""Waiting for something to become true, with a deadline and without guessing how long it takes."""

import time


def until(condition, what, seconds=30):
    """Asks until the condition holds, and returns what it said."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"after {seconds} s still not: {what}"
        time.sleep(0.02)
