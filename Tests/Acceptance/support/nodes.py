"""Several servers on one PostgreSQL database, behind nginx, which sends each request to the next."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx

from .pages import Pages
from .program import DATABASES, Server, create_instance, free_port
from .waiting import until


class Nodes:
    """Three servers: two share a data folder, and one has its own with a copy of the master key."""

    COUNT = 3

    def __init__(self, folder, *flags):
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.flags = [
            "--public-url", self.url, "--trusted-proxy", "127.0.0.1", "--drain-delay", "0", *flags]
        self.data, self.copy = folder / "data", folder / "copy"
        self.folders = [self.data, self.data, self.copy]
        DATABASES.addresses[self.copy.resolve()] = DATABASES.add(self.data)
        create_instance(self.data)
        self.copy.mkdir(mode=0o700)
        self.copy_key()
        self.ports = [free_port() for _ in self.folders]
        self.servers = []
        self.proxy = None

    def copy_key(self):
        """Copies the master key to the folder of the last node."""
        shutil.copy(self.data / "master.key", self.copy / "master.key")

    def start(self, number):
        """Starts a node; they're numbered from 0."""
        listen = f"127.0.0.1:{self.ports[number]}"
        data, flags = self.folders[number], [*self.flags, "--event-folder", self.folder / "events"]
        server = Server(data, *map(str, flags), listen=listen)
        # Its log has the public address.
        server.url = f"http://{listen}"
        Server.folders[server.url] = data
        return server

    def __enter__(self):
        try:
            # The first one gets the lease of the tasks.
            self.servers = [self.start(0)]
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

    def _start_proxy(self):
        # A node that stopped is skipped for a second.
        upstream = "".join(
            f"server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;" for port in self.ports)
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
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
    listen 127.0.0.1:{self.port};
    client_max_body_size 16m;
    location / {{
        proxy_pass http://countersign;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
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
            return httpx.get(f"{self.url}/readyz").status_code == 200
        except httpx.TransportError:
            return False

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
