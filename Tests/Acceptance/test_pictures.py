"""The README's pictures are current, complete, and small."""

import difflib
import re
import struct

import pytest

from support import pictures
from support.program import ROOT

README = (ROOT / "README.md").read_text()
NAMES = sorted(file.stem for file in pictures.FOLDER.glob("*.txt"))
RENEW = "Renew the pictures of the README with script/screenshots --readme"


def test_the_pictures_match_the_pages(chromium, tmp_path):
    changes = []
    with pictures.demo(tmp_path) as demo:
        for name, page in pictures.visit(chromium, demo):
            file = pictures.FOLDER / f"{name}.txt"
            old = file.read_text() if file.exists() else ""
            changes += difflib.unified_diff(
                old.splitlines(), pictures.text_of(page).splitlines(), f"{name}, in the picture",
                f"{name}, now", lineterm="", n=0)
    assert not changes, "\n".join([f"{RENEW}. Changes:", *changes])


def test_the_readme_shows_each_picture_in_light_and_dark():
    shown = re.findall(r"""<picture>
<source media="\(prefers-color-scheme: dark\)" srcset="docs/pictures/(\w+)-dark\.png">
<img src="docs/pictures/(\w+)-light\.png" alt="[^"]{20,}">
</picture>""", README)
    assert [dark for dark, _ in shown] == [light for _, light in shown]
    assert sorted(dark for dark, _ in shown) == NAMES and len(NAMES) == 4
    assert README.count("docs/pictures/") == 2 * len(shown)


@pytest.mark.parametrize("scheme", pictures.SCHEMES)
@pytest.mark.parametrize("name", NAMES)
def test_each_picture_is_small(name, scheme):
    data = (pictures.FOLDER / f"{name}-{scheme}.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == tuple(pictures.SIZE.values())
    assert len(data) < 120_000
