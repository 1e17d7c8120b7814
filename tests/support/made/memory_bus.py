"""A bus within one process; it gives the same guarantees as the one on Redis."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import structs

from quotecast.bus.base import (
    MAX_CLOSINGS,
    MAX_CROSSINGS,
    NO_MEMORY,
    NO_PARTS,
    RECENT_CLOSINGS,
    REPORT_SECONDS,
    STORED_CLOSINGS,
    Batch,
    Beat,
    Document,
    DocumentChanged,
    Memory,
    Message,
    NumberedClosing,
    Snapshot,
    StoredQuote,
)
from quotecast.market.crossings import NO_CROSSING, Crossing, CrossingId
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, Parts

T = TypeVar("T")


class MemoryBus:
    """A BusReader and BusWriter; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float], silence_seconds: float = 1.0) -> None:
        self._clock = clock
        self._silence_seconds = silence_seconds
        self._leases: dict[Feed, tuple[str, float]] = {}
        self._states: dict[Feed, Snapshot] = {}
        self._closings: dict[Feed, list[NumberedClosing]] = {}
        self._crossings: dict[Feed, list[Crossing]] = {}
        self._levels: dict[Feed, bytes] = {}
        self._documents: dict[tuple[Feed, str], Document] = {}
        #: Feeds with a request for a new epoch, and the times until which further requests have no effect.
        self._reported: set[Feed] = set()
        self._ignored_until: dict[Feed, float] = {}
        self._listeners: dict[asyncio.Queue[Message | None], Sequence[Feed]] = {}
        self._alerted: set[asyncio.Queue[Sequence[str] | None]] = set()

    async def hold(self, feed: Feed, owner: str, milliseconds: int) -> bool:
        """See BusWriter."""
        if self._holder(feed) not in {None, owner}:
            return False
        self._leases[feed] = (owner, self._clock() + milliseconds / 1000)
        return True

    async def take_over(self, feed: Feed, owner: str, milliseconds: int) -> bool | None:
        """See BusWriter."""
        if self._holder(feed) is None and feed not in self._states:
            return None
        return await self.hold(feed, owner, milliseconds)

    async def release(self, feed: Feed, owner: str) -> None:
        """See BusWriter."""
        if self._holder(feed) == owner:
            del self._leases[feed]

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot | None:
        """See BusReader."""
        state = self._states.get(feed)
        later = [each for each in self._closings.get(feed, []) if each.closing.through > closings_after]
        newest = tuple(later[-RECENT_CLOSINGS:])
        return structs.replace(state, closings=newest) if state else None

    async def closings_after(self, feed: Feed, through: int, count: int) -> Sequence[Closing]:
        """See BusWriter."""
        stored = [each.closing for each in self._closings.get(feed, [])]
        return [closing for closing in stored if closing.through > through][:count]

    async def trim_closings(self, feed: Feed, through: int) -> None:
        """See BusWriter."""
        stored = self._closings.get(feed, [])
        older, newest = stored[:-STORED_CLOSINGS], stored[-STORED_CLOSINGS:]
        self._closings[feed] = [each for each in older if each.closing.through > through] + newest

    async def newest_closings(self, feed: Feed, count: int) -> Sequence[Closing]:
        """See BusWriter."""
        return [each.closing for each in self._closings.get(feed, [])[-count:]]

    async def last_crossing(self, feed: Feed) -> CrossingId:
        """See BusWriter."""
        stored = self._crossings.get(feed)
        return stored[-1].id if stored else NO_CROSSING

    async def crossings_after(self, feed: Feed, last: CrossingId, count: int) -> Sequence[Crossing]:
        """See BusWriter."""
        return [each for each in self._crossings.get(feed, []) if each.id > last][:count]

    async def count_crossings(self, feed: Feed) -> int:
        """See BusWriter."""
        return len(self._crossings.get(feed, []))

    async def trim_crossings(self, feed: Feed, last: CrossingId) -> None:
        """See BusWriter."""
        stored = self._crossings.get(feed, [])
        self._crossings[feed] = [each for each in stored[:-1] if each.id >= last] + stored[-1:]

    async def store_levels(self, feed: Feed, levels: bytes) -> None:
        """See BusWriter."""
        self._levels[feed] = levels

    async def levels(self, feed: Feed) -> bytes | None:
        """See BusWriter."""
        return self._levels.get(feed)

    async def announce(self, users: Sequence[str]) -> None:
        """See BusWriter."""
        for queue in self._alerted:
            queue.put_nowait(users)

    async def report(self, feed: Feed) -> None:
        """See BusReader."""
        if self._clock() >= self._ignored_until.get(feed, 0.0):
            self._ignored_until[feed] = self._clock() + REPORT_SECONDS
            self._reported.add(feed)

    async def begin(self, owner: str, snapshot: Snapshot, memory: Memory = NO_MEMORY) -> bool:
        """See BusWriter."""
        if self._holder(snapshot.feed) != owner:
            return False
        feed, epoch, seq = snapshot.feed, snapshot.epoch, snapshot.seq
        closings = [*(NumberedClosing(epoch, seq, each) for each in memory.closings), *snapshot.closings]
        before = self._states.get(feed)
        if before is not None and before.info.market != snapshot.info.market:
            self._closings.pop(feed, None)
        self._keep(feed, closings)
        self._store_crossings(feed, memory.crossings)
        self._states[feed] = snapshot
        self._send(Beat(feed=snapshot.feed, epoch=snapshot.epoch, seq=snapshot.seq, info=snapshot.info))
        return True

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
        crossings: Sequence[Crossing] = (),
    ) -> bool:
        """See BusWriter."""
        state = self._states.get(batch.feed)
        if self._holder(batch.feed) not in {None, owner}:
            return False
        if state is None or (state.epoch, state.seq) != (batch.epoch, batch.seq - 1):
            return False
        new_entries = {**state.entries, **entries}
        self._states[batch.feed] = structs.replace(
            state, seq=batch.seq, entries=new_entries, parts={**state.parts, **parts}
        )
        closings = [NumberedClosing(batch.epoch, batch.seq, each) for each in batch.closings]
        self._keep(batch.feed, closings)
        self._store_crossings(batch.feed, crossings)
        self._send(batch)
        return True

    async def beat(self, beat: Beat) -> bool:
        """See BusWriter."""
        state = self._states.get(beat.feed)
        if state is None or state.epoch != beat.epoch:
            return False
        if beat.feed in self._reported:
            self._reported.remove(beat.feed)
            return False
        self._states[beat.feed] = structs.replace(state, info=beat.info)
        self._send(beat)
        return True

    async def digest(self, feed: Feed, name: str) -> str | None:
        """See BusReader."""
        stored = self._documents.get((feed, name))
        return stored.digest if stored else None

    async def document(self, feed: Feed, name: str) -> Document | None:
        """See BusReader."""
        return self._documents.get((feed, name))

    async def report_document(self, document: Document) -> None:
        """See Reader."""
        key = (document.feed, document.name)
        if await self.digest(*key) == document.digest:
            del self._documents[key]

    async def store(self, owner: str, document: Document) -> bool:
        """See BusWriter."""
        feed, name, digest = document.feed, document.name, document.digest
        if self._holder(feed) != owner:
            return False
        if await self.digest(feed, name) != digest:
            self._documents[feed, name] = document
            self._send(DocumentChanged(feed=feed, name=name, digest=digest))
        return True

    @contextlib.asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:
        """See BusReader."""
        queue: asyncio.Queue[Message | None] = asyncio.Queue()
        self._listeners[queue] = feeds
        try:
            yield self._messages(queue)
        finally:
            del self._listeners[queue]

    async def _messages(self, queue: asyncio.Queue[T | None]) -> AsyncIterator[T | None]:
        while True:
            message = None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._silence_seconds):
                    message = await queue.get()
            yield message

    @contextlib.asynccontextmanager
    async def announcements(self) -> AsyncIterator[AsyncIterator[Sequence[str] | None]]:
        """See BusReader."""
        queue: asyncio.Queue[Sequence[str] | None] = asyncio.Queue()
        self._alerted.add(queue)
        try:
            yield self._messages(queue)
        finally:
            self._alerted.remove(queue)

    def _store_crossings(self, feed: Feed, crossings: Sequence[Crossing]) -> None:
        stored = self._crossings.setdefault(feed, [])
        for crossing in crossings:
            if not stored or crossing.id > stored[-1].id:
                stored.append(crossing)
        del stored[:-MAX_CROSSINGS]

    def _keep(self, feed: Feed, closings: Sequence[NumberedClosing]) -> None:
        stored = self._closings.setdefault(feed, [])
        for each in closings:
            if not stored or each.closing.through > stored[-1].closing.through:
                stored.append(each)
        del stored[:-MAX_CLOSINGS]

    def _holder(self, feed: Feed) -> str | None:
        owner, until = self._leases.get(feed, (None, 0.0))
        return owner if self._clock() < until else None

    def _send(self, message: Message) -> None:
        for queue, feeds in self._listeners.items():
            if message.feed in feeds:
                queue.put_nowait(message)
