"""The browser of the tests and screenshots: Debian's Chromium without its windows.

`chromium --headless` draws the frame of a window too, for twice the processor time."""

import shutil


def launch(browser_type, *flags):
    return browser_type.launch(
        executable_path=shutil.which("chromium-headless-shell"), args=["--disable-gpu", *flags])
