"""Checks of ports before a server listens on them."""

import errno
import os
import socket
from ipaddress import ip_address

from quotecast.errors import SettingsError


def check_free(host: str, port: int, setting: str = "QUOTECAST_PORT") -> None:
    """Raises SettingsError unless a server can listen on the port, without sharing it."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            # Without SO_REUSEPORT, which the workers set to share the port, bind fails if another server
            # listens. SO_REUSEADDR ignores lingering connections of a server that has ended.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(f"Port {port} on {host} is taken; set {setting} to another") from error
        reason = error.strerror or os.strerror(error.errno or 0)
        raise SettingsError(f"Cannot listen on port {port} of {host}: {reason}") from error


def url_host(host: str) -> str:
    """Returns the host of a URL at which clients here reach a server that may listen on all addresses."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.version == 6:
        return "[::1]" if address.is_unspecified else f"[{address}]"
    return "127.0.0.1" if address.is_unspecified else host
