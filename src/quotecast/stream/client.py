"""One client of the feed server: its socket, its session, and the task that serves them."""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Sequence
from typing import Any, Final, Protocol

from quotecast.errors import CloseCode
from quotecast.feed.client import ClientSession
from quotecast.feed.framing import Frame
from quotecast.feed.hub import SLOW_AFTER_SECONDS, Connection, Hub, Writer

#: Seconds that a client has to read the close frame.
CLOSE_SECONDS: Final = 3.0


class Socket(Writer, Awaitable[Any], Protocol):
    """The server's side of a connection; to await it is to wait until it has taken everything."""


class ConnectionEnded(Exception):
    """The connection is over; `code` is for the close frame, None if the client has disconnected."""

    def __init__(self, code: CloseCode | None = None) -> None:
        self.code = code


class Client:
    """One client: its socket, its session, and the task that serves them.

    `name` is its feed, or `all`.
    """

    __slots__ = ("_send", "_socket", "_turn", "code", "connections", "name", "session", "task")

    def __init__(
        self, name: str, session: ClientSession, hubs: Sequence[Hub], send: Any, socket: Socket
    ) -> None:
        self.name = name
        self.session = session
        self._send = send
        self._socket = socket
        self._turn = asyncio.Lock()
        self.task = _running_task()
        self.code: CloseCode | None = None
        self.connections = [
            (hub, Connection(feed, socket, self.disconnect))
            for hub, feed in zip(hubs, session.feeds.values(), strict=True)
        ]

    def disconnect(self, code: CloseCode) -> None:
        """Cancels the connection's task, which then closes the socket with the first code that it gets."""
        if self.code is None:
            self.code = code
            self.task.cancel()

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
        """Sends a close frame; drops a client that does not read it in time."""
        with contextlib.suppress(TimeoutError, OSError, RuntimeError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})

    def join(self) -> None:
        """Lets the hubs serve a client that has received its greeting."""
        for hub, connection in self.connections:
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
                self._socket.write(frame)
                await self.wait_until_sent()
            self._set_busy(busy=False)

    async def wait_until_sent(self) -> None:
        """Waits until the socket has taken everything. Raises ConnectionEnded if the client is slow."""
        while not self._socket.ready:
            try:
                async with asyncio.timeout(SLOW_AFTER_SECONDS):
                    await self._socket
            except TimeoutError:
                raise ConnectionEnded(CloseCode.SLOW) from None

    def _set_busy(self, *, busy: bool) -> None:
        for _, connection in self.connections:
            connection.busy = busy


def _running_task() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    assert task is not None, "servers run applications in tasks"  # noqa: S101 - narrows the type
    return task
