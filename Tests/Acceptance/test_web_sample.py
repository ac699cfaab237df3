"""The web page in docs/samples/web, in Chromium: sign-up, enrollment with a QR code, and sign-in."""

import functools
import http.server
import shutil
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pyotp
import pytest
from playwright.sync_api import expect

from support.browser import launch
from support.program import ROOT, Server
from support.rest import Api

SAMPLE = ROOT / "docs/samples/web/index.html"
LIBRARY = Path("/usr/share/nodejs/qrcode-generator/qrcode.js")
EMAIL, PASSWORD = "sam@example.com", "correct-horse"


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, as `python3 -m http.server` does."""

    def log_message(self, *_):
        pass


@pytest.fixture
def emulator(tmp_path):
    """An emulator with TOTP on."""
    with Server(tmp_path / "data", profile="emulator") as server:
        Api(server.url, "demo-project", "any-key", "owner").switch_totp_on(5)
        yield server


@pytest.fixture
def page(chromium, emulator, tmp_path):
    """The page, served as documented, with the emulator's address."""
    folder = tmp_path / "web"
    folder.mkdir()
    shutil.copy(LIBRARY, folder)
    text = SAMPLE.read_text()
    assert text.count("http://127.0.0.1:8080") == 1
    (folder / "index.html").write_text(text.replace("http://127.0.0.1:8080", emulator.url))
    handler = functools.partial(Files, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as application:
        threading.Thread(target=application.serve_forever, daemon=True).start()
        # It draws, so that the code can be scanned.
        browser = launch(chromium.browser_type)
        page = browser.new_page()
        page.goto(f"http://localhost:{application.server_port}/")
        yield page
        browser.close()
        application.shutdown()


def send(page, button, **fields):
    for label, value in fields.items():
        page.get_by_label(label.capitalize()).fill(value)
    page.get_by_role("button", name=button).click()


def scanned(page, folder):
    """Returns the authenticator app that scanned the page's QR code."""
    file = folder / "qr.png"
    page.locator("#qr svg").screenshot(path=file)
    read = subprocess.run(
        ["zbarimg", "--quiet", "--raw", file], check=True, capture_output=True, text=True).stdout
    url = urlsplit(read.strip())
    assert (url.scheme, url.netloc) == ("otpauth", "totp")
    return pyotp.TOTP(parse_qs(url.query)["secret"][0])


def test_the_web_sample_is_short():
    assert len(SAMPLE.read_text().splitlines()) <= 100


@pytest.mark.skipif(not LIBRARY.exists(), reason="needs node-qrcode-generator")
def test_the_web_sample_signs_up_enrolls_and_signs_in(page, emulator, tmp_path):
    send(page, "Sign up", email=EMAIL, password=PASSWORD)
    expect(page.get_by_role("status")).to_have_text("Open the link in the email, then set up the app.")
    # Until the address is verified, the server refuses.
    send(page, "Set up authenticator app")
    expect(page.get_by_role("status")).to_contain_text("UNVERIFIED_EMAIL")
    [code] = httpx.get(f"{emulator.url}/emulator/v1/projects/demo-project/oobCodes").json()["oobCodes"]
    assert httpx.get(code["oobLink"]).status_code == 200

    send(page, "Set up authenticator app")
    expect(page.get_by_role("status")).to_contain_text("Scan the QR code")
    app = scanned(page, tmp_path)
    now = time.time()
    send(page, "Continue", code=app.at(now))
    expect(page.get_by_role("status")).to_have_text("Signed in.")

    page.reload()
    send(page, "Sign in", email=EMAIL, password=PASSWORD)
    # Each code is accepted once; the next one is within the window.
    send(page, "Continue", code=app.at(now))
    expect(page.get_by_role("status")).to_contain_text("INVALID_CODE")
    send(page, "Continue", code=app.at(now + 30))
    expect(page.get_by_role("status")).to_have_text("Signed in.")
