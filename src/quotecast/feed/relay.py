"""One subscription per worker: bus messages into the mirrors and documents, holes noticed and healed.

It subscribes first and loads then, so that nothing falls between; after that every batch must follow
the one before. A hole, a new epoch or a heartbeat that knows more than the mirror means loading anew,
which costs clients only what really changed. Silence is checked too: a connection can look healthy and
deliver nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

import structlog

from quotecast.backoff import Backoff, without_jitter
from quotecast.bus.base import Batch, Beat, DocumentChanged, Message, Reader
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


class Relay:
    """Keeps `mirrors` and `documents` as the bus is; `clock` is monotonic, `wall_clock` Unix time."""

    def __init__(
        self,
        reader: Reader,
        mirrors: Mapping[Feed, Mirror],
        documents: Iterable[Copy[Any]] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._reader = reader
        self._mirrors = mirrors
        self._documents = {(each.feed, each.name): each for each in documents}
        self._clock = clock
        self._wall_clock = wall_clock
        self._sleep = sleep
        #: Whether the bus has ever told what it knows, be it nothing.
        self.has_asked = False
        self._check_at = 0.0
        self._loaded_at: dict[Feed, float] = {}
        self._backoff = Backoff(FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS, chance=without_jitter)
        self._unreadable = {feed: OutageLog(clock) for feed in mirrors}
        self._counts = {"batches": 0, "reloads": 0, "reconnects": 0}
        #: Seconds from a batch's publication to its arrival.
        self.lags = {feed: Histogram() for feed in mirrors}

    async def run(self) -> None:
        """Follows the bus for ever, unless there is nothing to follow."""
        self.has_asked = not self._mirrors
        while self._mirrors:
            try:
                await self._follow()
            except BusError as error:
                # A bus that stays away is told of once, not at every try.
                tell = log.debug if self._backoff.tries else log.warning
                tell("bus lost; reconnecting", error=str(error))
            self._counts["reconnects"] += 1
            await self._sleep(self._backoff.delay())

    def statistics(self) -> dict[str, int]:
        """Counts since the start."""
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
        """Loads a state; one that cannot be read at most once a second."""
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
        """One feed that cannot be read must not stop the others: it waits for its leader's new epoch."""
        feed, outage = mirror.feed, self._unreadable[mirror.feed]
        try:
            snapshot = await self._reader.load(feed)
        except UnreadableState as error:
            mirror.readable = False
            outage.failed("feed cannot be read; asking for a new epoch", feed=feed, error=str(error))
            await self._reader.report(feed)
            return
        mirror.readable = True
        outage.ended("feed can be read again", feed=feed)
        if snapshot is not None:
            mirror.load(snapshot)

    async def _load_document(self, feed: Feed, name: str, digest: str | None = None) -> None:
        """Brings a copy up to date with the bus; keeps the old one if the new one cannot be read."""
        try:
            await self._follow_document(feed, name, digest or await self._reader.digest(feed, name))
        except UnreadableState as error:
            log.warning("document cannot be read", feed=feed, document=name, error=str(error))

    async def _follow_document(self, feed: Feed, name: str, digest: str | None) -> None:
        """Brings a copy up to date. One that is gone from the bus is kept: better old than none."""
        copy = self._documents.get((feed, name))
        if copy is None or digest in {None, copy.digest}:
            return
        document = await self._reader.document(feed, name)
        if document is not None:
            copy.take(document)

    async def _check_silence(self) -> None:
        """Reloads feeds that say nothing; if that brings news, the subscription is not to be trusted."""
        now = self._clock()
        self._check_at = now + CHECK_SECONDS
        silent = [feed for feed, mirror in self._mirrors.items() if self._is_silent(feed, mirror, now)]
        for feed in silent:
            before = self._mirrors[feed].mark
            await self._load(feed)
            if self._mirrors[feed].mark != before:
                raise BusError(f"messages of {feed} were lost")
        if silent and len(silent) == len(self._mirrors):
            raise BusError("nothing but silence")

    def _is_silent(self, feed: Feed, mirror: Mirror, now: float) -> bool:
        last = max(mirror.heard_at, self._loaded_at[feed])
        return now - last > STALE_AFTER_SECONDS
