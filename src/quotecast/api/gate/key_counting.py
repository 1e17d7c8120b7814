"""The requests of API keys, counted as their answers pass."""

from collections.abc import Awaitable
from functools import partial
from typing import Any

from quotecast.access.usage import REFUSED, Counts, Usage
from quotecast.asgi import Message, Send


def counting(usage: Usage, key_id: str, send: Send) -> Send:
    """Returns a `send` that counts one request of a key when its answer starts, and the bytes of its body."""
    # Every request of a key passes here: a closure of four names takes longer than the counts.
    return partial(_count, usage, key_id, usage.of(key_id), send)


def counting_stream(usage: Usage, key_id: str, send: Send) -> Send:
    """Returns a `send` that counts the request of an event stream.

    It counts no bytes of a stream that opens: the hub counts its frames.
    """
    count, opens = counting(usage, key_id, send), False

    def answer(message: Message) -> Awaitable[Any]:
        nonlocal opens
        if opens:
            return send(message)
        opens = message.get("status") == 200
        return count(message)

    return answer


def _count(usage: Usage, key_id: str, counts: Counts, send: Send, message: Message) -> Awaitable[Any]:
    if counts.is_over:
        counts = usage.of(key_id)
    # Only the start of an answer has a status.
    if "status" in message:
        counts.requests += 1
        if message["status"] in REFUSED:
            usage.add_refusal(counts, message["status"])
    elif body := message.get("body"):
        counts.bytes += len(body)
    return send(message)
