"""The screenshots in the README and their text; taken by `script/screenshots --readme`."""

import datetime
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from .demo import Demo
from .program import ROOT, preloaded, query

FOLDER = ROOT / "docs/pictures"
SIZE = {"width": 1440, "height": 1000}
SCHEMES = ("light", "dark")
# The demo's history ends at its creation, so a fixed creation time makes it reproducible.
MOMENT = datetime.datetime(2026, 11, 20, 15, tzinfo=datetime.timezone.utc)


@contextmanager
def demo(folder):
    """Starts the demo at that time, with a stopped clock."""
    env = {**preloaded(folder, "clock"), "CLOCK_AT": f"{MOMENT.timestamp():.0f}"}
    with Demo(Path(folder) / "demo", now=MOMENT.timestamp, env=env) as demo:
        yield demo


def addresses(demo):
    """Returns the page of each picture."""
    retail = next(link for link in demo.tenants("harbour-bank") if "/retail-" in link)
    return {
        "review": "/projects/harbour-bank/review",
        "policy": f"{retail}/policy",
        "user": f"{retail}/users/{late_with_codes(demo)}",
        "audit": "/audit?action=policy",
    }


def late_with_codes(demo):
    """Returns the user with a renamed factor whose phone's clock is slow."""
    [[uid]] = query(
        demo.server.data, "SELECT object_id FROM audit WHERE action = 'factor.rename'")
    return uid


def visit(chromium, demo, scheme="light"):
    """Opens the page of each picture; yields its name and the page."""
    context = demo.context(
        chromium, demo.owner, viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    # A script shows times as relative.
    page.clock.set_fixed_time(MOMENT)
    for name, address in addresses(demo).items():
        assert page.goto(address).status == 200
        if name == "audit":
            # The log is verified shortly after the start.
            until(page.locator("#integrity", has_text="Verified through").count, page.reload)
        yield name, page
    context.close()


def until(holds, retry, seconds=60):
    """Retries until a condition holds."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(.2)
        retry()


def text_of(page):
    """Returns the text of a page, with the server's port and random fingerprints replaced."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8080", page.locator("body").inner_text())
    text = re.sub(r"\b[0-9a-f]{64}\b", "0" * 64, text)
    text = re.sub(r"\(entry [\d,]+\)", "(entry 1)", text)
    lines = [re.sub(r"[\t ]+", " ", line).strip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines if line)


def renew(chromium, folder):
    """Takes every picture, writes its text to a file, and returns the files."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    with demo(folder) as server:
        for scheme in SCHEMES:
            for name, page in visit(chromium, server, scheme):
                if scheme == "light":
                    (FOLDER / f"{name}.txt").write_text(text_of(page))
                picture = subprocess.run(
                    ["pngquant", "--speed", "1", "--strip", "-"], input=page.screenshot(),
                    capture_output=True, check=True)
                (FOLDER / f"{name}-{scheme}.png").write_bytes(picture.stdout)
    return sorted(FOLDER.iterdir())
