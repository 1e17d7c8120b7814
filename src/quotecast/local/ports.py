"""Whether a port is free."""

import errno
import os
import socket
from typing import Final

from quotecast.errors import SettingsError

#: All addresses of this machine as one listens on them, and one of them to connect to.
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - not bound here # nosec B104


def check_free(host: str, port: int, setting: str = "QUOTECAST_PORT") -> None:
    """Raises SettingsError unless a server could listen there, alone."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            # Without SO_REUSEPORT, which the workers set to share the port, another's listener is in the
            # way; with SO_REUSEADDR, its connections that linger after its end are not.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(f"Port {port} on {host} is taken; set {setting} to another") from error
        reason = error.strerror or os.strerror(error.errno or 0)
        raise SettingsError(f"Cannot listen on port {port} of {host}: {reason}") from error


def url_host(host: str) -> str:
    """The host as it stands in a URL that a browser on this machine can open."""
    if host in _HERE:
        return _HERE[host]
    return f"[{host}]" if ":" in host else host
