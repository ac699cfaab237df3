"""Takes screenshots of every kind of page; called by script/screenshots."""

import re
import sys
import tempfile

from playwright.sync_api import sync_playwright

from support import pictures
from support.browser import launch
from support.demo import Demo
from support.presses import wait_for_whole_pages
from support.program import ROOT
from support.site import crawl, kinds
from support.states import SIGNED_IN, sign_in

FOLDER = ROOT / "screenshots"
SIZES = {"1440": (1440, 1000), "390": (390, 844)}
# What a context has and what a page's media are, by the part of the file name that says so.
LOOKS = {
    "light": ({"color_scheme": "light"}, {}),
    "dark": ({"color_scheme": "dark"}, {}),
    "forced": ({"forced_colors": "active"}, {}),
    "print": ({}, {"media": "print"}),
}
USUAL = ("light", "dark")
# Below this height, a long list only repeats itself.
LONGEST = 2_600


def name_of(address):
    """Returns a file name for a kind of page: `S/users/…` is S-users-x."""
    return re.sub(r"[^\w]+", "-", address.replace("…", "x")).strip("-") or "home"


def take(page, width, name):
    """Takes a screenshot of the whole page, up to the maximum height."""
    height = page.evaluate("document.documentElement.scrollHeight")
    page.screenshot(path=FOLDER / name, full_page=True, clip={
        "x": 0, "y": 0, "width": width, "height": min(height, LONGEST)})


def photograph(chromium, demo, person, pages, states, looks):
    """Takes every page and state in every size and look."""
    taken = 0
    for size, (width, height) in SIZES.items():
        for look in looks:
            options, media = LOOKS[look]
            context = demo.context(
                chromium, person, viewport={"width": width, "height": height},
                reduced_motion="reduce", **options)
            page = context.new_page()
            page.emulate_media(**media)
            for name, path in pages.items():
                page.goto(path)
                take(page, width, f"{name_of(name)}-{size}-{look}.png")
                taken += 1
            for name, state in states.items():
                state(page, demo)
                take(page, width, f"state-{name_of(name)}-{size}-{look}.png")
                taken += 1
            context.close()
    return taken


def main(words):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        wait_for_whole_pages()
        chromium = launch(playwright.chromium, fonts=None)
        if "--readme" in words:
            for file in pictures.renew(chromium, folder):
                print(file.relative_to(ROOT))
            return
        looks = [look for look in LOOKS if f"--{look}" in words] or USUAL
        with Demo(folder + "/demo") as demo:
            everything(chromium, demo, [word for word in words if word[:2] != "--"], looks)


def everything(chromium, demo, words, looks):
    """Takes the pages and states that match the words."""
    FOLDER.mkdir(exist_ok=True)
    pages = kinds(crawl(demo.browse(demo.owner), 8, downloads=False))
    states = {**SIGNED_IN}
    if words:
        pages = {name: path for name, path in pages.items()
                 if any(word in path or word in name for word in words)}
        states = {name: state for name, state in states.items()
                  if any(word in name for word in words)}
    taken = photograph(chromium, demo, demo.owner, pages, states, looks)
    if not words and "light" in looks:
        context = chromium.new_context(base_url=demo.url, viewport={
            "width": 1440, "height": 1000})
        page = context.new_page()
        sign_in(page, demo)
        page.screenshot(path=FOLDER / "state-sign-in-1440-light.png", full_page=True)
        taken += 1
    print(f"{taken} pictures in {FOLDER.relative_to(ROOT)}/")


if __name__ == "__main__":
    main(sys.argv[1:])
