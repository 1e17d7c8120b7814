"""Functions of the asyncio face that the blocking one has in another form."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Callable

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from quotecast_client.settings import SOCKET_LOGGER, SOCKET_SECONDS, USER_AGENT

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A connection as a context.
Opening = connect
#: Returns a new ticket for each connection.
TicketSource = Callable[[], Awaitable[str]]

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


class Http(httpx.AsyncClient):
    """An HTTP client, also on uvloop, which has no socket of a connection that the server reset at once."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """See AsyncClient. Raises ConnectError for such a connection, too."""
        try:
            return await super().send(request, **options)
        except AttributeError as error:
            raise httpx.ConnectError("the server reset the connection", request=request) from error


class Ending:
    """Whether something has ended, and a wait that its end cuts short."""

    def __init__(self) -> None:
        self.is_set = False
        #: Made by the loop that waits: before Python 3.10 an event belongs to one loop from the beginning.
        self._event: asyncio.Event | None = None

    def set(self) -> None:
        """Ends it."""
        self.is_set = True
        if self._event is not None:
            self._event.set()

    async def wait(self, seconds: float) -> None:
        """Returns at the end, or after some seconds."""
        self._event = asyncio.Event()
        if self.is_set:
            return
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)


def open_socket(url: str, subprotocol: str, headers: Mapping[str, str]) -> connect:
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


async def receive(socket: ClientConnection, seconds: float) -> str | bytes:
    """Returns the next message. Raises TimeoutError."""
    try:
        return await asyncio.wait_for(socket.recv(), seconds)
    except asyncio.TimeoutError:
        raise TimeoutError from None


async def sleep(seconds: float) -> None:
    """Waits."""
    await asyncio.sleep(seconds)
