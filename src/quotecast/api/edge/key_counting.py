"""The requests of API keys, counted as their answers pass."""

from collections.abc import Awaitable
from typing import Any

from quotecast.access.usage import Usage
from quotecast.asgi import Message, Send


def counting(usage: Usage, key_id: str, send: Send, *, is_stream: bool = False) -> Send:
    """Returns a `send` that counts one request of a key when its answer starts, and the bytes of its body.

    It counts no bytes of an event stream that opens: the stream's socket counts its frames.
    """
    passes = False

    def answer(message: Message) -> Awaitable[Any]:
        nonlocal passes
        if message["type"] == "http.response.start":
            status = message["status"]
            passes = is_stream and status == 200
            usage.add_request(key_id, status)
        elif not passes and (body := message.get("body")):
            usage.of(key_id).bytes += len(body)
        return send(message)

    return answer
