"""Every rule of the stylesheet is used, and every class has a rule."""

import re

from support.faults import expect_none
from support.program import ROOT

STYLESHEET = (ROOT / "Public/countersign.css").read_text()
TEMPLATES = {path: path.read_text() for path in sorted((ROOT / "Templates").rglob("*"))
             if path.suffix in (".mustache", ".svg")}
CODE = {path: path.read_text() for path in sorted((ROOT / "Sources/Console").rglob("*.swift"))}
SCRIPT = "".join((ROOT / "Public" / name).read_text() for name in ("countersign.js", "policy.js"))

# Classes for tests and scripts only, without a style.
WITHOUT_RULES = set()


def rules():
    """Returns the stylesheet's selectors, without comments and declarations."""
    text = re.sub(r"/\*.*?\*/", "", STYLESHEET, flags=re.S)
    return re.sub(r"\{[^{}]*\}", "{}", text)


def styled():
    return set(re.findall(r"\.([a-z][\w-]*)", rules()))


def used():
    """Returns every class in a template or in code, except those that code composes."""
    names = set()
    for text in [*TEMPLATES.values(), *CODE.values()]:
        for start, value, end in re.findall(r'class=(\\?)"([^"]*?)(\\?)"', text):
            plain = re.sub(r"\{\{[^}]*\}\}|[\w-]*\\#?\((?:[^()]|\([^()]*\))*\)", " ", value)
            if start and not end:
                plain = re.sub(r"[\w-]+$", "", plain)
            names |= {name for name in plain.split() if re.fullmatch(r"[a-z][\w-]*", name)}
    return names


def patterns(name):
    """Returns patterns of a class: as it is, or as the start that code adds a word or number to."""
    yield rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    if start := re.match(r"[a-z-]+?(?=\d+$)|.*-(?=[a-z]+$)", name):
        yield rf'[" ]{start[0]}(?:"|\\#?\()'


def test_each_rule_is_used():
    everything = "\n".join([*TEMPLATES.values(), *CODE.values(), SCRIPT])
    expect_none(name for name in sorted(styled())
                if not any(re.search(pattern, everything) for pattern in patterns(name)))


def test_each_class_has_a_rule():
    expect_none(sorted(used() - styled() - WITHOUT_RULES))


def test_positions_follow_the_writing_direction():
    """Positions are relative to the writing direction, not left or right."""
    text = re.sub(r"/\*.*?\*/", "", STYLESHEET, flags=re.S)
    found = re.findall(
        r"[^{};]*(?:margin|padding|border|inset)-(?:left|right|top|bottom)[^;}]*|(?<![\w-])(?:left|right)\s*:[^;}]*",
        text)
    expect_none(found)
