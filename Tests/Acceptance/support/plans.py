"""The commands that SwiftPM plans for a build."""

import json
import re


def command(plan, target, kind):
    """The inputs and the words of a target's command in a plan: the module, or the program."""
    lines = re.search(rf'^  "C\.{target}-(?!bench)[\w-]+-debug\.{kind}":\n((?:    .*\n)+)', plan, re.M)[1]
    return [json.loads(re.search(rf"{name}: (\[.*\])", lines)[1]) for name in ("inputs", "args")]
