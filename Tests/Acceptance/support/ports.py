"""Ports of loopback."""

import socket

# Bound without listening: others can't be given the port, but a server that reuses addresses can.
_reserved = []


def free_port():
    """Returns a free port that only a server of this process's tests will use, for cases where the
    server can't report the port it uses."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    _reserved.append(holder)
    return holder.getsockname()[1]
