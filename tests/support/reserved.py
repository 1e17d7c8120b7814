"""Ports that stay a test's own, from before its server listens until after its end."""

import socket


def reserved() -> socket.socket:
    """A socket that is bound and never listens: nobody else is given its port.

    A server may listen there that sets SO_REUSEADDR or SO_REUSEPORT before it binds, as all servers here do.
    """
    held = socket.socket()
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        held.setsockopt(socket.SOL_SOCKET, option, 1)
    held.bind(("127.0.0.1", 0))
    return held


def port_number(held: socket.socket) -> int:
    """The reserved port."""
    port: int = held.getsockname()[1]
    return port
