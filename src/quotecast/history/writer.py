"""Writes a feed's final bars from Redis to PostgreSQL, beside the feed's leader.

A transaction writes the closings that follow those of the last one, and the time up to which all are written.
So a writer that dies, loses its connection, or has a rival at a takeover writes no bar twice and skips none.
Redis holds what PostgreSQL has not taken yet, and quotes never wait for either.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from functools import partial
from typing import Final

import structlog

from quotecast.backoff import Backoff
from quotecast.bus.base import BusWriter
from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.history import feed_days, storage
from quotecast.history.recall import Recalled, recall
from quotecast.history.statistics import BarStatistics
from quotecast.market.calendars import Calendar
from quotecast.market.feed_days import DayFigures
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, series_name
from quotecast.observe.outages import OutageLog

#: Seconds between two looks for new closings, of which a minute has one.
POLL_SECONDS: Final = 2.0
#: Closings of one transaction: 25,000 bars of a large market.
CLOSINGS: Final = 30
#: Seconds of one transaction: a frozen PostgreSQL costs no more.
DEADLINE_SECONDS: Final = 5.0
#: Seconds between two tries to write during an outage, at most.
RETRY_SECONDS: Final = 5.0
#: Seconds between two looks for partitions past retention.
RETENTION_SECONDS: Final = 600.0
#: Seconds between two writes of the day's figures.
FIGURES_SECONDS: Final = 60.0

log = structlog.get_logger()


class BarWriter:
    """The writer of one feed; `days` is the retention by interval, `clock` gives monotonic seconds.

    It also writes `figures`, those of the feed's days.
    """

    def __init__(
        self,
        feed: Feed,
        bus: BusWriter,
        database: Database,
        days: Mapping[LiveInterval, int],
        *,
        market: str = "",
        statistics: BarStatistics | None = None,
        figures: dict[date, DayFigures] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._feed = feed
        self._series = series_name(feed, market)
        self._bus = bus
        self._database = database
        self._days = days
        self._statistics = statistics or BarStatistics()
        self._clock = clock
        self._sleep = sleep
        self._backoff = Backoff(last=RETRY_SECONDS)
        self._outage = OutageLog(clock)
        self._drop_at = self._figures_at = clock()
        self._figures = {} if figures is None else figures
        self._process = secrets.token_hex(8)
        #: Unix time up to which PostgreSQL has all closings; None until it says so.
        self._through: int | None = None

    async def recall(self, calendar: Calendar, now: float) -> Recalled | None:
        """Returns the feed's bars in progress as PostgreSQL has them; None without any or an answer."""
        try:
            return await recall(self._database, series=self._series, calendar=calendar, now=now)
        except Exception as error:  # noqa: BLE001 - quotes do not wait for bars
            log.warning("could not load bars in progress", feed=self._feed, error=str(error))
            return None

    async def run(self) -> None:
        """Writes without end; the caller leads the feed meanwhile."""
        self._through = None
        self._statistics.forget_waiting()
        while True:
            await self._sleep(await self.step())

    async def run_after(self, begun: asyncio.Event) -> None:
        """Writes without end once an epoch has begun.

        Until then Redis may hold bars of another market, which have another name in PostgreSQL.
        """
        await begun.wait()
        await self.run()

    async def step(self) -> float:
        """Writes the oldest closings that PostgreSQL lacks. Returns the seconds until the next step."""
        if self._clock() >= self._figures_at:
            await self.write_figures()
        try:
            is_behind = await self._write_next()
            await self._drop_expired()
        except Exception as error:  # noqa: BLE001 - a bug here must not end the feed's quotes
            self._statistics.failures += 1
            # Counts what waits in Redis.
            with contextlib.suppress(Exception):
                while closings := await self._bus.closings_after(
                    self._feed, max(self._through or 0, self._statistics.newest), CLOSINGS
                ):
                    self._statistics.note_waiting(closings)
            self._outage.log_error(
                "could not write bars", error, feed=self._feed, minutes_waiting=self._statistics.waiting
            )
            return self._backoff.delay()
        self._backoff.reset()
        self._outage.log_end("bars are written again", feed=self._feed)
        return 0.0 if is_behind else POLL_SECONDS

    async def _write_next(self) -> bool:
        """Returns whether there may be more to write at once."""
        if self._through is None:
            self._through = await self._database.session(
                partial(storage.written_through, series=self._series)
            )
        closings = await self._bus.closings_after(self._feed, self._through, CLOSINGS)
        if not closings:
            return False
        self._statistics.note_oldest(closings[0].through)
        self._statistics.note_waiting(closings)
        work = partial(storage.write, series=self._series, after=self._through, closings=closings)
        through, written = await self._database.session(work)
        self._through = through
        self._statistics.written.update(written)
        self._statistics.note_written(through)
        await self._bus.trim_closings(self._feed, through)
        return through != closings[-1].through or len(closings) == CLOSINGS

    async def write_figures(self) -> None:
        """Writes the figures of the days; bars do not wait for a database that does not take them."""
        self._figures_at = self._clock() + FIGURES_SECONDS
        if not (days := dict(self._figures)):
            return
        try:
            work = partial(feed_days.write, series=self._series, process=self._process, days=days)
            await self._database.session(work)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next write has the same figures
            log.warning("could not write figures of the day", feed=self._feed, error=str(error))

    async def _drop_expired(self) -> None:
        """Drops partitions past retention, one a transaction, now and then."""
        if self._clock() < self._drop_at:
            return
        self._drop_at = self._clock() + RETENTION_SECONDS
        try:
            for name in await self._database.session(partial(storage.expired_partitions, days=self._days)):
                await self._database.session(partial(storage.drop_partition, name=name))
                log.info("dropped bars past retention", partition=name)
            await self._database.session(feed_days.delete_expired)
        except DatabaseAway:
            log.info("bars past retention are not dropped yet")
