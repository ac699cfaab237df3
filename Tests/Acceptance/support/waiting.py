"""Waits for a condition, with a deadline instead of a fixed delay."""

import time


def until(condition, what, seconds=30):
    """Polls a condition until it's true, and returns its value."""
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - began
        assert waited < seconds, f"not after {seconds} s: {what}"
        # Asking costs processor time, which others wait for.
        time.sleep(min(max(0.02, waited / 20), 0.1))


def room_in_interval(seconds):
    """Waits for the next 30-second interval unless this one has this many seconds left.

    The test and the server then agree on how far a code is from the current interval.
    """
    until(lambda: time.time() % 30 <= 30 - seconds, "an interval begins", 40)
