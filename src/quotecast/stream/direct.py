"""Sends past the transport: a frame goes to the kernel in one call. ADR 11 has the figures.

The transport still owns the descriptor, sends what the kernel does not take at once, and handles errors.
"""

import asyncio
import socket


def direct_socket(transport: asyncio.Transport) -> socket.socket:
    """Returns a socket on the transport's own descriptor; detach it when the connection is lost."""
    own = transport.get_extra_info("socket")
    return socket.socket(own.family, own.type, own.proto, fileno=own.fileno())


def send_now(connection: socket.socket, data: bytes | memoryview) -> bytes | memoryview:
    """Sends as much as the kernel takes at once; returns the rest, a part of the same memory.

    Clients share a frame of megabytes, which most sockets take in parts. After an error the rest is
    everything: the transport meets the error again and closes the connection.
    """
    try:
        sent = connection.send(data)
    except OSError:
        return data
    return memoryview(data)[sent:] if sent < len(data) else b""
