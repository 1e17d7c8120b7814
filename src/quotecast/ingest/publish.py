"""Publishes one feed: it numbers the updates of the upstream and sends them to the bus in batches."""

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Final, TypeVar

import structlog

from quotecast.alerts.statistics import AlertStatistics
from quotecast.alerts.writer import FeedAlerts
from quotecast.bus.base import MAX_CROSSINGS, STORED_CLOSINGS, Batch, Beat, BusWriter, FeedInfo, Snapshot
from quotecast.errors import BusError, UnreadableState
from quotecast.history.recall import Recalled
from quotecast.history.statistics import BarStatistics
from quotecast.ingest import lease
from quotecast.ingest.feed_day import DayCounter
from quotecast.ingest.lease import LeaseLostError
from quotecast.ingest.ledger import Ledger, new_epoch
from quotecast.ingest.sinks import Sink
from quotecast.ingest.supervise import pump
from quotecast.market.calendars import Calendar
from quotecast.market.codec import iso_utc
from quotecast.market.crossings import NO_CROSSING, Crossing
from quotecast.market.feed_days import DayFigures
from quotecast.market.feeds import Feed, calendar_of
from quotecast.market.own_bars import Closing
from quotecast.market.sessions import Unscheduled
from quotecast.observe.outages import OutageLog
from quotecast.providers.base import Inheriting, QuoteProvider, Resumable, Update, refusals_of

FIRST_SECONDS: Final = 0.002
BEAT_SECONDS: Final = 1.0
#: Seconds between two batches of a feed that changes all the time.
SPACING_SECONDS: Final = 0.02
RETRY_SECONDS: Final = 0.2

#: Returns the bars in progress that PostgreSQL has, by the venue's calendar and Unix time.
Recall = Callable[[Calendar, float], Awaitable[Recalled | None]]

T = TypeVar("T")

log = structlog.get_logger()


@dataclass(slots=True)
class IngestStatistics:
    """One feed's counts since the process began, across its terms as leader."""

    leading: bool = False
    standing: lease.Standing = "unknown"
    batches: int = 0
    #: Changes in those batches, removals included.
    changes: int = 0
    epochs: int = 0
    #: Batches and beats that did not reach the bus.
    failures: int = 0
    seq: int = 0
    #: Bars that became final, and updates that came too late for any.
    bars: int = 0
    late: int = 0
    #: Steps of a measure over thresholds of alerts.
    crossings: int = 0
    #: Unix time of the last update of the upstream.
    heard_at: float = 0.0
    #: Its bars on their way to PostgreSQL.
    stored: BarStatistics = field(default_factory=BarStatistics)
    #: The alerts that wait for them, and their events.
    alerts: AlertStatistics = field(default_factory=AlertStatistics)
    #: The figures of the newest two days.
    days: dict[date, DayFigures] = field(default_factory=dict)

    def set_standing(self, standing: lease.Standing) -> None:
        """Sets this ingest's role in the feed."""
        self.standing = standing


class FeedPublisher:
    """Publishes one feed while this ingest holds its lease; `clock` is Unix time.

    `sinks` get everything that was published.
    """

    def __init__(
        self,
        provider: QuoteProvider,
        bus: BusWriter,
        owner: str,
        *,
        clock: Callable[[], float] = time.time,
        statistics: IngestStatistics | None = None,
        spacing_seconds: float = SPACING_SECONDS,
        sinks: Sequence[Sink] = (),
        recall: Recall | None = None,
        alerts: FeedAlerts | None = None,
    ) -> None:
        self._provider = provider
        self._feed: Feed = provider.feed
        self._bus = bus
        self._owner = owner
        self._clock = clock
        self._ledger = Ledger(self._feed)
        self._wake = asyncio.Event()
        self._heard_at = clock()
        #: Unix time up to which the bars have every update.
        self._followed_to = 0.0
        self._time = FeedTime(provider, clock)
        self._statistics = statistics or IngestStatistics()
        self._days = DayCounter(self._feed, self._statistics.days, refusals_of(provider))
        #: Unix time up to which closings are on the bus, and counted here or by an earlier leader.
        self._counted_to = 0
        self._spacing = Spacing(spacing_seconds)
        self._last_update: str | None = None
        self._unscheduled: Unscheduled | None = None
        self._outage = OutageLog()
        self._sinks = sinks
        self._recall = recall
        self._alerts = alerts
        #: Set once the bus has this leader's state.
        self.begun = asyncio.Event()

    async def run(self) -> None:
        """Publishes until another ingest has the lease."""
        self._statistics.leading = True
        try:
            async with asyncio.TaskGroup() as tasks:
                # First: without renewals an outage of Redis here would leave the standing at `leading`.
                tasks.create_task(
                    lease.renew(self._bus, self._feed, self._owner, report=self._statistics.set_standing)
                )
                await self._inherit()
                self._counted_to = self._ledger.bars.through
                self._use_calendar()
                tasks.create_task(pump(self._provider, self._take))
                tasks.create_task(self._write())
        except* LeaseLostError:
            log.warning("lost the lease", feed=self._feed)
        finally:
            self._statistics.leading = False

    async def _inherit(self) -> None:
        """Starts from the last leader's bars in one market, and from its quotes of one provider.

        Bars of two markets never mix, nor quotes of two providers.
        """
        if self._alerts:
            await self._alerts.levels.wait_until_known()
        self._ledger.crossings.follow(await self._repeat(self._bus.last_crossing, NO_CROSSING))
        found: Sequence[Crossing] = ()
        waiting = partial(self._bus.crossings_after, last=NO_CROSSING, count=MAX_CROSSINGS)
        self._ledger.crossings.remembered.extend(await self._repeat(waiting, found))
        old = await self._repeat(self._bus.load, None)
        if old is None or old.info.market != self._info().market:
            # The last leader died together with Redis: continue coarser bars from PostgreSQL.
            recalled = await self._recall(self._calendar(), self._clock()) if self._recall else None
            if recalled is not None:
                self._ledger.bars.inherit({}, recalled.parts, recalled.through)
            return
        same = old.info.provider == self._provider.name
        none: Sequence[Closing] = ()
        past = await self._repeat(partial(self._bus.newest_closings, count=STORED_CLOSINGS), none)
        self._ledger.inherit(old, same_provider=same, past=past)
        if same:
            self._last_update = old.info.last_update
            if self._last_update:
                self._followed_to = datetime.fromisoformat(self._last_update).timestamp()
                self._ledger.bars.whole_from = old.info.bars_from
            self._unscheduled = old.info.unscheduled
            if isinstance(self._provider, Resumable):
                self._provider.resume(self._unscheduled)
            if isinstance(self._provider, Inheriting):
                self._provider.inherit([each.quote for each in old.entries.values() if each.quote])
            self._wake.set()

    async def _repeat(self, load: Callable[[Feed], Awaitable[T]], otherwise: T) -> T:
        """Returns what the bus has of the last leader, or `otherwise` if it is unreadable."""
        while True:
            try:
                return await load(self._feed)
            except UnreadableState as error:
                log.warning("last state unreadable; starting without it", error=str(error))
                return otherwise
            except BusError as error:
                self._outage.log_failure("cannot load the last state", feed=self._feed, error=str(error))
                await asyncio.sleep(RETRY_SECONDS)

    def _take(self, update: Update) -> None:
        self._heard_at = self._statistics.heard_at = self._clock()
        if update.unscheduled != self._unscheduled:
            self._unscheduled = update.unscheduled
            self._use_calendar()
        self._time.hear(update)
        if update.after_gap or self._heard_at - self._followed_to > self._provider.silence_seconds:
            self._ledger.bars.miss(self._time.now())
        self._followed_to = self._heard_at
        if self._alerts:
            self._ledger.crossings.levels = self._alerts.levels.of(self._feed)
            self._ledger.crossings.follow(self._alerts.levels.written[self._feed])
        found = self._ledger.crossings.found
        now = self._time.now()
        self._days.turn(now)
        self._days.sample(update.quotes, self._ledger.quote_of, self._heard_at)
        self._ledger.take(update, now, provider=self._provider.name, heard_at=self._heard_at)
        self._statistics.crossings += self._ledger.crossings.found - found
        self._statistics.late = self._ledger.bars.late
        if self._ledger.waiting:
            self._last_update = iso_utc(self._heard_at)
            self._wake.set()

    async def _write(self) -> None:
        """Publishes waiting changes, and a beat every second, one at a time."""
        loop = asyncio.get_running_loop()
        beat_at = loop.time()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(beat_at):
                    await self._wake.wait()
            self._ledger.close_bars(self._time.now())
            if self._ledger.waiting and self._ledger.epoch:
                self._wake.set()
            try:
                if self._wake.is_set():
                    await asyncio.sleep(self._spacing.next_delay(loop.time()))
                    self._wake.clear()
                    began = loop.time()
                    await self._publish()
                    self._spacing.note_batch(began, loop.time())
                if loop.time() >= beat_at:
                    beat_at = loop.time() + BEAT_SECONDS
                    await self._beat()
                    self._outage.log_end("feed is published again", feed=self._feed)
            except BusError as error:
                self._statistics.failures += 1
                self._outage.log_failure("could not publish the feed", feed=self._feed, error=str(error))
                # The message may have arrived: a new epoch with the whole state is right in both cases.
                self._ledger.epoch = ""
                self._wake.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _publish(self) -> None:
        if self._ledger.epoch and self._ledger.waiting:
            batch, entries, parts = self._ledger.next_batch(self._clock())
            crossings = self._ledger.crossings.take_waiting()
            publishing = asyncio.create_task(self._bus.publish(self._owner, batch, entries, parts, crossings))
            try:
                is_taken = await asyncio.shield(publishing)
            except asyncio.CancelledError:
                # What the bus takes while this ingest stops belongs to the recording, too.
                with contextlib.suppress(BusError):
                    if await publishing:
                        self._note_published(batch, crossings)
                raise
            if is_taken:
                self._note_published(batch, crossings)
                return
            log.warning("bus has another state", feed=self._feed, epoch=batch.epoch, seq=batch.seq)
            self._ledger.epoch = ""
        if not self._ledger.epoch and self._ledger:
            await self._begin()

    def _note_published(self, batch: Batch, crossings: Sequence[Crossing]) -> None:
        if self._alerts and crossings:
            self._alerts.writer.wake()
        self._statistics.batches += 1
        changes = len(batch.changes) + len(batch.removed)
        self._statistics.changes += changes
        self._statistics.seq = batch.seq
        self._days.today.updates += changes
        self._count(batch.closings)
        for sink in self._sinks:
            sink.add(batch, self._state)

    async def _begin(self) -> None:
        snapshot = self._ledger.begin(new_epoch(self._clock()), self._info())
        # A Redis that lost its data lost the lease too; this ingest takes it again.
        while not await self._bus.begin(self._owner, snapshot, self._ledger.memory()):
            if not await self._bus.hold(self._feed, self._owner, lease.LEASE_MILLISECONDS):
                raise LeaseLostError
        log.info("epoch begins", feed=self._feed, epoch=snapshot.epoch, symbols=len(snapshot.entries))
        self.begun.set()
        self._statistics.epochs += 1
        self._statistics.seq = snapshot.seq
        self._count(each.closing for each in snapshot.closings)
        for sink in self._sinks:
            sink.begin(self._state())

    def _count(self, closings: Iterable[Closing]) -> None:
        """Counts closings that the bus accepted; a new epoch repeats those of earlier batches."""
        for closing in closings:
            if closing.through > self._counted_to:
                self._counted_to = closing.through
                self._statistics.bars += sum(map(len, closing.bars.values()))
                self._days.add_closing(closing)

    async def _beat(self) -> None:
        if not self._ledger.epoch:
            return
        beat = Beat(feed=self._feed, epoch=self._ledger.epoch, seq=self._ledger.seq, info=self._info())
        if not await self._bus.beat(beat):
            self._ledger.epoch = ""
            self._wake.set()
            return
        self._days.turn(self._time.now())
        self._days.beat(
            asyncio.get_running_loop().time(),
            is_overdue=beat.info.overdue,
            corrections=self._ledger.bars.corrections,
            refused=refusals_of(self._provider),
        )
        for sink in self._sinks:
            sink.beat(beat, self._state)

    def _state(self) -> Snapshot:
        return self._ledger.snapshot(self._info())

    def _calendar(self) -> Calendar:
        return calendar_of(self._feed, always_open=self._provider.always_open, unscheduled=self._unscheduled)

    def _use_calendar(self) -> None:
        self._ledger.bars.use(self._calendar())

    def _info(self) -> FeedInfo:
        provider = self._provider
        return FeedInfo(
            provider=provider.name,
            simulated=provider.simulated,
            delay_seconds=provider.delay_seconds,
            last_update=self._last_update,
            overdue=self._clock() - self._heard_at > provider.silence_seconds,
            always_open=provider.always_open,
            unscheduled=self._unscheduled,
            bars_from=self._ledger.bars.whole_from,
        )


class Spacing:
    """Seconds from one batch of a feed to the next; the caller passes the times, of a monotonic clock.

    A change after a quiet period goes out at once. While changes keep coming, the spacing doubles up to a
    bound, so that workers receive fewer and larger batches.
    """

    def __init__(self, bound_seconds: float) -> None:
        self._bound = bound_seconds
        self._seconds = 0.0
        self._began = self._ended = float("-inf")

    def next_delay(self, now: float) -> float:
        """Returns how long the changes wait that are there now; call it once for each batch."""
        left = self._began + self._seconds - now
        busy = now < self._ended + self._seconds
        self._seconds = min(2 * self._seconds if busy else FIRST_SECONDS, self._bound)
        return max(0.0, left)

    def note_batch(self, began: float, ended: float) -> None:
        """Notes when the publication of a batch began and ended."""
        self._began, self._ended = began, ended


class FeedTime:
    """Unix time at the venue; it never falls.

    A live feed is behind the clock by its plan's delay. A simulated or recorded feed has the time of its
    newest quote, and goes on with the clock; before its first quote the time is 0.
    """

    def __init__(self, provider: QuoteProvider, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._simulated = provider.simulated
        #: How far the feed is behind the clock; unknown before the first quote of a simulated one.
        self._behind = math.inf if provider.simulated else provider.delay_seconds
        self._newest = ""
        self._last = 0.0

    def hear(self, update: Update) -> None:
        """Takes the times of an update's quotes."""
        if not self._simulated:
            return
        newest = max((quote.timestamp for quote in update.quotes if quote.timestamp), default="")
        if newest > self._newest:
            heard = datetime.fromisoformat(newest).timestamp()
            self._newest = newest
            self._behind = self._clock() - heard

    def now(self) -> float:
        """Returns the feed's present time."""
        self._last = max(self._last, self._clock() - self._behind)
        return self._last
