"""Constants of the client, and the addresses of a service."""

from __future__ import annotations

import logging
from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("quotecast-client")
except PackageNotFoundError:  # from its source, without an installation
    VERSION = "0"

USER_AGENT = f"quotecast-client/{VERSION}"
#: Seconds to connect a socket, or to receive an answer.
SOCKET_SECONDS = 10.0
#: The debug messages of websockets show the API key or the ticket of a handshake: this logger has none.
SOCKET_LOGGER = logging.getLogger("quotecast_client.socket")
SOCKET_LOGGER.setLevel(logging.INFO)


def checked_address(address: str) -> str:
    """Returns the address of a service. Raises ValueError for what would only fail later, and oddly."""
    scheme, separator, rest = address.partition("://")
    if not separator or scheme.lower() not in {"http", "https"}:
        named = rest if separator else address
        raise ValueError(f"the address {address!r} must begin with http:// or https://, as in http://{named}")
    bare = address.rstrip("/")
    if bare.endswith("/api"):
        raise ValueError(f"the address {address!r} must end before /api: {bare[: -len('/api')]}")
    return bare


def feeds_address(address: str) -> str:
    """Returns the WebSocket address of all feeds of a service, such as `https://quotes.example.com`."""
    return f"{address.rstrip('/').replace('http', 'ws', 1)}/api/ws"
