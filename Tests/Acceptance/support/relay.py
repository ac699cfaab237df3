"""A relay to a database or a node, which can be cut like a network."""

import contextlib
import socket
import threading
from urllib.parse import parse_qs, urlsplit


class Relay:
    """Forwards connections from loopback to a database's Unix socket, or to a port, until they're cut."""

    def __init__(self, target):
        """Creates a relay to the address of a database, or to a port of loopback."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        if isinstance(target, int):
            self._family, self._target = socket.AF_INET, ("127.0.0.1", target)
        else:
            url = urlsplit(target.replace("@:", "@x:"))
            self._family = socket.AF_UNIX
            self._target = f"{parse_qs(url.query)['host'][0]}/.s.PGSQL.{url.port or 5432}"
            self.address = (
                f"postgresql://{url.username}@127.0.0.1:{self.port}{url.path}?sslmode=disable")
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        self._pairs, self._cuts_at_commit = [], False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.restore()
        self._listener.close()
        self._drop()

    def cut(self):
        """Forwards nothing from now on, in either direction, also on new connections."""
        self._open.clear()

    def cut_at_commit(self):
        """Forwards nothing from the next commit of a write on, so that the write keeps its locks."""
        self._cuts_at_commit = True

    @property
    def is_cut(self):
        return not self._open.is_set()

    def restore(self):
        """Forwards new connections again; what was sent in the meantime is lost."""
        if not self._open.is_set():
            self._drop()
            self._open.set()

    def _drop(self):
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for one in (one for pair in pairs for one in pair):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(self._family)
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._serve, args=(client, server), daemon=True).start()

    def _serve(self, client, server):
        self._open.wait()
        try:
            server.connect(self._target)
        except OSError:
            client.close()
            return
        back = threading.Thread(target=self._forward, args=(server, client), daemon=True)
        back.start()
        self._forward(client, server)
        back.join()
        with self._lock, contextlib.suppress(ValueError):
            self._pairs.remove((client, server))
        client.close()
        server.close()

    def _forward(self, source, destination):
        writes = False
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                # Messages that bind the prepared statements.
                writes = writes or b"\0begin_write\0" in data
                if self._cuts_at_commit and writes and b"\0commit\0" in data:
                    self._cuts_at_commit = False
                    self.cut()
                if not self._open.is_set():
                    # It's lost, and so is the connection once they're forwarded again.
                    self._open.wait()
                    break
                destination.sendall(data)
        for one in (source, destination):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
