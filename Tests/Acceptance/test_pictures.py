"""The README's picture is current, complete, and small."""

import difflib
import re
import struct

import pytest

from support import pictures
from support.program import ROOT

README = (ROOT / "README.md").read_text()
RENEW = "Renew the picture of the README with script/screenshots --readme"


def test_the_picture_matches_the_page(chromium, tmp_path):
    with pictures.demo(tmp_path) as demo:
        page = pictures.visit(chromium, demo)
        kept = (pictures.FOLDER / f"{pictures.NAME}.txt").read_text()
        changes = [*difflib.unified_diff(
            kept.splitlines(), pictures.text_of(page).splitlines(), "in the picture", "now",
            lineterm="", n=0)]
        page.context.close()
    assert not changes, "\n".join([f"{RENEW}. Changes:", *changes])


def test_the_readme_shows_the_picture_in_light_and_dark():
    [(dark, light)] = re.findall(r"""<picture>
<source media="\(prefers-color-scheme: dark\)" srcset="docs/pictures/(\w+)-dark\.png">
<img src="docs/pictures/(\w+)-light\.png" alt="[^"]{20,}">
</picture>""", README)
    assert dark == light == pictures.NAME
    assert README.count("docs/pictures/") == 2
    assert {file.name for file in pictures.FOLDER.iterdir()} == {
        f"{pictures.NAME}.txt", *(f"{pictures.NAME}-{scheme}.png" for scheme in pictures.SCHEMES)}


@pytest.mark.parametrize("scheme", pictures.SCHEMES)
def test_the_picture_is_small(scheme):
    data = (pictures.FOLDER / f"{pictures.NAME}-{scheme}.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (pictures.PART["width"], pictures.PART["height"])
    assert len(data) < 120_000
