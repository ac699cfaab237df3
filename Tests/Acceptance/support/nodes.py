"""Several servers on one PostgreSQL database, behind nginx, which sends each request to the next."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx
import pyotp
import pytest

from .agents import set_rules
from .pages import Pages
from .program import DATABASES, Server, create_instance, free_port
from .rest import Api, create_token, ok
from .waiting import until

PROJECT = "shared-app"
# A lease of the tasks ends after 15 seconds, and the next task may begin up to 5 seconds later.
TAKEOVER = 40
MARKS = [
    pytest.mark.skipif(not shutil.which("nginx"), reason="nginx isn't installed"),
    pytest.mark.timeout(600)]


class Nodes:
    """Three servers: two share a data folder, and one has its own with a copy of the master key."""

    COUNT = 3

    def __init__(self, folder, *flags, host="127.0.0.1", profile=None, tls=None):
        self.folder = folder
        self.port = free_port()
        self.url = f"{'https' if tls else 'http'}://{host}:{self.port}"
        self.profile = profile
        # The files of nginx's certificate and key; it speaks HTTP to the nodes.
        self.tls = tls
        # How long nginx waits for a node that doesn't answer.
        self.read_timeout = 60
        # Flags of single nodes, and the ports at which nginx reaches them, if they aren't their own.
        self.own, self.through = {}, {}
        self.flags = [
            "--public-url", self.url, "--trusted-proxy", "127.0.0.1", "--drain-delay", "0", *flags]
        self.data, self.copy = folder / "data", folder / "copy"
        self.folders = [self.data, self.data, self.copy]
        DATABASES.addresses[self.copy.resolve()] = DATABASES.add(self.data)
        if profile != "emulator":
            create_instance(self.data)
        self.copy.mkdir(mode=0o700)
        self.ports = [free_port() for _ in self.folders]
        self.servers = []
        self.proxy = None

    def copy_key(self):
        """Copies the master key to the folder of the last node."""
        shutil.copy(self.data / "master.key", self.copy / "master.key")

    def start(self, number):
        """Starts a node; they're numbered from 0."""
        listen = f"127.0.0.1:{self.ports[number]}"
        data, flags = self.folders[number], [*self.flags, *self.own.get(number, [])]
        server = Server(data, *map(str, flags), listen=listen, profile=self.profile)
        # Its log has the public address.
        server.url = f"http://{listen}"
        Server.folders[server.url] = data
        return server

    def __enter__(self):
        try:
            # The first one gets the lease of the tasks.
            self.servers = [self.start(0)]
            self.copy_key()
            with ThreadPoolExecutor() as pool:
                self.servers += pool.map(self.start, range(1, self.COUNT))
            Server.folders[self.url] = self.data
            self._start_proxy()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.proxy:
            self.proxy.terminate()
            self.proxy.wait(30)
        for server in self.servers:
            server.kill()

    def set_up(self, owner=None):
        """Sets up the console and a project whose users can enroll authenticators."""
        self.owner = owner or self.pages().set_up(self.setup_code)
        self.owner.create_project(PROJECT)
        token = create_token(self.data, PROJECT, "owner")
        self.api = Api(self.url, PROJECT, self.owner.api_key(PROJECT), token)
        self.api.switch_totp_on(10)
        # All come from this machine's network.
        ok(self.api.admin("PATCH", "config", {"quota": {"signUpQuotaConfig": {"quota": "1000"}}},
                          version="v2", params={"updateMask": "quota.signUpQuotaConfig"}))
        self.set_cap(10)
        return self

    def set_cap(self, cap):
        """Sets after how many wrong codes in a row an account's codes are locked."""
        set_rules(self.owner, f"/projects/{PROJECT}", code_cap=str(cap), actions_per_hour="1000",
                  temporary_codes="on", recovery_codes="on")

    def allow_email_links(self):
        """Lets users sign in with links in emails, and imports have TOTP secrets."""
        ok(self.api.admin("PATCH", "config", {"signIn": {"email": {
            "enabled": True, "passwordRequired": False}}}, version="v2",
            params={"updateMask": "signIn.email.enabled,signIn.email.passwordRequired"}))
        self.api.allow_secrets()

    def add_users(self, name, count):
        """Adds users with an authenticator app; returns their email addresses and apps."""
        users, added = [], {}
        for number in range(count):
            secret, id = pyotp.random_base32(), f"{name}-{number}"
            added[f"{id}@example.com"] = pyotp.TOTP(secret)
            users.append({
                "localId": id, "email": f"{id}@example.com", "emailVerified": True,
                "mfaInfo": [{"displayName": "Phone", "totpInfo": {"sharedSecretKey": secret}}]})
        # A few at a time: a busy machine may need longer than nginx waits for hundreds.
        for start in range(0, count, 50):
            done = ok(self.api.admin(
                "POST", "accounts:batchCreate", {"users": users[start:start + 50]}))
            assert not done.get("error"), done
        return list(added.items())

    def link(self, email):
        """Returns the code in a link for a sign-in."""
        return ok(self.api.admin("POST", "accounts:sendOobCode", {
            "requestType": "EMAIL_SIGNIN", "email": email, "returnOobLink": True,
            "continueUrl": "http://localhost/in"}))["oobCode"]

    def first_factor(self, email):
        """Begins a sign-in with a link, which is faster than with a password."""
        return ok(self.api.client(
            ":signInWithEmailLink", {"email": email, "oobCode": self.link(email)}))

    @property
    def holder(self):
        """The node that does the tasks, as the database names it; empty without one."""
        return self.execute("SELECT holder FROM lease WHERE name = 'tasks' AND holder <> ''")

    def execute(self, sql):
        return DATABASES.execute(self.data, sql)

    def ready(self, server):
        """The status of a node's /readyz; 0 without an answer."""
        try:
            return httpx.get(f"{server.url}/readyz", timeout=60).status_code
        except httpx.TransportError:
            return 0

    def number_of(self, answer):
        """The number of the node that answered a request through nginx; it's the last one tried."""
        return self.reached.index(int(answer.headers["x-node"].rsplit(":", 1)[1]))

    @property
    def reached(self):
        """The ports that nginx sends requests to."""
        return [self.through.get(number, port) for number, port in enumerate(self.ports)]

    def _start_proxy(self):
        # A node that stopped is skipped for a second.
        upstream = "".join(
            f"server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in self.reached)
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        listen = f"listen 127.0.0.1:{self.port}"
        if self.tls:
            listen += " ssl; ssl_certificate {}; ssl_certificate_key {}".format(*self.tls)
        (self.folder / "nginx.conf").write_text(f"""
daemon off;
master_process off;
pid {self.folder}/pid;
events {{ worker_connections 1024; }}
http {{
{temporary}
access_log off;
upstream countersign {{ {upstream} }}
server {{
    {listen};
    client_max_body_size 16m;
    location / {{
        proxy_pass http://countersign;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_next_upstream error timeout http_503;
        proxy_read_timeout {self.read_timeout}s;
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme;
        add_header X-Node $upstream_addr always;
    }}
}}
}}
""")
        words = ["nginx", "-p", self.folder, "-e", "stderr", "-c", self.folder / "nginx.conf"]
        output = open(self.folder / "nginx.log", "w+")
        self.proxy = subprocess.Popen(
            [*map(str, words)], stdout=output, stderr=output,
            env={"HOME": str(self.folder), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        until(self._answers, "nginx answers")

    def _answers(self):
        assert self.proxy.poll() is None, (self.folder / "nginx.log").read_text()
        try:
            return httpx.get(f"{self.url}/readyz", verify=False).status_code == 200
        except httpx.TransportError:
            return False

    @property
    def address(self):
        """nginx's host and port, for a socket."""
        return "127.0.0.1", self.port

    @property
    def setup_code(self):
        return self.servers[0].setup_code

    @property
    def text(self):
        return "\n".join(server.text for server in self.servers)

    def pages(self, number=None):
        """Returns a browser without cookies, for all nodes or for one."""
        url = self.url if number is None else self.servers[number].url
        return Pages(url, origin=self.url)

    def at_each(self, pages):
        """Returns browsers with the same cookies, one for each node."""
        browsers = [Pages(server.url, origin=self.url) for server in self.servers]
        for browser in browsers:
            for cookie in pages.http.cookies.jar:
                browser.http.cookies.set(cookie.name, cookie.value)
        return browsers


def deployment(folder, *flags, profile=None, tls=None):
    """A server as an organization would run it for many users: one program with SQLite, or three
    behind nginx if the tests run on PostgreSQL. `tls` has the files of a certificate and its key."""
    if DATABASES.has_all:
        return Nodes(folder, *flags, profile=profile, tls=tls)
    if tls:
        flags += ("--tls-certificate", str(tls[0]), "--tls-key", str(tls[1]))
    return Server(folder, *flags, profile=profile)
