"""The configurations of nginx and Caddy in docs/install.md, with the real proxies."""

import json
import re
import shutil
import subprocess

import httpx
import pytest

from support.certificates import make_certificate
from support.program import ROOT, Server, free_port
from support.waiting import until

PUBLIC = "https://mfa.example.com"
INSTALL = (ROOT / "docs/install.md").read_text()
CLIENT = "127.0.0.9"


def documented(name):
    return re.search(rf"<!-- {name} -->\n```\w*\n(.*?)```", INSTALL, re.S).group(1)


def replaced(text, values):
    """Replaces parts of a configuration; each must be in it."""
    for old, new in values.items():
        assert old in text, old
        text = text.replace(old, str(new))
    return text


def nginx(folder, upstream, port):
    plain = free_port()
    live = "/etc/letsencrypt/live/mfa.example.com"
    site = replaced(documented("nginx"), {
        "127.0.0.1:8080": upstream, "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "    listen [::]:443 ssl http2;\n": "", "listen 80;": f"listen 127.0.0.1:{plain};",
        "    listen [::]:80;\n": "", f"{live}/fullchain.pem": folder / "certificate.pem",
        f"{live}/privkey.pem": folder / "key.pem"})
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in (
        "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nevents {{}}\nhttp {{\n{temporary}"
        f"access_log off;\n{site}}}\n")
    return ["nginx", "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"], plain


def caddy(folder, upstream, port):
    plain = free_port()
    certificate = f"tls {folder}/certificate.pem {folder}/key.pem"
    site = replaced(documented("caddy"), {
        "mfa.example.com {": f"mfa.example.com {{\n\t{certificate}\n\tbind 127.0.0.1",
        "127.0.0.1:8080": upstream})
    options = f"{{\n\tadmin off\n\thttp_port {plain}\n\thttps_port {port}\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"], plain


@pytest.fixture(scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
def proxied(request, tmp_path_factory):
    """A server behind a proxy, a client of the proxy, and the proxy's plain port."""
    name = request.param.__name__
    if not shutil.which(name):
        pytest.skip(f"{name} isn't installed")
    folder = tmp_path_factory.mktemp(name)
    make_certificate(folder, 30)
    upstream, port = free_port(), free_port()
    words, plain = request.param(folder, f"127.0.0.1:{upstream}", port)
    log = folder / "access.log"
    with Server(folder / "data", "--public-url", PUBLIC, "--trusted-proxy", "127.0.0.1",
                "--access-log", str(log), listen=f"127.0.0.1:{upstream}") as server:
        output = open(folder / "output", "w+")
        process = subprocess.Popen(
            [*map(str, words)], stdout=output, stderr=output, env={
                "HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        client = httpx.Client(
            base_url=f"https://127.0.0.1:{port}", headers={"Host": "mfa.example.com"}, timeout=30,
            transport=httpx.HTTPTransport(verify=False, local_address=CLIENT))
        try:
            def answers():
                assert process.poll() is None, (folder / "output").read_text()
                try:
                    return client.get("/readyz", extensions={
                        "sni_hostname": "mfa.example.com"}).status_code == 200
                except httpx.TransportError:
                    return False
            until(answers, f"{name} answers")
            yield server, client, plain, log
        finally:
            process.terminate()
            process.wait(30)


def get(client, path, **more):
    return client.get(path, extensions={"sni_hostname": "mfa.example.com"}, **more)


def test_pages_are_served_over_https(proxied):
    _, client, _, _ = proxied
    page = get(client, "/setup")
    assert page.status_code == 200
    assert page.headers["set-cookie"].startswith("__Host-countersign-form=")
    assert "Secure" in page.headers["set-cookie"]


def test_the_log_has_the_address_of_the_client(proxied):
    _, client, _, log = proxied
    get(client, "/setup?spoofed", headers={"X-Forwarded-For": "203.0.113.9", "X-Request-ID": "forged"})
    lines = until(lambda: [json.loads(line) for line in log.read_text().splitlines()
                           if '"/setup' in line], "the request is logged")
    assert {line["peer"] for line in lines} == {CLIENT}
    # nginx has an ID for each request; Caddy forwards the client's, if there's one.
    if (log.parent / "nginx.conf").exists():
        assert all(re.fullmatch("[0-9a-f]{32}", line["proxy_id"]) for line in lines), lines


def test_plain_http_leads_to_https(proxied):
    _, _, plain, _ = proxied
    answer = httpx.get(f"http://127.0.0.1:{plain}/sign-in", headers={"Host": "mfa.example.com"})
    assert answer.status_code in (301, 308)
    assert re.match(r"https://mfa\.example\.com(:\d+)?/sign-in$", answer.headers["location"])


def test_imports_of_16_mib_reach_the_server(proxied):
    _, client, _, _ = proxied
    answer = client.post("/v1/projects/p/accounts:batchCreate", content=b" " * (15 << 20),
                         extensions={"sni_hostname": "mfa.example.com"})
    assert answer.status_code == 401
