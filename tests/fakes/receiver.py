"""A fake receiver of webhooks and notifications: HTTP or HTTPS on a local port, with the faults of a test."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Received:
    """A request: header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """An answer: without a status the connection hangs, an endless body goes on while the client reads."""

    status: int | None = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    endless: bool = False
    broken: bool = False


HANGING: Final = Reply(None)
BROKEN: Final = Reply(broken=True)


class Receiver:
    """A server that answers with `replies` in their order, then with `reply`."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.replies: list[Reply] = []
        self.reply = Reply()
        self.connections = 0
        #: Called when a request has arrived, before its answer.
        self.on_request: Callable[[Received], None] = lambda _: None
        self._arrived = asyncio.Condition()
        self._ended = asyncio.Event()
        self.port = 0
        self.written = 0

    def hang_up(self) -> None:
        """Closes the connections that hang."""
        self._ended.set()

    async def wait_for(self, count: int) -> list[Received]:
        """Returns the requests once there are so many."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.received) >= count)
        return self.received

    @contextlib.asynccontextmanager
    async def serve(self, tls: ssl.SSLContext | None = None, port: int = 0) -> AsyncIterator["Receiver"]:
        server = await asyncio.start_server(self._talk, "127.0.0.1", port, ssl=tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self._ended.set()
            server.close()
            await server.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError):
                await self._answer(await _request(reader), writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    async def _answer(self, request: Received, writer: asyncio.StreamWriter) -> None:
        self.on_request(request)
        reply = self.replies.pop(0) if self.replies else self.reply
        async with self._arrived:
            self.received.append(request)
            self._arrived.notify_all()
        if reply.status is None:
            await self._ended.wait()
            return
        if reply.broken:
            writer.write(b"HTTP/1.1 2")
            return
        lines = [
            f"HTTP/1.1 {reply.status} Status",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
        ]
        if not reply.endless:
            lines.append(f"content-length: {len(reply.body)}")
        writer.write("\r\n".join([*lines, "connection: close", "", ""]).encode() + reply.body)
        while reply.endless and not self._ended.is_set():
            writer.write(b" " * 65_536)
            self.written += 65_536
            await writer.drain()
        await writer.drain()


async def _request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:]) if name}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)
