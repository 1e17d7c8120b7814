"""Arguments and answers of the scripts, streams and channels of the bus on Redis."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from redis.exceptions import ResponseError

from quotecast.bus import wire
from quotecast.bus.base import (
    MAX_CLOSINGS,
    MAX_CROSSINGS,
    Message,
    NumberedClosing,
    Snapshot,
    StoredQuote,
)
from quotecast.errors import BusError, UnreadableState
from quotecast.market.crossings import Crossing
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Parts

#: Entries decoded at a time: a millisecond.
_SLICE: Final = 250

#: Messages' bytes, with None after each second without a message.
Payloads = AsyncGenerator[bytes | None, None]

T = TypeVar("T")


async def snapshot_of(feed: Feed, answer: Sequence[Any]) -> Snapshot:
    """Returns what `load.lua` answers; the event loop serves others meanwhile. Raises UnreadableState."""
    epoch, seq, info, quotes, parts, closings = answer
    try:
        return Snapshot(
            feed,
            epoch.decode(),
            int(seq),
            wire.decode_info(info or b""),
            await _pairs(quotes, wire.decode_stored),
            await _pairs(parts, wire.decode_parts),
            tuple([await _closing(each) for each in reversed(closings)]),
        )
    except ValueError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from error


def readable(
    stored: Iterable[tuple[bytes, Mapping[bytes, bytes]]], name: bytes, decode: Callable[[bytes], T]
) -> Iterator[T]:
    """Yields the field `name` of a stream's entries; leaves out those that no known version wrote."""
    for _, fields in stored:
        with contextlib.suppress(UnreadableState):
            yield decode(fields.get(name, b""))


async def _pairs(flat: Sequence[bytes], decode: Callable[[bytes], T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for first in range(0, len(flat), 2 * _SLICE):
        some = flat[first : first + 2 * _SLICE]
        found.update(zip((key.decode() for key in some[::2]), map(decode, some[1::2]), strict=True))
        await asyncio.sleep(0)
    return found


async def _closing(stored: Sequence[bytes]) -> NumberedClosing:
    """Returns a stored closing, which has a bar of each symbol."""
    began, number, closing = stored
    await asyncio.sleep(0)
    return NumberedClosing(began.decode(), int(number), wire.decode_closing(closing))


async def messages_of(payloads: Payloads) -> AsyncGenerator[Message | None, None]:
    """Yields the messages of a subscription; see BusReader."""
    while True:
        with raise_bus_errors():
            data = await anext(payloads)
        try:
            message = None if data is None else wire.decode_message(data)
        except UnreadableState:
            # If it was a batch, the reader notices the gap in numbers; the other feeds' messages go on.
            message = None
        yield message


async def users_of(payloads: Payloads) -> AsyncGenerator[Sequence[str] | None, None]:
    """Yields the users of announcements; see BusReader."""
    while True:
        with raise_bus_errors():
            data = await anext(payloads)
        yield None if data is None else data.decode(errors="replace").split(",")


@contextlib.contextmanager
def raise_bus_errors() -> Iterator[None]:
    """Raises BusError for every error of the client, UnreadableState for a value of another type."""
    try:
        yield
    except ResponseError as error:
        wrong_type = str(error).startswith("WRONGTYPE")
        raise (UnreadableState if wrong_type else BusError)(f"Redis: {error}") from error
    # A broken connection or cluster raises more than RedisError: uvloop RuntimeError for a write to a reset
    # connection, redis-py AttributeError for a slot that migrates to an unknown node.
    except Exception as error:
        raise BusError(f"Redis: {str(error) or type(error).__name__}") from error


def stored_values(
    entries: Mapping[str, StoredQuote],
    parts: Mapping[str, Parts],
    closings: Sequence[NumberedClosing],
    crossings: Sequence[Crossing],
) -> list[str | bytes | int]:
    """Returns what a script stores: quotes and parts by symbol, closings by time, crossings by id.

    Its limits and counts come first.
    """
    flat: list[str | bytes | int] = [MAX_CLOSINGS, MAX_CROSSINGS, len(entries), len(parts), len(closings)]
    for stored in (entries, parts):
        for key, value in stored.items():
            flat += key, wire.encode(value)
    for epoch, seq, closing in ((each.epoch, each.seq, each.closing) for each in closings):
        flat += f"{closing.through}-0", epoch, seq, wire.encode(closing)
    for crossing in crossings:
        flat += str(crossing.id), wire.encode(crossing)
    return flat
