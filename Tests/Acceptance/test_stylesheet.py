"""The stylesheet and what uses it: no rule without a use, no class without a rule."""

import re

from support.faults import expect_none
from support.program import ROOT

STYLESHEET = (ROOT / "Public/countersign.css").read_text()
TEMPLATES = {path: path.read_text() for path in sorted((ROOT / "Templates").rglob("*.mustache"))}
CODE = {path: path.read_text() for path in sorted((ROOT / "Sources/Console").rglob("*.swift"))}
SCRIPT = (ROOT / "Public/countersign.js").read_text()

# Classes that say what something is for tests and scripts, and look like what is around them.
WITHOUT_RULES = set()


def rules():
    """The stylesheet's selectors, without remarks and declarations."""
    text = re.sub(r"/\*.*?\*/", "", STYLESHEET, flags=re.S)
    return re.sub(r"\{[^{}]*\}", "{}", text)


def styled():
    return set(re.findall(r"\.([a-z][\w-]*)", rules()))


def used():
    """Every class that a template or a page writes."""
    names = set()
    for text in [*TEMPLATES.values(), *CODE.values()]:
        for value in re.findall(r'class=\\?"([^"]*?)\\?"', text):
            plain = re.sub(r"\{\{[^}]*\}\}|\\\([^)]*\)", " ", value)
            names |= {name for name in plain.split() if re.fullmatch(r"[a-z][\w-]*", name)}
    return names


def test_each_rule_has_a_use():
    everything = "\n".join([*TEMPLATES.values(), *CODE.values(), SCRIPT])
    expect_none(name for name in sorted(styled())
                if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", everything))


def test_each_class_has_a_rule():
    expect_none(sorted(used() - styled() - WITHOUT_RULES))


def test_directions_are_logical():
    """Nothing is put at the left or right but what reads so in every language."""
    text = re.sub(r"/\*.*?\*/", "", STYLESHEET, flags=re.S)
    found = re.findall(
        r"[^{};]*(?:margin|padding|border|inset)-(?:left|right|top|bottom)[^;}]*|(?<![\w-])(?:left|right)\s*:[^;}]*",
        text)
    expect_none(found)
