"""An OpenID Connect provider: Debian's glewlwyd on loopback, with a separate folder and database.

Its ID tokens have `amr` (`password`, and `otp` if a scope required it), `sid`, `nonce`, and the groups, but
no `acr`; a person without groups has no such claim.
"""

import json
import secrets
import shutil
import sqlite3
import subprocess
import threading
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import jwt
import pyotp
from cryptography.hazmat.primitives.asymmetric import rsa

from .program import free_port
from .provider_proxy import ProviderProxy
from .provider_settings import CLIENT, SCOPES, STRONG, client, configuration, plugin, scopes, totp_scheme
from .waiting import until

# Both are parts of the packages glewlwyd and glewlwyd-common.
TABLES = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
PAGES = Path("/usr/share/glewlwyd/webapp")
SETTINGS = Path("/etc/glewlwyd/config-2.7.json/config.json")


def is_installed():
    return bool(shutil.which("glewlwyd")) and TABLES.exists()


class Provider:
    """glewlwyd with one confidential client, which `register` connects to a server."""

    def __init__(self, folder):
        self.folder, self.own_port = Path(folder), free_port()
        self.proxy = ProviderProxy(free_port(), self.own_port)
        self.url = f"http://127.0.0.1:{self.proxy.port}"
        self.issuer = f"{self.url}/api/oidc"
        self.secret = secrets.token_urlsafe(24)
        self.output, self.keys, self.totp, self.passwords = [], [], {}, {}
        self.process = None

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        database = sqlite3.connect(self.folder / "glewlwyd.sqlite")
        database.executescript(TABLES.read_text())
        with database:
            # Its own administration asks for the password every ten minutes.
            database.execute("UPDATE g_scope SET gs_password_max_age = 0")
            database.execute(
                "UPDATE g_user_module_instance SET gumi_parameters = "
                "json_set(gumi_parameters, '$.data-format.groups', json(?))",
                (json.dumps({"multiple": True, "read": True, "write": True}),))
        database.close()
        # The package's link to the pages' settings leads to a folder.
        shutil.copytree(PAGES, self.folder / "pages", ignore=lambda *_: ["config.json", "admin.js"])
        shutil.copy(SETTINGS, self.folder / "pages/config.json")
        (self.folder / "glewlwyd.conf").write_text(
            configuration(self.own_port, self.url, self.folder))
        try:
            self.start()
            self._set_up()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.process = subprocess.Popen(
            ["glewlwyd", "-c", str(self.folder / "glewlwyd.conf")], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        until(self._responds, "glewlwyd responds", 60)
        self.proxy.start()

    def stop(self):
        """Stops it; `start` starts it again, with everything it knew."""
        self.proxy.stop()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)

    def _read(self, process):
        for line in process.stdout:
            self.output.append(line.rstrip("\n"))

    def _responds(self):
        assert self.process.poll() is None, "\n".join(self.output)
        try:
            return httpx.get(f"http://127.0.0.1:{self.own_port}/config").status_code == 200
        except httpx.TransportError:
            return False

    def _set_up(self):
        self.admin = httpx.Client(base_url=f"{self.url}/api", timeout=30)
        self.call("POST", "/auth/", {"username": "admin", "password": "password"})
        self.call("POST", "/mod/scheme", totp_scheme())
        for scope in scopes():
            self.call("POST", "/scope", scope)
        self.keys = [new_key()]
        self.call("POST", "/mod/plugin", plugin(self.issuer, self.keys))
        self.call("POST", "/client", client(self.secret, "http://127.0.0.1:1"))

    def call(self, method, path, body=None):
        """Calls the administration API as its administrator."""
        answer = self.admin.request(method, path, json=body)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.text else None

    def register(self, server):
        """Makes a server, by its public URL, the client."""
        self.call("PUT", f"/client/{CLIENT}", client(self.secret, server))

    def add_user(self, name, password, email, groups=(), totp=False):
        """Adds a user who lets the client have every scope, and who may have a TOTP secret."""
        self.passwords[name] = password
        allowed = [*SCOPES, STRONG] if totp else list(SCOPES)
        self.call("POST", "/user", {
            "username": name, "name": name.title(), "email": email, "password": password,
            "groups": list(groups), "enabled": True, "scope": allowed})
        person = self.session(name)
        answer = person.put(f"/api/auth/grant/{CLIENT}", json={"scope": " ".join(allowed)})
        assert answer.status_code == 200, answer.text
        if totp:
            self.totp[name] = pyotp.random_base32()
            self.call("POST", f"/delegate/{name}/profile/scheme/register", {
                "username": name, "scheme_type": "otp", "scheme_name": "totp",
                "value": {"type": "TOTP", "secret": self.totp[name], "time_step_size": 30}})

    def set_groups(self, name, groups):
        user = self.call("GET", f"/user/{name}")
        self.call("PUT", f"/user/{name}", {**user, "groups": list(groups)})

    def session(self, name, password=None, totp=False):
        """A browser whose user is signed in to the provider."""
        browser = httpx.Client(base_url=self.url, timeout=30)
        self.authenticate(browser, name, password, totp)
        return browser

    def authenticate(self, browser, name, password=None, totp=False):
        """Signs in to the provider as its sign-in page does; `browser` is a client of httpx."""
        answer = browser.post(f"{self.url}/api/auth/", json={
            "username": name, "password": password or self.passwords[name]})
        assert answer.status_code == 200, answer.text
        if totp:
            # A code that expires on its way is refused.
            assert any(self._enter_code(browser, name) for _ in range(3))

    def _enter_code(self, browser, name):
        # Otherwise a code is refused that was used before, or within 30 seconds.
        self.change("UPDATE gs_otp SET gso_last_used = 0")
        answer = browser.post(f"{self.url}/api/auth/", json={
            "username": name, "scheme_type": "otp", "scheme_name": "totp",
            "value": {"value": pyotp.TOTP(self.totp[name]).now()}})
        return answer.status_code == 200

    def sign_in(self, authorization_url, name, password=None, totp=False):
        """Signs in with a new browser, and returns the address of the client with the code."""
        return self.authorize(self.session(name, password, totp), authorization_url)

    def authorize(self, browser, authorization_url):
        """Returns the address of the client that the provider redirects to, or that of its own sign-in
        page if it asks again for what `browser` has already done."""
        address, pressed = authorization_url, False
        for _ in range(5):
            answer = browser.get(address)
            assert answer.status_code in (302, 303), f"{answer.status_code} {answer.text[:500]}"
            address = urljoin(address, answer.headers["location"])
            if urlsplit(address).path == "/login.html" and not pressed:
                # Continue, on the sign-in page.
                address, pressed = query_of(address)["callback_url"] + "&g_continue", True
            elif not address.startswith(f"{self.url}/api/"):
                return address
        raise AssertionError(f"too many redirects: {address}")

    def rotate_keys(self):
        """Signs with a new key, and no longer publishes the previous one."""
        self.keys = [new_key()]
        self.call("PUT", "/mod/plugin/oidc", plugin(self.issuer, self.keys))
        self.call("PUT", "/mod/plugin/oidc/reset")

    def change(self, statement, *values):
        """Changes its database directly."""
        database = sqlite3.connect(self.folder / "glewlwyd.sqlite", timeout=30)
        with database:
            database.execute(statement, values)
        database.close()

    def age_sessions(self, seconds):
        """Makes every session look as if its user had signed in that much earlier."""
        self.change("UPDATE g_user_session_scheme SET guss_last_login = guss_last_login - ?", seconds)


def new_key():
    key = rsa.generate_private_key(65537, 2048)
    return {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key)),
            "kid": secrets.token_hex(8), "alg": "RS256", "use": "sig"}


def query_of(address):
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
