"""The recipe for a role in CONTRIBUTING.md, followed on a copy of the modules that know roles."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.plans import command
from support.program import ROOT

# No database is used, and the compiler reads the modules that were built for the other tests.
pytestmark = [pytest.mark.timeout(900), pytest.mark.sqlite]
BUILT = (ROOT / ".build/debug").resolve()

# What the recipe says to add: file, the line it goes before, and the text.
STEPS = [
    ("Sources/Identity/Staff/Administrators/Permission.swift",
     "  /// Read-only access to everything",
     "  /// Reads policies, and nothing of users.\n  case counsel\n"),
    ("Sources/Identity/Staff/Administrators/Permission.swift",
     "    }\n  }\n\n  /// Whether administrators with this role must have",
     "    case .counsel: Self.ofCounsel\n"),
    ("Sources/Identity/Staff/Administrators/Permission.swift",
     "}\n\npublic enum ServiceTokenRole",
     "  private static let ofCounsel: Set<Permission> = [.seePool, .readPolicy]\n"),
    ("Sources/MailText/Role+Text.swift",
     "    }\n  }\n\n  private static let owner",
     "    case .counsel: counsel\n"),
    ("Sources/MailText/Role+Text.swift",
     "}\n\nextension Role {",
     "  private static let counsel = RoleText(\n"
     + ",\n".join(f'    {name}: Message("counsel, {name}")' for name in ("name", "title", "summary"))
     + ")\n"),
]


def compiler(module):
    """The words of the command that compiles a module, without the files it reads and writes."""
    words = iter(command((ROOT / ".build/debug.yaml").read_text(), module, "module")[1])
    kept = [next(words), "-module-name", module]
    for word in words:
        if word in ("-I", "-swift-version", "-sdk", "-target", "-enable-upcoming-feature",
                    "-package-name"):
            kept += [word, next(words)]
        elif word == "-Xcc":
            kept += [word, next(words)]
        elif word in ("-strict-memory-safety", "-warnings-as-errors"):
            kept.append(word)
    return kept


def compile_copy(module, folder, *words, checked=None):
    """Runs the compiler on a module of the copy, whose modules come before those that were built.

    `checked` names the files whose functions are checked, by what is in them."""
    sources = sorted((folder / "Sources" / module).rglob("*.swift"))
    sources += sorted((BUILT / f"{module}.build/DerivedSources").glob("*.swift"))
    files = []
    for source in sources:
        if checked and re.search(checked, source.read_text()):
            files.append("-primary-file")
        files.append(source)
    program, *options = compiler(module)
    # Only the driver knows where the macros of the standard library are.
    options += ["-plugin-path", Path(program).parent.parent / "lib/swift/host/plugins"]
    done = subprocess.run(
        [program, *words, "-I", folder, *options, *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, (module, done.stderr[-3_000:])


def test_a_role_is_a_case_with_its_permissions_and_texts(tmp_path):
    for module in ("Identity", "MailText", "Console"):
        shutil.copytree(ROOT / "Sources" / module, tmp_path / "Sources" / module)
    for path, before, added in STEPS:
        file = tmp_path / path
        text = file.read_text()
        assert text.count(before) == 1, (path, before)
        file.write_text(text.replace(before, added + before))
    for module in ("Identity", "MailText"):
        compile_copy(
            module, tmp_path, "-emit-module", "-wmo", "-Onone", "-Xfrontend",
            "-experimental-skip-non-inlinable-function-bodies",
            "-emit-module-path", tmp_path / f"{module}.swiftmodule")
    # A switch over roles is in a function that mentions one.
    for module in ("Identity", "MailText", "Console"):
        compile_copy(module, tmp_path, "-frontend", "-typecheck", checked=r"\b([Rr]oles?|Grant)\b")
