"""The message catalogs' files are valid gettext, and their plural rules are those of CLDR."""

import gettext
import re
import subprocess
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "Templates").rglob("messages*.po"),
                *(ROOT / "Sources/countersign/CommandLine").glob("messages*.po")])
NUMBERS = [*range(0, 1_101), 1_000_000, 2_000_000, 1_000_001]


def names(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def check(text: str) -> str:
    """Returns msgfmt's errors for a file, without warnings about the translator."""
    result = subprocess.run(
        ["msgfmt", "--check", "--output-file=/dev/null", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stderr if result.returncode else ""


def filled(text: str) -> str:
    """Returns an English file with its texts as translations, so that their format is checked."""
    return subprocess.run(
        ["msgen", "--no-wrap", "-"], input=text, capture_output=True, text=True, check=True
    ).stdout


def faults_of_plurals(header: str, locale: str) -> list[str]:
    """Returns the differences between a Plural-Forms header and CLDR's rule."""
    match = re.fullmatch(r"nplurals=(\d+); plural=(.+?);?", header)
    assert match, header
    form = gettext.c2py(match[2])
    rule = Locale.parse(locale, sep="-").plural_form
    forms_of = {}
    categories_of = {}
    for number in NUMBERS:
        forms_of.setdefault(rule(number), set()).add(form(number))
        categories_of.setdefault(form(number), set()).add(rule(number))
    faults = [f"{key} is {sorted(value)}" for key, value in forms_of.items() if len(value) > 1]
    faults += [f"{key} is {sorted(value)}" for key, value in categories_of.items() if len(value) > 1]
    if int(match[1]) != len(categories_of):
        faults.append(f"nplurals is {match[1]}, not {len(categories_of)}")
    return faults


def test_catalog_files_exist():
    assert "Templates/common/messages.po" in names(FILES)
    assert "Sources/countersign/CommandLine/messages.po" in names(FILES)


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_msgfmt_accepts_the_file(file):
    text = file.read_text()
    if file.name == "messages.po":
        assert not re.search(r'^msgstr(\[\d\])? "[^"]', text.split("\n\n", 1)[1], re.M)
        text = filled(text)
    assert check(text) == ""


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_texts_with_arguments_have_a_format_flag(file):
    """Without the flag, msgfmt doesn't compare the arguments of a translation."""
    for message in read_po(file.open("rb")):
        text = "".join(message.id) if message.pluralizable else message.id
        # Doubled braces are literal ones.
        has_arguments = bool(re.search(r"{\w", text.replace("{{", "")))
        assert ("python-brace-format" in message.flags) == (has_arguments and message.id != "")


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_plural_forms_match_cldr(file):
    catalog = read_po(file.open("rb"))
    header = dict(catalog.mime_headers)["Plural-Forms"]
    parts = file.name.split(".")
    assert faults_of_plurals(header, parts[1] if len(parts) == 3 else "en") == []


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        ("nplurals=2; plural=(n > 1);", "en"),
        ("nplurals=3; plural=(n != 1);", "en"),
        ("nplurals=2; plural=(n != 1);", "pl"),
        ("nplurals=2; plural=(n != 1);", "ja"),
    ],
)
def test_a_wrong_plural_rule_is_detected(header, locale):
    assert faults_of_plurals(header, locale)


def test_a_wrong_argument_is_detected():
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    entry = '#, python-brace-format\nmsgctxt "a.b"\nmsgid "{count} of"\nmsgstr "{number} of"\n'
    assert "count" in check(header + entry)
