"""The files of translations are valid gettext, their plural rules are those of CLDR, and a message that
is translated is shown on pages, in mail, and on the command line."""

import gettext
import re
import shutil
import subprocess

import httpx
import pytest
from babel import Locale
from babel.messages.pofile import read_po

from support.mail import MailServer
from support.pages import Pages
from support.program import ROOT, Server, run
from support.rest import Api, create_token, ok

MESSAGES = ROOT / "Localizations/messages.pot"
FILES = sorted((ROOT / "Localizations").glob("*.po*"))
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


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_msgfmt_accepts_the_file(file):
    text = file.read_text()
    if file == MESSAGES:
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
    assert faults_of_plurals(header, "en" if file == MESSAGES else file.stem) == []


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


TRANSLATION = """
msgid ""
msgstr ""
"Language: de\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "Sign in"
msgstr "Anmelden"

#, python-brace-format
msgid "Choose a new password for {project}"
msgstr "Neues Passwort für {project}"

#, python-brace-format
msgid "Unknown command: {command}. See countersign --help."
msgstr "{command} ist kein Befehl."

#, fuzzy
msgid "Password"
msgstr "Kennwort"

msgid "No such message"
msgstr "Nichts"
"""


@pytest.fixture
def assets(tmp_path):
    """A folder with the program's files and a translation."""
    folder = tmp_path / "assets"
    (folder / "Localizations").mkdir(parents=True)
    for name in ["Templates", "Public"]:
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(MESSAGES, folder / "Localizations")
    (folder / "Localizations/de.po").write_text(TRANSLATION)
    return folder


def test_a_translation_is_on_pages_and_in_mail_and_its_gaps_are_one_warning(tmp_path, assets):
    with MailServer() as mail_server:
        flags = ["--smtp", f"smtp://127.0.0.1:{mail_server.port}", "--smtp-from", "a@example.com"]
        with Server(tmp_path / "data", *flags, "--assets", assets) as server:
            pages = Pages(server.url).set_up(server.setup_code)
            pages.create_project("localized", "Laden")
            german = httpx.get(server.url + "/sign-in", headers={"Accept-Language": "de"}).text
            assert "<h1>Anmelden</h1>" in german and ">Password<" in german
            assert "<h1>Sign in</h1>" in httpx.get(server.url + "/sign-in").text
            api = Api(server.url, "localized", pages.api_key("localized"),
                      create_token(server.data, "localized", "owner"))
            ok(api.admin("POST", "accounts", {"email": "sam@example.com", "password": "bright-swordfish"}))
            ok(api.client(":sendOobCode", {
                "requestType": "PASSWORD_RESET", "email": "sam@example.com"},
                headers={"X-Firebase-Locale": "de"}))
            mail, = mail_server.received(1)
            assert mail["Subject"] == "Neues Passwort für Laden"
            warnings = [line for line in server.output if "de.po" in line]
    assert len(warnings) == 1 and warnings[0].endswith("Fuzzy: 1. With other arguments, tags, or "
                                                       "plural forms: 0. Unknown: 1.")


@pytest.mark.parametrize(("language", "said"), [
    ("de_DE.UTF-8", "nothing ist kein Befehl.\n"), ("C", "Unknown command: nothing."),
    ("fr_FR.UTF-8", "Unknown command: nothing."), ("en_US.UTF-8", "Unknown command: nothing."),
])
def test_a_command_speaks_the_language_of_its_environment(assets, language, said):
    result = run("nothing", env={"COUNTERSIGN_ASSETS": str(assets), "LC_ALL": language})
    assert result.returncode == 64 and result.stderr.startswith(said)


def test_an_invalid_translation_stops_no_command(tmp_path, assets):
    (assets / "Localizations/de.po").write_text("msgid broken")
    env = {"COUNTERSIGN_ASSETS": str(assets), "LC_ALL": "de_DE.UTF-8"}
    result = run("nothing", env=env)
    assert result.returncode == 64 and result.stderr.startswith("Unknown command: nothing.")
    created = run("init", "--data", tmp_path / "data", env=env)
    assert created.returncode == 0 and "de.po:1: “broken” isn’t valid here" in created.stderr
