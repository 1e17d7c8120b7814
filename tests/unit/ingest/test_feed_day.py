"""What an ingest counts of a feed's days while it leads."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from quotecast.errors import BusError
from quotecast.ingest.feed_day import SAMPLED, DayCounter
from quotecast.ingest.publish import FeedPublisher, IngestStatistics
from quotecast.ingest.sources import Failover
from quotecast.market.codec import iso_utc
from quotecast.market.feed_days import DayFigures
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, OwnBar
from support.made.market import pair
from support.made.memory_bus import MemoryBus
from support.runs.waits import until
from support.stages.following import ScriptedProvider, running

FRIDAY = date(2026, 11, 20)
#: 15:00 of that Friday in UTC.
NOON = datetime(2026, 11, 20, 15, tzinfo=UTC).timestamp()
NOTHING: dict[str, int] = {}


def counter(feed: Feed = Feed.CRYPTO, now: float = NOON) -> tuple[DayCounter, dict[date, DayFigures]]:
    days: dict[date, DayFigures] = {}
    made = DayCounter(feed, days, {"absurd": 5})
    made.turn(now)
    return made, days


def test_the_day_is_the_date_at_the_venue() -> None:
    """Half past three in UTC is the evening before in New York, and morning in Istanbul."""
    night = datetime(2026, 11, 21, 3, 30, tzinfo=UTC).timestamp()
    found = {feed: [*counter(feed, night)[1]] for feed in Feed}
    assert found == {
        Feed.STOCKS: [FRIDAY],
        Feed.CRYPTO: [date(2026, 11, 21)],
        Feed.DOVIZ: [date(2026, 11, 21)],
    }


def test_an_outage_over_midnight_counts_in_both_days() -> None:
    """It began ten seconds before midnight, and ends half a minute after it."""
    made, days = counter(now=NOON + 9 * 3600 - 10)
    made.beat(100.0, is_overdue=False, corrections=0, refused=NOTHING)
    made.turn(NOON + 9 * 3600 + 30)
    made.beat(140.0, is_overdue=False, corrections=0, refused=NOTHING)
    assert [(each.led_seconds, each.stale_seconds) for each in days.values()] == [(10.0, 7.0), (30.0, 30.0)]


def test_days_that_are_over_are_forgotten() -> None:
    """With a database or without; a recording that starts over counts in its own day."""
    made, days = counter()
    for number in range(1, 5):
        made.turn(NOON + number * 86_400)
    assert [*days] == [date(2026, 11, 23), date(2026, 11, 24)]
    DayCounter(Feed.CRYPTO, days, NOTHING).turn(NOON)
    assert [*days] == [date(2026, 11, 24), FRIDAY]


def test_a_poll_of_many_symbols_has_all_of_them_sampled() -> None:
    made, _ = counter()
    known: dict[str, Any] = {
        f"S{number}": replace(pair(), timestamp=iso_utc(NOON - 9)) for number in range(64)
    }
    quotes = [replace(pair(key), timestamp=iso_utc(NOON - 2)) for key in known]
    read: list[str] = []

    def before(key: str) -> Any:
        read.append(key)
        return known[key]

    for _ in range(SAMPLED):
        made.sample(quotes, before, NOON)
    assert (len(read), {*read}) == (len(known), {*known})


def test_a_bar_counts_in_the_day_of_its_minute() -> None:
    """The last minute of a day becomes final in the next one."""
    made, days = counter(now=NOON + 9 * 3600 + 3)
    closing = Closing(int(NOON + 9 * 3600), {"1m": {"BTC/USDT": OwnBar(0, 1, 1, 1, 1, None, 1)}}, {})
    made.today.updates += 2
    made.add_closing(closing)
    assert {day: (each.updates, each.minutes) for day, each in days.items()} == {
        FRIDAY: (0, 1),
        date(2026, 11, 21): (2, 0),
    }


def test_only_a_new_timestamp_has_an_age_and_one_quote_in_seventeen_is_read() -> None:
    """Whatever the sizes of updates are."""
    made, days = counter()
    known: dict[str, Any] = {"BTC/USDT": replace(pair(), timestamp=iso_utc(NOON - 5))}
    quotes = [replace(pair(), timestamp=iso_utc(NOON - 2))] * 3
    for _ in range(SAMPLED * 4):
        made.sample(quotes, known.get, NOON)
    assert sum(days[FRIDAY].ages) == 3 * 4
    assert 2000 <= (days[FRIDAY].age(0.5) or 0) <= 2200
    known["BTC/USDT"] = quotes[0]
    made.sample(quotes * SAMPLED, known.get, NOON)
    made.sample([replace(pair("ETH/USDT"), timestamp=iso_utc(NOON))] * SAMPLED, known.get, NOON)
    assert sum(days[FRIDAY].ages) == 3 * 4


def test_stale_seconds_are_those_of_a_silent_upstream_and_of_a_bus_that_takes_no_beat() -> None:
    """Workers call the feed stale three seconds after its last message."""
    made, days = counter()
    for now, is_overdue in ((10.0, False), (11.0, False), (12.0, True), (13.0, True), (23.0, False)):
        made.beat(now, is_overdue=is_overdue, corrections=0, refused=NOTHING)
    assert (days[FRIDAY].led_seconds, days[FRIDAY].stale_seconds) == (13.0, 2.0 + 7.0)


def test_refusals_and_corrections_count_by_how_much_they_rise() -> None:
    """Refusals of an earlier term are in its own figures; a provider that starts over loses none."""
    made, days = counter()
    for number, refused in enumerate(
        ({"absurd": 5}, {"absurd": 7}, {"absurd": 1}, {"absurd": 2, "halted": 1})
    ):
        made.beat(float(number), is_overdue=False, corrections=number, refused=refused)
    assert (days[FRIDAY].refused, days[FRIDAY].corrections) == ({"absurd": 3, "halted": 1}, 3)


class Crypto(ScriptedProvider):
    feed = Feed.CRYPTO
    silence_seconds = 1e6


class UncertainBus(MemoryBus):
    """A bus that may fail before or after it takes a message."""

    is_away = loses_reply = False

    async def _fail(self, accepted: Callable[[], Awaitable[bool]]) -> bool:
        if self.is_away:
            raise BusError("away")
        found = await accepted()
        if self.loses_reply:
            raise BusError("no reply")
        return found

    async def begin(self, *asked: Any) -> bool:
        return await self._fail(partial(super().begin, *asked))

    async def publish(self, *asked: Any) -> bool:
        return await self._fail(partial(super().publish, *asked))


class Minutes:
    """A feed with an update in each minute, on a bus that outlasts its publishers."""

    def __init__(self) -> None:
        self.bus, self.provider, self.statistics = UncertainBus(lambda: 0.0), Crypto(), IngestStatistics()
        self.now = NOON

    async def lead(self) -> None:
        await self.bus.hold(Feed.CRYPTO, "me", 600_000)
        made = FeedPublisher(
            self.provider, self.bus, "me", clock=lambda: self.now, statistics=self.statistics
        )
        await made.run()

    async def hear(self, now: float) -> None:
        self.now = now
        self.provider.send(replace(pair(price=now), timestamp=iso_utc(now)))
        await until(lambda: self.statistics.heard_at == now)

    async def covered(self, expected: int) -> None:
        await until(lambda: self.statistics.days[FRIDAY].minutes >= expected)
        await asyncio.sleep(60)
        assert self.statistics.days[FRIDAY].minutes == self.statistics.bars == expected


@pytest.mark.parametrize("failure", ["is_away", "loses_reply"])
async def test_minutes_of_an_outage_of_the_bus_count_once(
    failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new epoch has them; the bus may have taken some of them before."""
    monkeypatch.setattr("quotecast.ingest.publish.RETRY_SECONDS", 0.01)
    feed = Minutes()
    async with running(feed.lead()):
        await feed.hear(NOON + 5)
        await until(lambda: feed.statistics.epochs == 1)
        await feed.hear(NOON + 65)
        await feed.covered(1)
        setattr(feed.bus, failure, True)
        for minute in range(2, 5):
            await feed.hear(NOON + 60 * minute + 5)
            await until(lambda: feed.statistics.failures)
        setattr(feed.bus, failure, False)
        await feed.covered(4)


async def test_a_term_that_starts_after_a_minutes_end_counts_that_minute_and_no_earlier_one() -> None:
    feed = Minutes()
    async with running(feed.lead()):
        await feed.hear(NOON + 5)
        await until(lambda: feed.statistics.epochs == 1)
        await feed.hear(NOON + 65)
        await feed.covered(1)
    feed.now = NOON + 123
    async with running(feed.lead()):
        await until(lambda: feed.statistics.epochs == 2)
        await feed.covered(2)


async def test_a_publisher_counts_its_terms_in_one_day() -> None:
    provider, statistics, bus = Crypto(), IngestStatistics(), MemoryBus(lambda: 0.0)
    await bus.hold(Feed.CRYPTO, "me", 600_000)
    for term in (1, 2):
        async with running(
            FeedPublisher(provider, bus, "me", clock=lambda: NOON, statistics=statistics).run()
        ):
            provider.send(replace(pair(price=100.0 + term), timestamp=iso_utc(NOON - term)))
            await until(lambda: statistics.epochs == term)  # noqa: B023 - awaited in the loop
            provider.send(replace(pair(price=200.0 + term), timestamp=iso_utc(NOON - term)))
            await until(lambda: FRIDAY in statistics.days and statistics.days[FRIDAY].updates == term)  # noqa: B023
    assert [*statistics.days] == [FRIDAY]


def test_a_failover_has_the_refusals_of_all_its_upstreams() -> None:
    class Counting(ScriptedProvider):
        def statistics(self) -> dict[str, int]:
            return {"absurd": 2}

    assert Failover([Counting(), Counting(), ScriptedProvider()]).statistics() == {"absurd": 4}
