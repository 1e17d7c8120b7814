"""Functions of the blocking face that the asyncio one has in another form."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Callable

import httpx
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from quotecast_client.settings import SOCKET_LOGGER, SOCKET_SECONDS, USER_AGENT

if TYPE_CHECKING:
    from collections.abc import Mapping

Http = httpx.Client
#: A connection as a context.
Opening = ClientConnection
#: Returns a new ticket for each connection.
TicketSource = Callable[[], str]

__all__ = [
    "ClientConnection",
    "Ending",
    "Http",
    "Opening",
    "TicketSource",
    "open_socket",
    "receive",
    "sleep",
]


class Ending:
    """Whether something has ended, and a wait that its end cuts short, also from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        """Whether it has ended."""
        return self._event.is_set()

    def set(self) -> None:
        """Ends it."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Returns at the end, or after some seconds."""
        self._event.wait(seconds)


def open_socket(url: str, subprotocol: str, headers: Mapping[str, str]) -> ClientConnection:
    """Returns a connection as a context."""
    return connect(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        additional_headers=headers,
        user_agent_header=USER_AGENT,
        open_timeout=SOCKET_SECONDS,
        close_timeout=1,
        max_size=None,
        logger=SOCKET_LOGGER,
    )


def receive(socket: ClientConnection, seconds: float) -> str | bytes:
    """Returns the next message. Raises TimeoutError."""
    return socket.recv(seconds)


def sleep(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)
