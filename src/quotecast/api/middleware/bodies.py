"""Bodies of requests that no route reads to the end: an answer waits for the rest, or ends the connection."""

import asyncio
import contextlib
from typing import Final

from quotecast.asgi import Message, Receive, Send

#: What an answer waits for of a body.
_REST_BYTES: Final = 4 << 20
_REST_SECONDS: Final = 2.0


def announces_body(name: bytes, value: bytes) -> bool:
    """Whether a header of a request announces a body (RFC 9112, 6)."""
    return name == b"transfer-encoding" or (name == b"content-length" and value != b"0")


def with_whole_body(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Returns both sides of a request with a body, of which an answer waits for the rest.

    A client that still sends when its connection ends may lose the answer. A body that is too large or too
    slow for that closes the connection: its rest would be taken for the next request.
    """
    is_read = False

    async def note_end() -> Message:
        nonlocal is_read
        message = await receive()
        is_read = not message.get("more_body", False)
        return message

    async def read_rest() -> None:
        size = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REST_SECONDS):
                while not is_read and size < _REST_BYTES:
                    size += len((await note_end()).get("body", b""))

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start" and not is_read:
            await read_rest()
            if not is_read:
                message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return note_end, answer
