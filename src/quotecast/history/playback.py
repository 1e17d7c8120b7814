"""Playback: the messages of one feed from a moment on, out of its segments.

A playback reads files and decompresses, so an event loop calls it in threads of its own, one call at a
time: a slow disk or bucket must not take the threads of other work.
"""

import asyncio
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import BinaryIO, Final, TypeVar

import msgspec

from quotecast.bus.base import Batch, Beat, Snapshot
from quotecast.bus.wire import decode_message
from quotecast.errors import InvalidValue, UnreadableState
from quotecast.history.blocks import Block, Damaged, GroupDecoder, Kind, blocks_of
from quotecast.history.segments import HistoryError, Store, begin_of
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed

#: Seconds for which the last record of a segment still holds: beats come every ten seconds.
COVERED_SECONDS: Final = 15.0

Played = Batch | Beat | Snapshot

_snapshots: Final = msgspec.msgpack.Decoder(Snapshot)


class NotRecorded(InvalidValue):
    """A moment is in the future, or nothing is recorded of it; the message says what there is."""

    code = "not_recorded"
    cause = "nothing is recorded of the moment"
    remedy = "choose a moment that the sentence names"

    def __init__(self, problem: str, feed: Feed, span: tuple[float, float] | None) -> None:
        recorded = f"from {iso_utc(span[0])} to {iso_utc(span[1])}" if span else "nothing"
        super().__init__("at", f"{problem}; the history of {feed.spec.name} has {recorded}")


class HistoryOff(InvalidValue):
    """This service records nothing."""

    code = "history_off"
    cause = "this service does not record its feeds"
    remedy = "the operator sets [`QUOTECAST_HISTORY`](time-machine.md)"

    def __init__(self) -> None:
        super().__init__("at", "This service records no history: QUOTECAST_HISTORY is off")


class Playback:
    """The past of a feed from the keyframe before `at` (Unix time) on.

    Raises NotRecorded for a moment without a record, and HistoryError for files that cannot be read.
    """

    def __init__(
        self, store: Store, feed: Feed, at: float, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._feed = feed
        self._opened_at = clock()
        self._messages = self._play(*_place_of(store, feed, at, self._opened_at))
        self._next: tuple[float, Played] | None = None

    def read(self, until: float, limit: int = 1_000) -> list[tuple[float, Played]]:
        """Returns the next messages up to a Unix time, with their times, at most `limit`.

        The first one is a keyframe, later than `at` if the record of `at` is damaged. Keyframes come again
        and again; a mirror needs those after a gap. An empty list is the end of what is recorded now.
        """
        messages: list[tuple[float, Played]] = []
        while len(messages) < limit and (following := self._peek()) and following[0] <= until:
            messages.append(following)
            self._next = None
        return messages

    def next_time(self) -> float | None:
        """Returns the time of the next message; None at the end of what is recorded now."""
        following = self._peek()
        return following[0] if following else None

    def damage(self) -> NotRecorded:
        """Returns the error of a moment whose record cannot be read."""
        span = _span_until(self._store, self._feed, self._opened_at)
        return NotRecorded("The record of this moment is damaged", self._feed, span)

    def close(self) -> None:
        """Closes the open segment."""
        self._messages.close()

    def _peek(self) -> tuple[float, Played] | None:
        if self._next is None:
            try:
                self._next = next(self._messages, None)
            except OSError as error:
                raise _unreadable(error) from error
        return self._next

    def _play(self, name: str, offset: int) -> Generator[tuple[float, Played] | None, None, None]:
        """Yields messages from a group on, and None at each look that finds nothing new."""
        while True:
            with closing(self._store.open(self._feed, name)) as file:
                yield from self._segment(file, name, offset)
            name, offset = self._name_after(name), 0

    def _segment(self, file: BinaryIO, name: str, offset: int) -> Iterator[tuple[float, Played] | None]:
        """Yields the messages of one segment until another one follows it."""
        decoder: GroupDecoder | None = None
        while True:
            # First: once another segment follows, nothing more comes to this one.
            finished = self._name_after(name) != name
            for block in blocks_of(file, offset):
                offset = block.end
                decoder = GroupDecoder() if block.begins_group else decoder
                messages = _messages_of(file, block, decoder) if decoder else None
                if messages is None:
                    decoder = None
                else:
                    yield from messages
            if finished:
                return
            yield None

    def _name_after(self, name: str) -> str:
        """Returns the name of the next segment, or this one for the newest."""
        return next((each for each in self._store.names(self._feed) if each > name), name)


def span_of(store: Store, feed: Feed) -> tuple[float, float] | None:
    """Returns the Unix times of a feed's first and last record; None without any."""
    names = store.names(feed)
    for name in reversed(names):
        if blocks := blocks_in(store, feed, name):
            return begin_of(names[0]), blocks[-1].last
    return None


def blocks_in(store: Store, feed: Feed, name: str) -> list[Block]:
    """Returns the headers of a segment's blocks. Raises HistoryError."""
    try:
        with closing(store.open(feed, name)) as file:
            return list(blocks_of(file, 0))
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> HistoryError:
    return HistoryError(f"an open segment cannot be read: {error.strerror}")


def _place_of(store: Store, feed: Feed, at: float, now: float) -> tuple[str, int]:
    """Returns the segment and the offset of the group that a moment belongs to. Raises NotRecorded."""
    if at > now:
        raise NotRecorded("This moment is in the future", feed, _span_until(store, feed, now))
    names = store.names(feed)
    begun = sum(begin_of(name) <= at for name in names)
    # An ingest that died, or whose disk failed, may have left a segment without a block.
    later = (blocks_in(store, feed, name) for name in names[begun:])
    following = next((blocks[0] for blocks in later if blocks), None)
    for name in reversed(names[:begun]):
        blocks = blocks_in(store, feed, name)
        before = [block for block in blocks if block.first <= at]
        following = blocks[len(before)] if len(before) < len(blocks) else following
        if before:
            if not _is_covered(before[-1], following, at):
                break
            # Where the keyframe's header is damaged, playback begins with the next keyframe.
            return name, next((each for each in reversed(before) if each.begins_group), before[0]).offset
    raise NotRecorded("Nothing is recorded of this moment", feed, _span_until(store, feed, now))


def _span_until(store: Store, feed: Feed, now: float) -> tuple[float, float] | None:
    """Returns the span as it is at `now`: a delayed feed has not reached the newest records."""
    span = span_of(store, feed)
    return (span[0], min(span[1], now)) if span and span[0] <= now else None


def _is_covered(block: Block, following: Block | None, at: float) -> bool:
    """Returns whether the state after a block was that of the moment, up to the block that follows."""
    if following and following.kind is Kind.KEYFRAME_AFTER_LOSS:
        return at <= block.last
    return at <= block.last + COVERED_SECONDS


def _messages_of(file: BinaryIO, block: Block, decoder: GroupDecoder) -> list[tuple[float, Played]] | None:
    """Returns the messages of a block; None if it is damaged, and with it the rest of its group."""
    messages: list[tuple[float, Played]] = []
    try:
        records = decoder.records(file, block)
        if block.begins_group:
            keyframe = records.pop(0)
            messages.append((keyframe.time, _snapshots.decode(keyframe.message)))
        for record in records:
            message = decode_message(record.message)
            if isinstance(message, Batch | Beat):
                messages.append((record.time, message))
    except (Damaged, UnreadableState, ValueError, RecursionError, IndexError):
        return None
    return messages


T = TypeVar("T")


class ReaderThreads:
    """At most `count` threads, started when they are needed."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="history")

    async def run(self, work: Callable[[], T]) -> T:
        """Returns the result of a function that reads segments."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
