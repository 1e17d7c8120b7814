"""Ports that belong to a test from before its server listens until after its end."""

import socket


def reserve_port() -> socket.socket:
    """Returns a bound socket that never listens: the kernel gives its port to nobody else.

    A server that sets SO_REUSEADDR or SO_REUSEPORT before it binds may listen there; all servers here do.
    """
    held = socket.socket()
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        held.setsockopt(socket.SOL_SOCKET, option, 1)
    held.bind(("127.0.0.1", 0))
    return held


def port_number(held: socket.socket) -> int:
    """Returns the reserved port."""
    port: int = held.getsockname()[1]
    return port
