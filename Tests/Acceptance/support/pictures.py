"""The screenshot in the README and its text; taken by `script/screenshots --readme`."""

import datetime
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

from .demo import Demo
from .program import ROOT, preloaded

FOLDER = ROOT / "docs/pictures"
NAME = "policy"
SIZE = {"width": 1440, "height": 1600}
# The controls and what they are chosen by, without the sidebar.
PART = {"x": 240, "y": 64, "width": 1184, "height": 1004}
SCHEMES = ("light", "dark")
# The demo's history ends at its creation, so a fixed creation time makes it reproducible.
MOMENT = datetime.datetime(2026, 11, 20, 15, tzinfo=datetime.timezone.utc)


@contextmanager
def demo(folder):
    """Starts the demo at that time, with a stopped clock."""
    env = {**preloaded(folder, "clock"), "CLOCK_AT": f"{MOMENT.timestamp():.0f}"}
    with Demo(Path(folder) / "demo", now=MOMENT.timestamp, env=env) as demo:
        yield demo


def visit(chromium, demo, scheme="light"):
    """Opens the page of the picture, and returns it."""
    retail = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    context = demo.context(
        chromium, demo.owner, viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    # A script shows times as relative.
    page.clock.set_fixed_time(MOMENT)
    assert page.goto(f"{retail}/policy").status == 200
    return page


def text_of(page):
    """Returns the text of a page, with the server's port and random fingerprints replaced."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8080", page.locator("body").inner_text())
    text = re.sub(r"\b[0-9a-f]{64}\b", "0" * 64, text)
    text = re.sub(r"\(entry [\d,]+\)", "(entry 1)", text)
    lines = [re.sub(r"[\t ]+", " ", line).strip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def renew(chromium, folder):
    """Takes the picture in both schemes, writes its text to a file, and returns the files."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    with demo(folder) as server:
        for scheme in SCHEMES:
            page = visit(chromium, server, scheme)
            if scheme == "light":
                (FOLDER / f"{NAME}.txt").write_text(text_of(page))
            picture = subprocess.run(
                ["pngquant", "--speed", "1", "--strip", "-"], input=page.screenshot(clip=PART),
                capture_output=True, check=True)
            (FOLDER / f"{NAME}-{scheme}.png").write_bytes(picture.stdout)
            page.context.close()
    return sorted(FOLDER.iterdir())
