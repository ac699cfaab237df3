"""The browser of the tests and screenshots: Debian's Chromium without its windows.

`chromium --headless` draws the frame of a window too, for twice the processor time."""

import os
import shutil
from pathlib import Path

FONTS = Path(__file__).parent / "fonts"


def launch(browser_type, *flags, fonts="dejavu"):
    """Starts the browser with the fonts of a file in `fonts`, or with those of the machine if None."""
    chosen = {"FONTCONFIG_FILE": str(FONTS / f"{fonts}.conf")} if fonts else {}
    return browser_type.launch(
        executable_path=shutil.which("chromium-headless-shell"), args=["--disable-gpu", *flags],
        env={**os.environ, **chosen})
