"""Writes events of alerts: it takes a feed's crossings from Redis to PostgreSQL, beside the feed's leader.

A transaction makes the events of the crossings that follow those of the last one, and writes up to which
crossing that is done. So a writer that dies, loses its connection, or has a rival at a takeover makes no
event twice and skips none. Quotes never wait for it.
"""

import asyncio
import contextlib
from functools import partial
from typing import Final

import structlog
from msgspec import Struct

from quotecast.alerts import storage
from quotecast.alerts.levels import LevelBook
from quotecast.alerts.statistics import AlertStatistics
from quotecast.backoff import Backoff
from quotecast.bus.base import MAX_CROSSINGS, BusWriter
from quotecast.database.database import Database
from quotecast.errors import BusError
from quotecast.market.crossings import NO_CROSSING, CrossingId
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

#: Seconds between two looks for crossings that no publisher announced: those of an earlier leader.
POLL_SECONDS: Final = 1.0
#: Crossings of one transaction.
CROSSINGS: Final = 500
#: Seconds of one transaction: many alerts may wait for one crossing.
DEADLINE_SECONDS: Final = 10.0
#: Seconds between two tries to write during an outage, at most.
RETRY_SECONDS: Final = 5.0
#: Users in one announcement.
ANNOUNCED: Final = 500

log = structlog.get_logger()


class CrossingWriter:
    """The writer of one feed."""

    def __init__(
        self, feed: Feed, bus: BusWriter, database: Database, *, statistics: AlertStatistics | None = None
    ) -> None:
        self.statistics = statistics or AlertStatistics()
        self._feed = feed
        self._bus = bus
        self._database = database
        self._woken = asyncio.Event()
        self._backoff = Backoff(last=RETRY_SECONDS)
        self._outage = OutageLog()
        #: The crossing up to which PostgreSQL has all; None until it says so.
        self._last: CrossingId | None = None
        #: The last one that this writer knows to be there.
        self._written = NO_CROSSING
        #: Crossings of the next transaction: fewer after a failure, which may be one of time.
        self._size = CROSSINGS

    def wake(self) -> None:
        """Starts the next step at once: there are new crossings."""
        self._woken.set()

    async def run(self) -> None:
        """Writes without end; the caller leads the feed meanwhile."""
        self._last = None
        self.statistics.forget_waiting()
        while True:
            delay, failures = await self.step(), self._backoff.tries
            if failures:
                await asyncio.sleep(delay)
            elif delay:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(delay):
                        await self._woken.wait()

    async def step(self) -> float:
        """Writes the oldest crossings that PostgreSQL lacks. Returns the seconds until the next step."""
        self._woken.clear()
        try:
            is_behind = await self._write_next()
        except Exception as error:  # noqa: BLE001 - a bug here must not end the feed's quotes
            self.statistics.failures += 1
            # Counts what waits in Redis.
            with contextlib.suppress(Exception):
                if oldest := await self._bus.crossings_after(self._feed, self._written, 1):
                    self.statistics.note_waiting(await self._count_waiting(), oldest[0])
            # A commit may have succeeded without its answer.
            self._last = None
            self._size = max(1, self._size // 8)
            self._outage.log_error(
                "could not write events of alerts",
                error,
                feed=self._feed,
                crossings_waiting=self.statistics.waiting,
                is_full=self.statistics.waiting >= MAX_CROSSINGS,
            )
            return self._backoff.delay()
        self._backoff.reset()
        self._size = min(2 * self._size, CROSSINGS)
        self._outage.log_end("events of alerts are written again", feed=self._feed)
        return 0.0 if is_behind else POLL_SECONDS

    async def _write_next(self) -> bool:
        """Returns whether there may be more to write at once."""
        if self._last is None:
            work = partial(storage.last_written, feed=self._feed)
            self._last = self._written = await self._database.session(work)
        crossings = await self._bus.crossings_after(self._feed, self._last, self._size)
        if not crossings:
            return False
        self.statistics.note_waiting(await self._count_waiting(), crossings[0])
        write = partial(storage.write, feed=self._feed, after=self._last, crossings=crossings)
        written = await self._database.session(write)
        self._last = self._written = written.last
        self.statistics.events += written.events
        for start in range(0, len(written.users), ANNOUNCED):
            # Users with a request that waits ask again by themselves, somewhat later.
            with contextlib.suppress(BusError):
                await self._bus.announce(written.users[start : start + ANNOUNCED])
        if written.last != crossings[-1].id:
            return True
        self.statistics.note_written(crossings[-1])
        await self._bus.trim_crossings(self._feed, written.last)
        return len(crossings) == self._size

    async def _count_waiting(self) -> int:
        """Returns the number of crossings in Redis, but for the last written one, which stays there."""
        return await self._bus.count_crossings(self._feed) - (self._written != NO_CROSSING)


class FeedAlerts(Struct, frozen=True):
    """The alerts of one feed, for its publisher: the thresholds, and the writer of events."""

    levels: LevelBook
    writer: CrossingWriter
