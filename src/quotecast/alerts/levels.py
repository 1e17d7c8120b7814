"""The thresholds that alerts wait for, as PostgreSQL has them; a copy in Redis serves while it is away."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
import structlog

from quotecast.alerts import storage
from quotecast.alerts.statistics import AlertStatistics
from quotecast.backoff import Backoff
from quotecast.bus.base import BusWriter
from quotecast.database.database import Database
from quotecast.errors import BusError
from quotecast.market.crossings import NO_CROSSING, CrossingId, Levels, Thresholds
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

#: Seconds between two looks for changes: an alert takes effect so soon after its creation.
POLL_SECONDS: Final = 1.0
#: Seconds after which all thresholds are read again, whatever the count of changes says: a user's deletion
#: does not count, nor does a backup that someone restores.
RELOAD_SECONDS: Final = 60.0
#: Seconds between two looks during an outage, at most.
RETRY_SECONDS: Final = 5.0
#: Seconds for which quotes wait for the thresholds at the start.
PATIENCE_SECONDS: Final = 2.0

_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(dict[str, tuple[Thresholds, ...]])

#: Before the first look.
_NEVER: Final = float("-inf")

log = structlog.get_logger()


class LevelBook:
    """The thresholds of all feeds, followed by each ingest, so that a standby has them at its takeover.

    `clock` gives monotonic seconds.
    """

    def __init__(
        self,
        bus: BusWriter,
        database: Database,
        statistics: Mapping[Feed, AlertStatistics],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._levels: dict[Feed, Levels] = {feed: {} for feed in statistics}
        self._statistics = statistics
        #: The last crossing of which PostgreSQL has the events: the next leader numbers on from it.
        self.written: dict[Feed, CrossingId] = dict.fromkeys(self._levels, NO_CROSSING)
        self._bus = bus
        self._database = database
        self._clock = clock
        self._numbers: Mapping[Any, int] = {}
        self._reload_at = _NEVER
        self._known = asyncio.Event()
        self._copies_read = False
        self._backoff = Backoff(last=RETRY_SECONDS)
        self._outage = OutageLog(clock)

    def of(self, feed: Feed) -> Levels:
        """Returns the thresholds of a feed."""
        return self._levels[feed]

    async def wait_until_known(self) -> None:
        """Waits until PostgreSQL or the copies have answered, or for PATIENCE_SECONDS."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._known.wait()

    async def run(self) -> None:
        """Follows the changes without end."""
        while True:
            delay = await self.step()
            await asyncio.sleep(delay)

    async def step(self) -> float:
        """Reads what changed. Returns the seconds until the next look."""
        # Before the first look, which a frozen PostgreSQL would delay.
        if self._reload_at == _NEVER and not self._copies_read:
            await self._read_copies()
        try:
            everything = self._clock() >= self._reload_at
            numbers, read, written = await self._database.session(partial(self._read, everything=everything))
            self._numbers = numbers
            self._take(read)
            self.written.update(written)
            if everything:
                self._reload_at = self._clock() + RELOAD_SECONDS
            for feed, levels in read.items():
                # It goes to Redis again within a minute.
                with contextlib.suppress(BusError):
                    await self._bus.store_levels(feed, _encoder.encode(levels))
        except Exception as error:  # noqa: BLE001 - a bug here must not end the feeds' quotes
            self._outage.log_error("could not read alerts", error)
            return self._backoff.delay()
        finally:
            self._known.set()
        self._backoff.reset()
        self._outage.log_end("alerts are read again")
        return POLL_SECONDS

    async def _read(
        self, connection: Any, *, everything: bool
    ) -> tuple[Mapping[Any, int], dict[Feed, Levels], dict[Feed, CrossingId]]:
        """Returns the counts of changes, and what they changed.

        The counts come first: a change after them is in the next look's counts.
        """
        numbers = await storage.changes(connection)
        changed = [
            feed
            for feed in self._levels
            if everything or numbers.get(feed.spec.kind) != self._numbers.get(feed.spec.kind)
        ]
        levels = {feed: await storage.levels(connection, feed.spec.kind) for feed in changed}
        written = {feed: await storage.last_written(connection, feed) for feed in changed}
        return numbers, levels, written

    async def _read_copies(self) -> None:
        try:
            stored = {feed: await self._bus.levels(feed) for feed in self._levels}
            self._take({feed: _decoder.decode(levels) for feed, levels in stored.items() if levels})
        except (BusError, ValueError) as error:
            log.warning("could not read copies of the thresholds", error=str(error))
            return
        self._copies_read = True

    def _take(self, read: Mapping[Feed, Levels]) -> None:
        for feed, levels in read.items():
            self._levels[feed] = levels
            self._statistics[feed].thresholds = sum(
                len(each.up) + len(each.down) for own in levels.values() for each in own
            )
