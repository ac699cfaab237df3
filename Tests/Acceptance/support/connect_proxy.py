"""An HTTP proxy that opens tunnels (CONNECT) to one port of loopback, whatever they're asked for."""

import contextlib
import socket
import socketserver
import threading


class ConnectProxy:
    """`heads` are what clients sent before their tunnels, `targets` the hosts and ports in them.

    With another `status` than 200, it opens no tunnel.
    """

    def __init__(self, port, status=200):
        self.heads, self.status = [], status
        proxy = self

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with contextlib.suppress(OSError):
                    proxy._serve(self.request, port)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def targets(self):
        return [head.split()[1] for head in self.heads]

    def _serve(self, client, port):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            part = client.recv(1)
            if not part:
                return
            head += part
        self.heads.append(head.decode())
        allowed = head.startswith(b"CONNECT ") and self.status == 200
        status = self.status if head.startswith(b"CONNECT ") else 405
        client.sendall(f"HTTP/1.1 {status} Proxy\r\n\r\n".encode())
        if not allowed:
            return
        with socket.create_connection(("127.0.0.1", port), 30) as server:
            back = threading.Thread(target=forward, args=(server, client), daemon=True)
            back.start()
            forward(client, server)
            back.join()


def forward(source, target):
    """Forwards bytes until there are no more, and ends the other direction's wait."""
    with contextlib.suppress(OSError):
        while part := source.recv(1 << 16):
            target.sendall(part)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
