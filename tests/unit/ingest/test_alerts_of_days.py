"""Alerts of generated days: each crossing becomes one event, whatever dies, and no other does.

The publisher, its ledger, the bus and the writer are the real ones; an oracle knows every update.
"""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any, Final, Literal

import pytest
from msgspec.structs import replace

from quotecast.alerts.writer import CrossingWriter, FeedAlerts
from quotecast.bus.base import NO_MEMORY, NO_PARTS, Batch, Memory, Snapshot, StoredQuote
from quotecast.errors import BusError
from quotecast.ingest.lease import LeaseLostError
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.crossings import Crossing, Measure
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Parts
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.made.market import doviz, pair, stock
from support.made.memory_bus import MemoryBus
from support.stages.alert_store import AlertRow, MemoryLevels, MemoryStore
from support.stages.following import ScriptedProvider
from unit.ingest.alert_oracle import AlertOracle

FAST: Final = 4_000
TICKS: Final = 100_000
#: Six in the morning in New York on a Friday.
MORNING: Final = 1_763_722_800.0
MEASURES: Final[tuple[Measure, ...]] = ("price", "5m", "15m", "1h", "day")
SYMBOLS: Final = {
    Feed.STOCKS: ("AAPL", "MSFT", "KO"),
    Feed.CRYPTO: ("BTC/USDT", "ETH/USDT"),
    Feed.DOVIZ: ("USD", "gram-altin"),
}
FOREVER_MS: Final = 10**12


class FaultyBus(MemoryBus):
    """A bus whose next write fails, before or after it has its effect."""

    fails: Literal["", "before", "after"] = ""
    took: bool

    async def begin(self, owner: str, snapshot: Snapshot, memory: Memory = NO_MEMORY) -> bool:
        self._fail("before")
        self.took = await super().begin(owner, snapshot, memory)
        self._fail("after")
        return self.took

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
        crossings: Sequence[Crossing] = (),
    ) -> bool:
        self._fail("before")
        self.took = await super().publish(owner, batch, entries, parts, crossings)
        self._fail("after")
        return self.took

    def lose(self, feed: Feed) -> None:
        """Loses the data of a feed, as a Redis without persistence does when it restarts."""
        for stored in (self._leases, self._states, self._closings, self._crossings):
            stored.pop(feed, None)

    def _fail(self, when: str) -> None:
        if self.fails == when:
            self.fails = ""
            raise BusError("away")


class Provider(ScriptedProvider):
    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.feed = feed


class Market:
    """Three feeds with their leaders and writers, their alerts, and an oracle for each."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = MORNING
        self.bus = FaultyBus(lambda: self.now)
        self.store = MemoryStore()
        self.levels = MemoryLevels(self.store)
        self.oracles = {feed: AlertOracle(feed) for feed in Feed}
        self.providers = {feed: Provider(feed) for feed in Feed}
        self.prices = {key: 100.0 for keys in SYMBOLS.values() for key in keys}
        self.leaders: dict[Feed, FeedPublisher] = {}
        self.writers: dict[Feed, list[CrossingWriter]] = {feed: [] for feed in Feed}
        self.owners = 0
        self.created = 0

    async def start(self) -> None:
        for feed in Feed:
            await self.lead(feed)
            self.writers[feed] = [self.writer(feed), self.writer(feed)]
        for _ in range(60):
            self.create()

    def writer(self, feed: Feed) -> CrossingWriter:
        return CrossingWriter(feed, self.bus, self.store)  # type: ignore[arg-type]

    async def lead(self, feed: Feed) -> None:
        """Makes a new leader, which takes the lease."""
        self.owners += 1
        owner = str(self.owners)
        self.bus._leases.pop(feed, None)
        assert await self.bus.hold(feed, owner, FOREVER_MS)
        alerts = FeedAlerts(self.levels, self.writer(feed))  # type: ignore[arg-type]
        leader = FeedPublisher(self.providers[feed], self.bus, owner, clock=lambda: self.now, alerts=alerts)
        await leader._inherit()
        leader._use_calendar()
        leader._take(Update())  # the provider is there
        self.leaders[feed] = leader

    def create(self) -> None:
        self.created += 1
        self.now += 0.001
        feed = self.random.choice([*Feed])
        key, measure = self.random.choice(SYMBOLS[feed]), self.random.choice(MEASURES)
        threshold = self.random.randrange(-6, 7) / 2
        alert = AlertRow(
            str(self.created),
            feed,
            key,
            measure,
            self.random.choice(("up", "down")),
            self.prices[key] + threshold if measure == "price" else threshold,
            self.now,
            repeats=self.random.random() < 0.3,
        )
        self.store.alerts[alert.id] = alert
        self.levels.read()

    def tick(self, feed: Feed) -> None:
        quotes = [self.quote(feed) for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        if self.random.random() < 0.02:
            return self.replace_all(feed, quotes)
        removed = [self.random.choice(SYMBOLS[feed])] if self.random.random() < 0.02 else []
        self.leaders[feed]._take(Update(quotes, removed=removed))
        for quote in quotes:
            self.oracles[feed].update(quote, self.now, self.store.alerts.values(), crosses=True)
        self.oracles[feed].remove(removed)
        return None

    def replace_all(self, feed: Feed, quotes: list[Quote]) -> None:
        """The feed's provider changes, or starts over with its whole state."""
        changes = self.random.random() < 0.5
        if changes:
            self.providers[feed].name = self.random.choice(("a", "b", "c", "d")) + str(self.now)
        self.leaders[feed]._take(Update(quotes, complete=True))
        oracle, keys = self.oracles[feed], {quote.key for quote in quotes}
        for quote in quotes:
            oracle.update(quote, self.now, self.store.alerts.values(), crosses=not changes)
        oracle.remove(oracle.keys() - keys)

    def quote(self, feed: Feed) -> Quote:
        key = self.random.choice(SYMBOLS[feed])
        jump = 40 if self.random.random() < 0.02 else 4
        price = self.prices[key] + self.random.randrange(-jump, jump + 1) / 4
        self.prices[key] = price = min(max(price, 60.0), 140.0)
        make: Any = {Feed.STOCKS: stock, Feed.CRYPTO: pair, Feed.DOVIZ: doviz}[feed]
        lag = self.random.choice((0.0, 0.0, 0.0, 0.0, 1.5, 70.0, 650.0, -30.0))
        day = None if self.random.random() < 0.05 else round((price - 100) / 4, 2)
        at = f"{datetime.fromtimestamp(self.now - lag, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:23] + "Z"
        quote: Quote = replace(make(key, price), change_percent=day, timestamp=at)
        return quote

    async def publish(self, feed: Feed) -> None:
        """One turn of the publisher, whose write may fail before or after its effect."""
        leader, self.bus.took = self.leaders[feed], False
        try:
            await leader._publish()
            if self.random.random() < 0.3:
                await leader._beat()
        except BusError:
            leader._ledger.epoch = ""
        if self.bus.took:
            self.oracles[feed].commit()

    async def publish_all(self, feed: Feed) -> None:
        while self.leaders[feed]._ledger.waiting or not self.leaders[feed]._ledger.epoch:
            await self.publish(feed)
        await self.leaders[feed]._beat()
        await self.publish(feed)

    def is_inherited(self, feed: Feed) -> bool:
        """Returns whether the bus has all bars in progress: a new epoch drops those of removed symbols."""
        state = self.bus._states.get(feed)
        return state is not None and self.oracles[feed].symbols() <= state.entries.keys()

    async def take_over(self, feed: Feed) -> None:
        """The leader dies, or freezes and wakes up when another has its lease."""
        old, state = self.leaders[feed], self.bus._states.get(feed)
        # The name of the provider is on the bus within a second of its change.
        if state and state.info.provider != self.providers[feed].name:
            await self.publish_all(feed)
        if not self.is_inherited(feed):
            return
        await self.lead(feed)
        self.oracles[feed].lose()
        if self.random.random() < 0.5:
            with contextlib.suppress(LeaseLostError):
                await old._publish()

    async def write(self, feed: Feed) -> None:
        number = self.random.randrange(2)
        if self.random.random() < 0.05:
            self.writers[feed][number] = self.writer(feed)
        self.store.fails = self.random.choice(("", "", "", "", "", "", "before", "after"))
        await self.writers[feed][number].step()
        self.store.fails = ""

    async def step(self) -> None:
        self.now += self.random.choice((0.01, 0.05, 0.3, 1, 2, 3, 7))
        if self.random.random() < 0.01:
            self.now += self.random.choice((70, 400, 4000))
        feed, chance = self.random.choice([*Feed]), self.random.random()
        self.tick(feed)
        if chance < 0.5:
            self.bus.fails = self.random.choice(("", "", "", "", "", "", "", "before", "after"))
            await self.publish(feed)
            self.bus.fails = ""
        elif chance < 0.52:
            await self.take_over(feed)
        elif chance < 0.53:
            self.bus.lose(feed)
            await self.publish_all(feed)
        elif chance < 0.8:
            await self.write(feed)
        elif chance < 0.85:
            self.rearm()
        if self.random.random() < 0.02:
            self.create()
        if len(self.store.alerts) > 150:
            await self.delete_old()

    def rearm(self) -> None:
        """A user starts an alert again that has happened."""
        if inactive := [each for each in self.store.alerts.values() if not each.active]:
            alert = self.random.choice(inactive)
            self.now += 0.001
            alert.active, alert.is_spent, alert.armed_at = True, False, self.now
            self.levels.read()

    async def delete_old(self) -> None:
        await self.drain()
        for key in [*self.store.alerts][:60]:
            del self.store.alerts[key]
        self.levels.read()

    async def drain(self) -> None:
        for feed in Feed:
            await self.publish_all(feed)
            while (await self.bus.last_crossing(feed)) > self.store.written.get(feed, (0, 0)):
                await self.writers[feed][0].step()

    async def check(self) -> int:
        """Fails unless the events are those of the oracle; returns their number."""
        await self.drain()
        expected = [event for oracle in self.oracles.values() for event in oracle.events]
        assert sorted(self.store.events) == sorted(expected)
        return len(expected)


async def check_days(seed: int, ticks: int) -> int:
    market = Market(seed)
    await market.start()
    for _ in range(ticks):
        await market.step()
    return await market.check()


async def test_each_crossing_of_generated_ticks_becomes_one_event() -> None:
    assert await check_days(1, FAST) > FAST / 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
async def test_each_crossing_of_a_hundred_thousand_ticks_becomes_one_event(seed: int) -> None:
    assert await check_days(seed, TICKS // 10) > TICKS / 500
