"""One client of the feed server: its socket, its session, and the task that serves them."""

import asyncio
import contextlib
import os
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from quotecast.access.grant import Grant
from quotecast.close_codes import CloseCode
from quotecast.feed import meters
from quotecast.feed.client import ClientSession
from quotecast.feed.hub import SLOW_AFTER_SECONDS, Hub
from quotecast.feed.meters import Meter
from quotecast.feed.tiers import Backlog, Connection, Writer
from quotecast.framing import Frame

#: Seconds that a client has to read the close frame.
CLOSE_SECONDS: Final = 3.0

#: Seconds between two looks at what a socket has taken.
LOOK_SECONDS: Final = 0.5

#: What carries the frames of a client.
Transport = Literal["websocket", "sse"]


class ClientSocket(Writer, Awaitable[Any], Protocol):
    """The server's side of a connection; to await it is to wait until it has taken everything."""


def connection_id() -> str:
    """Returns the random name of a new connection."""
    return os.urandom(8).hex()


class ConnectionEnded(Exception):
    """The server ends the connection; `code` is for the close frame."""

    def __init__(self, code: CloseCode) -> None:
        self.code = code


class Client:
    """One client: its socket, its session, and the task that serves them.

    `name` is its feed, `all` or `replay`. `end` closes its connection for a reason. `meter` adds up the
    frames.
    """

    __slots__ = (
        "_end", "_meter", "_socket", "_turn", "address", "code", "connections", "grant", "name", "session",
        "task", "transport",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        transport: Transport,
        session: ClientSession,
        hubs: Sequence[Hub],
        *,
        grant: Grant | None,
        address: str,
        end: Callable[[CloseCode], Awaitable[Any]],
        socket: ClientSocket,
        meter: Meter | None = None,
    ) -> None:
        self.name = name
        self.transport = transport
        self.session = session
        #: The rights of the API key that opened the connection.
        self.grant = grant
        #: The client's address as limits name it; its place is counted under the same text.
        self.address = address
        self._end = end
        self._socket = socket
        self._meter = meter
        self._turn = asyncio.Lock()
        task = asyncio.current_task()
        assert task is not None, "servers run applications in tasks"  # noqa: S101 - narrows the type
        self.task = task
        self.code: CloseCode | None = None
        self.connections = [
            (hub, Connection(feed, socket, self.disconnect, meter))
            for hub, feed in zip(hubs, session.feeds.values(), strict=True)
        ]

    @property
    def kind(self) -> tuple[str, str]:
        """The name and the transport, by which metrics count."""
        return self.name, self.transport

    @property
    def key_id(self) -> str | None:
        """The id of the API key, or of the user's session, that opened the connection."""
        return self.grant.key.id if self.grant and self.grant.key else None

    @property
    def paused_at(self) -> float | None:
        """Monotonic time since which the socket has not taken everything; None if it has."""
        return None if self._socket.ready else self._socket.paused_at

    @property
    def unsent(self) -> int:
        """Bytes that the socket has not taken yet; 0 where nobody knows."""
        return int(getattr(self._socket, "unsent", 0))

    def disconnect(self, code: CloseCode) -> bool:
        """Cancels the connection's task, which then closes the socket; returns False if it does already."""
        if self.code is not None:
            return False
        self.code = code
        self.task.cancel()
        return True

    def expel(self, code: CloseCode, error: Struct) -> None:
        """Sends an error if the client has room for it, and disconnects the client."""
        if self._socket.ready:
            self._write(self.session.encoding.write(error))
        self.disconnect(code)

    async def dismiss(self, delays: tuple[int, int]) -> None:
        """Sends `shutdown` and disconnects the client as soon as it has read that."""
        await self.send_farewell(delays)
        self.disconnect(CloseCode.SERVICE_RESTART)

    async def send_farewell(self, delays: tuple[int, int]) -> None:
        """Sends `shutdown` with a random reconnection delay between the two bounds, in milliseconds."""
        with contextlib.suppress(ConnectionEnded):
            await self.wait_until_sent()
            # Spreads load over time; security does not depend on it.
            await self.answer([self.session.shutdown(random.randint(*delays))])  # noqa: S311

    async def close(self, code: CloseCode) -> None:
        """Closes the connection; drops a client that does not read its end in time."""
        with contextlib.suppress(TimeoutError, OSError, RuntimeError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._end(code)

    def join(self) -> None:
        """Lets the hubs serve a client that has received its greeting."""
        for hub, connection in self.connections:
            connection.heartbeat_seconds = self.session.heartbeat_ms / 1000
            hub.join(connection)

    def leave(self) -> None:
        """Takes the client out of the hubs."""
        for hub, connection in self.connections:
            hub.leave(connection)

    def obey(self, message: str | bytes) -> list[Frame]:
        """Returns the answer to a command, which may change subscriptions and intervals."""
        self.leave()
        frames = self.session.receive(message, time.time())
        for hub, connection in self.connections:
            hub.enter(connection)
        return frames

    async def answer(self, frames: list[Frame]) -> None:
        """Sends frames in order, under a lock that keeps the hubs and other answers out."""
        async with self._turn:
            self._set_busy(busy=True)
            for frame in frames:
                self._write(frame)
                await self.wait_until_sent()
            self._set_busy(busy=False)

    async def wait_until_sent(self) -> None:
        """Waits until the socket has taken everything. Raises ConnectionEnded if the client is slow."""
        if self._socket.ready:
            return
        backlog = Backlog(self.unsent, time.monotonic())
        while not self._socket.ready:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._socket
            except TimeoutError:
                if backlog.is_slow(self._socket, time.monotonic(), SLOW_AFTER_SECONDS):
                    raise ConnectionEnded(CloseCode.SLOW) from None

    def _write(self, frame: Frame) -> None:
        self._socket.write(frame)
        if self._meter is not None:
            meters.add({self._meter: 1}, frame)

    def _set_busy(self, *, busy: bool) -> None:
        for _, connection in self.connections:
            connection.busy = busy
