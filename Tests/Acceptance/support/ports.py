"""Ports of loopback."""

import socket


def free_port():
    """Returns a free port, for cases where the server can't report the port it uses."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
