"""The release build compiles, too, although the other tests use a debug build.

A release differs in more than its speed: code for debug builds is left out, and what's internal to a module isn't
visible to tests, so imports that are public only for them are errors.
"""

import subprocess

import pytest

from support.plans import Plan
from support.program import ROOT

pytestmark = [pytest.mark.timeout(300), pytest.mark.sqlite]


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return Plan(tmp_path_factory.mktemp("release") / "build", "--static-swift-stdlib",
                configuration="release")


def modules():
    """The modules of the program in Swift; those of C libraries have no Swift files."""
    return sorted(folder.name for folder in (ROOT / "Sources").iterdir()
                  if any(folder.rglob("*.swift")))


@pytest.mark.parametrize("module", modules())
def test_a_module_compiles_in_a_release(plan, module):
    sources, words = plan.sources(module)
    words = [word for word in words if word != "-c"]
    checked = subprocess.run([*words, "-typecheck", *sources], cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr[-4000:]
