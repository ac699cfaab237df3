"""A proxy before glewlwyd 2.7.5, for re-authentication: it refuses `max_age=0`, and reads `auth_time` from
the session cookie of the token request, which servers don't have; then `auth_time` is 0."""

import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

HOP_BY_HOP = {"connection", "content-length", "transfer-encoding", "server", "date", "host"}


class ProviderProxy:
    """Forwards to a port of loopback; `requests` are the methods and paths that came."""

    def __init__(self, port, upstream):
        self.port, self.upstream = port, upstream
        self.requests, self.tells_time, self._cookies = [], True, {}
        self._http = None

    def start(self):
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def forward(self):
                proxy.forward(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = forward

            def log_message(self, *_):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def stop(self):
        if self._http:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def forward(self, handler):
        url = urlsplit(handler.path)
        self.requests.append((handler.command, url.path))
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in handler.headers.items()
                   if name.lower() not in HOP_BY_HOP}
        path = handler.path
        if url.path.endswith("/oidc/auth"):
            path = with_login(url)
        if url.path.endswith("/oidc/token") and self.tells_time:
            code = parse_qs(body.decode()).get("code", [""])[0]
            if code in self._cookies:
                headers["Cookie"] = self._cookies[code]
        connection = HTTPConnection("127.0.0.1", self.upstream, timeout=30)
        try:
            connection.request(handler.command, path, body or None, {
                **headers, "Host": f"127.0.0.1:{self.port}"})
            answer = connection.getresponse()
            content = answer.read()
        except OSError:
            handler.send_error(502)
            return
        finally:
            connection.close()
        for code in parse_qs(urlsplit(answer.getheader("Location") or "").query).get("code", []):
            self._cookies[code] = handler.headers.get("Cookie") or ""
        handler.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


def with_login(url):
    """The path with `prompt=login` in place of `max_age=0`, which means the same."""
    query = parse_qsl(url.query, keep_blank_values=True)
    if ("max_age", "0") not in query:
        return f"{url.path}?{url.query}"
    kept = [pair for pair in query if pair[0] not in ("max_age", "prompt")]
    return f"{url.path}?{urlencode([*kept, ('prompt', 'login')])}"
