"""A raw connection, a handshake and an echoing application test the WebSocket server of the feeds."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

HANDSHAKE = (
    b"GET /feed?symbols=A%2FB HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Accepts every client and echoes its messages."""
    await receive()
    await send({"type": "websocket.accept", "subprotocol": next(iter(scope["subprotocols"]), None)})
    while (event := await receive())["type"] == "websocket.receive":
        await send({**event, "type": "websocket.send"})


@contextlib.asynccontextmanager
async def raw(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
