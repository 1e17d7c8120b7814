"""The listener applies one bus subscription per worker to the mirrors and documents, and heals gaps.

It subscribes before it loads, so that no batch is lost in between. After a gap, a new epoch or a
heartbeat ahead of the mirror it loads the state again; clients then receive only real changes. It also
reloads after silence: a connection can look healthy and deliver nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

import structlog

from quotecast.backoff import Backoff, without_jitter
from quotecast.bus.base import RENAMES, Batch, Beat, BusReader, DocumentChanged, Message, Snapshot
from quotecast.bus.wire import digest_of
from quotecast.errors import BusError, UnreadableState
from quotecast.feed.documents import Copy
from quotecast.feed.mirror import STALE_AFTER_SECONDS, Mirror
from quotecast.market.feeds import Feed
from quotecast.observe.histograms import Histogram
from quotecast.observe.outages import OutageLog

#: Delays between tries to follow the bus.
FIRST_RETRY_SECONDS: Final = 0.1
LAST_RETRY_SECONDS: Final = 0.8
CHECK_SECONDS: Final = 1.0

log = structlog.get_logger()


class BusListener:
    """Applies the bus to `mirrors` and `documents`; `clock` is monotonic, `wall_clock` Unix time.

    `on_message` gets every message first.
    """

    def __init__(
        self,
        reader: BusReader,
        mirrors: Mapping[Feed, Mirror],
        documents: Iterable[Copy[Any]] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        on_message: Callable[[Message], None] | None = None,
    ) -> None:
        self._reader = reader
        self._mirrors = mirrors
        self._documents = {(each.feed, each.name): each for each in documents}
        self._clock = clock
        self._wall_clock = wall_clock
        self._on_message = on_message
        #: Whether the first load has succeeded, even if the bus was empty.
        self.has_asked = False
        self._check_at = 0.0
        self._loaded_at: dict[Feed, float] = {}
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS, chance=without_jitter)
        self._unreadable = {feed: OutageLog(clock) for feed in mirrors}
        self._refused = OutageLog(clock)
        self._counts = {"batches": 0, "reloads": 0, "reconnects": 0}
        #: Seconds from a batch's publication to its arrival.
        self.lags = {feed: Histogram() for feed in mirrors}

    async def run(self) -> None:
        """Follows the bus indefinitely; returns at once if there are no mirrors."""
        self.has_asked = not self._mirrors
        while self._mirrors:
            try:
                await self._follow()
            except BusError as error:
                # One warning for each outage; repeated failures are logged at debug level.
                write = log.debug if self._backoff.tries else log.warning
                write("bus lost; reconnecting", error=str(error))
            self._counts["reconnects"] += 1
            await asyncio.sleep(self._backoff.delay())

    def statistics(self) -> dict[str, int]:
        """Returns counts since the start."""
        return dict(self._counts)

    async def _follow(self) -> None:
        async with self._reader.listen(list(self._mirrors)) as messages:
            for feed in self._mirrors:
                await self._load(feed)
            self.has_asked = True
            self._check_at = self._clock() + STALE_AFTER_SECONDS
            async for message in messages:
                if message is not None:
                    await self._take(message)
                if self._clock() >= self._check_at:
                    await self._check_silence()

    async def _take(self, message: Message) -> None:
        if self._on_message is not None:
            self._on_message(message)
        mirror = self._mirrors.get(message.feed)
        if mirror is None:
            return
        mirror.heard_at = self._clock()
        self._backoff.reset()
        match message:
            case Batch():
                self._counts["batches"] += 1
                self.lags[message.feed].observe(max(0.0, self._wall_clock() - message.sent_at))
                if not mirror.apply(message):
                    await self._reload(mirror)
            case Beat():
                mirror.info = message.info
                behind = message.epoch != mirror.epoch or message.seq > mirror.mark.seq
                if behind or not mirror.readable:
                    await self._reload(mirror)
            case DocumentChanged():
                await self._load_document(message.feed, message.name, message.digest)

    async def _reload(self, mirror: Mirror) -> None:
        """Loads a state; retries an unreadable one at most once a second."""
        if mirror.readable or self._clock() - self._loaded_at[mirror.feed] >= CHECK_SECONDS:
            await self._load(mirror.feed)

    async def _load(self, feed: Feed) -> None:
        self._counts["reloads"] += 1
        self._loaded_at[feed] = self._clock()
        await self._load_state(self._mirrors[feed])
        for document in self._documents.values():
            if document.feed is feed:
                await self._load_document(feed, document.name)

    async def _load_state(self, mirror: Mirror) -> None:
        """Loads one mirror. An unreadable feed waits for a new epoch, and does not stop the others."""
        feed, outage = mirror.feed, self._unreadable[mirror.feed]
        try:
            snapshot = await self._snapshot(mirror)
        except UnreadableState as error:
            mirror.readable = False
            outage.log_failure("feed cannot be read; asking for a new epoch", feed=feed, error=str(error))
            await self._ask(feed, self._reader.report(feed))
            return
        mirror.readable = True
        outage.log_end("feed can be read again", feed=feed)
        if snapshot is not None:
            mirror.load(snapshot)

    async def _snapshot(self, mirror: Mirror) -> Snapshot | None:
        """Returns the state, without closings that the mirror has: half an hour of 12,000 bars is 20 MB."""
        feed, known = mirror.feed, mirror.bars.through
        snapshot = await self._reader.load(feed, closings_after=known)
        if known and snapshot is not None and snapshot.info.market != mirror.bars.market:
            # Times of two markets do not compare.
            return await self._reader.load(feed)
        return snapshot

    async def _ask(self, feed: Feed, request: Awaitable[None]) -> None:
        """Asks the feed's leader to write something again; a Redis that refuses stops no other feed."""
        try:
            await request
        except BusError as error:
            self._refused.log_failure("Redis refuses a request to the leader", feed=feed, error=str(error))

    async def _load_document(self, feed: Feed, name: str, digest: str | None = None) -> None:
        """Updates a copy from the bus; keeps the old version if the new one is unreadable."""
        try:
            await self._follow_document(feed, name, digest or await self._reader.digest(feed, name))
        except UnreadableState as error:
            log.warning("document cannot be read", feed=feed, document=name, error=str(error))

    async def _follow_document(self, feed: Feed, name: str, digest: str | None) -> None:
        """Updates a copy from the bus; keeps the last version if the bus has lost the document."""
        copy = self._documents.get((feed, name))
        if copy is None or digest in {None, copy.digest}:
            return
        document = await self._reader.document(feed, name)
        if document is None:
            return
        if document.digest == digest_of(document.content):
            copy.take(document)
            if copy.name == RENAMES:
                self._mirrors[feed].follow_renames(copy.items or ())
            return
        log.warning("document is damaged; asking for it again", feed=feed, document=name)
        await self._ask(feed, self._reader.report_document(document))

    async def _check_silence(self) -> None:
        """Reloads silent feeds. Raises BusError if that finds changes: the subscription lost messages."""
        now = self._clock()
        self._check_at = now + CHECK_SECONDS
        silent = [
            feed
            for feed, mirror in self._mirrors.items()
            if now - max(mirror.heard_at, self._loaded_at[feed]) > STALE_AFTER_SECONDS
        ]
        for feed in silent:
            before = self._mirrors[feed].mark
            await self._load(feed)
            if self._mirrors[feed].mark != before:
                raise BusError(f"messages of {feed} were lost")
        has_begun = any(mirror.loaded for mirror in self._mirrors.values())
        if has_begun and len(silent) == len(self._mirrors):
            raise BusError("no messages of any feed")
