"""Sends past the transport: a frame goes to the kernel in one call. ADR 11 has the figures.

The transport still owns the descriptor, sends what the kernel does not take at once, and handles errors.
"""

import asyncio
import socket


def direct_socket(transport: asyncio.Transport) -> socket.socket:
    """Returns a socket on the transport's own descriptor; detach it when the connection is lost."""
    own = transport.get_extra_info("socket")
    return socket.socket(own.family, own.type, own.proto, fileno=own.fileno())


def send_now(connection: socket.socket, data: bytes) -> bytes:
    """Sends as much as the kernel takes at once; returns the rest.

    After an error that is everything: the transport meets the error again and closes the connection.
    """
    try:
        return data[connection.send(data) :]
    except OSError:
        return data
