"""A bus within one process, for tests; it gives the same guarantees as the one on Redis."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from msgspec import structs

from quotecast.bus.base import (
    MAX_CLOSINGS,
    NO_PARTS,
    RECENT_CLOSINGS,
    REPORT_SECONDS,
    Batch,
    Beat,
    Document,
    DocumentChanged,
    Message,
    NumberedClosing,
    Snapshot,
    StoredQuote,
)
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, Parts


class MemoryBus:
    """A BusReader and BusWriter; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float], silence_seconds: float = 1.0) -> None:
        self._clock = clock
        self._silence_seconds = silence_seconds
        self._leases: dict[Feed, tuple[str, float]] = {}
        self._states: dict[Feed, Snapshot] = {}
        self._closings: dict[Feed, list[NumberedClosing]] = {}
        self._documents: dict[tuple[Feed, str], Document] = {}
        #: Feeds with a request for a new epoch, and the times until which further requests have no effect.
        self._reported: set[Feed] = set()
        self._ignored_until: dict[Feed, float] = {}
        self._listeners: dict[asyncio.Queue[Message], Sequence[Feed]] = {}

    async def hold(self, feed: Feed, owner: str, milliseconds: int) -> bool:
        """See BusWriter."""
        if self._holder(feed) not in {None, owner}:
            return False
        self._leases[feed] = (owner, self._clock() + milliseconds / 1000)
        return True

    async def release(self, feed: Feed, owner: str) -> None:
        """See BusWriter."""
        if self._holder(feed) == owner:
            del self._leases[feed]

    async def load(self, feed: Feed) -> Snapshot | None:
        """See BusReader."""
        state = self._states.get(feed)
        newest = tuple(self._closings.get(feed, [])[-RECENT_CLOSINGS:])
        return structs.replace(state, closings=newest) if state else None

    async def closings_after(self, feed: Feed, through: int, count: int) -> Sequence[Closing]:
        """See BusWriter."""
        stored = [each.closing for each in self._closings.get(feed, [])]
        return [closing for closing in stored if closing.through > through][:count]

    async def trim_closings(self, feed: Feed, through: int) -> None:
        """See BusWriter."""
        stored = self._closings.get(feed, [])
        older, newest = stored[:-RECENT_CLOSINGS], stored[-RECENT_CLOSINGS:]
        self._closings[feed] = [each for each in older if each.closing.through > through] + newest

    async def report(self, feed: Feed) -> None:
        """See BusReader."""
        if self._clock() >= self._ignored_until.get(feed, 0.0):
            self._ignored_until[feed] = self._clock() + REPORT_SECONDS
            self._reported.add(feed)

    async def begin(self, owner: str, snapshot: Snapshot) -> bool:
        """See BusWriter."""
        if self._holder(snapshot.feed) != owner:
            return False
        feed, closings = snapshot.feed, [each.closing for each in snapshot.closings]
        before = self._states.get(feed)
        if before is not None and before.info.market != snapshot.info.market:
            self._closings.pop(feed, None)
        self._keep(feed, snapshot.epoch, snapshot.seq, closings)
        self._states[feed] = snapshot
        self._send(Beat(feed=snapshot.feed, epoch=snapshot.epoch, seq=snapshot.seq, info=snapshot.info))
        return True

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
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
        self._keep(batch.feed, batch.epoch, batch.seq, batch.closings)
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
        queue: asyncio.Queue[Message] = asyncio.Queue()
        self._listeners[queue] = feeds
        try:
            yield self._messages(queue)
        finally:
            del self._listeners[queue]

    async def _messages(self, queue: asyncio.Queue[Message]) -> AsyncIterator[Message | None]:
        while True:
            try:
                async with asyncio.timeout(self._silence_seconds):
                    message = await queue.get()
            except TimeoutError:
                yield None
            else:
                yield message

    def _keep(self, feed: Feed, epoch: str, seq: int, closings: Sequence[Closing]) -> None:
        stored = self._closings.setdefault(feed, [])
        for closing in closings:
            if not stored or closing.through > stored[-1].closing.through:
                stored.append(NumberedClosing(epoch, seq, closing))
        del stored[:-MAX_CLOSINGS]

    def _holder(self, feed: Feed) -> str | None:
        owner, until = self._leases.get(feed, (None, 0.0))
        return owner if self._clock() < until else None

    def _send(self, message: Message) -> None:
        for queue, feeds in self._listeners.items():
            if message.feed in feeds:
                queue.put_nowait(message)
