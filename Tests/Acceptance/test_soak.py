"""The short form of `script/soak`: everything that goes wrong there goes wrong once."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sqlite


@pytest.mark.timeout(600)
def test_a_server_survives_two_minutes_of_faults_under_load():
    done = subprocess.run(
        [sys.executable, "-m", "support.soak", "--minutes", "2"], cwd=Path(__file__).parent,
        capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "passed"
