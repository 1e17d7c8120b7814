"""Constants of the client, and the addresses of a service."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("quotecast-client")
except PackageNotFoundError:  # from its source, without an installation
    VERSION = "0"

USER_AGENT = f"quotecast-client/{VERSION}"
#: Seconds to connect a socket, or to receive an answer.
SOCKET_SECONDS = 10.0


def feeds_address(address: str) -> str:
    """Returns the WebSocket address of all feeds of a service, such as `https://quotes.example.com`."""
    return f"{address.rstrip('/').replace('http', 'ws', 1)}/api/ws"
