"""Bars of a delayed view hold every trade up to its time, and none after it.

Each minute in which the venue is open has one trade, whose price counts the minutes. So the close of a bar
says which trades it has.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from operator import itemgetter
from random import Random

import pytest
from msgspec.structs import replace

from quotecast.api.bars.queries import opening_of
from quotecast.api.market.services import Services, series_of
from quotecast.api.views.delayed import DelayedMarket, delayed_services, first_unsettled
from quotecast.bus.base import FeedInfo
from quotecast.cache.base import Policy
from quotecast.feed.documents import Documents
from quotecast.market.bars import INTERVALS, LENGTHS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import EXCHANGE, UTC_DAYS, Calendar, Exchange, is_open
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS, LiveInterval, OwnBar
from quotecast.market.sessions import Unscheduled
from support.made.factories import empty_mirrors, mirror_of, services
from support.made.market import INFO, pair, stock
from support.made.memory_cache import MemoryCache

#: A Monday, in whose night New York leaves summer time a day before.
BEGIN = datetime(2026, 11, 2, tzinfo=UTC)
DAYS = 5
DELAY = 900
MINUTE = timedelta(minutes=1)
VENUES: Mapping[Feed, Calendar] = {Feed.STOCKS: EXCHANGE, Feed.CRYPTO: UTC_DAYS}


@cache
def minutes(calendar: Calendar) -> list[datetime]:
    """Returns the minutes in which the venue is open."""
    every = (BEGIN + number * MINUTE for number in range(DAYS * 1440))
    return [minute for minute in every if is_open(calendar, minute)]


def price(minute: datetime) -> float:
    return 1.0 + (minute - BEGIN) / MINUTE


@cache
def openings(calendar: Calendar, interval: Interval) -> list[datetime]:
    """Returns the opening of the bar of each such minute."""
    found = [opening_of_bar(calendar, interval, minute) for minute in minutes(calendar)]
    return [opened for opened in found if opened is not None]


@cache
def bars_until(calendar: Calendar, interval: Interval, end: datetime) -> list[Bar]:
    """Returns the bars of all trades before `end`, which belong to minutes that began before it."""
    traded = minutes(calendar)[: bisect_left(minutes(calendar), end)]
    found = []
    for opened, group in groupby(zip(openings(calendar, interval), traded, strict=False), key=itemgetter(0)):
        prices = [price(minute) for _, minute in group]
        found.append(Bar(bar_time(opened), prices[0], prices[-1], prices[0], prices[-1], float(len(prices))))
    return found


class History:
    """An upstream that knows every trade up to now, also when it is asked for fewer."""

    name = "test"

    def __init__(self, calendar: Calendar, now: datetime) -> None:
        self._calendar = calendar
        self._now = now

    async def bars(self, _symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        found = bars_until(self._calendar, interval, self._now)
        first = bar_time(opening_of_bar(self._calendar, interval, start) or start)
        after = bar_time(end)
        return [each for each in found if first <= each.time < after]


class Stored:
    """A database with every final bar up to now."""

    def __init__(self, calendar: Calendar, now: datetime) -> None:
        self._calendar = calendar
        self._now = now

    async def read(
        self, _series: str, symbols: Sequence[str], interval: LiveInterval, _start: datetime, _end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        until = bar_time(first_unsettled(self._calendar, interval, self._now))
        found = [each for each in bars_until(self._calendar, interval, self._now) if each.time < until]
        bars = [
            OwnBar(opening_of(each), each.close, each.close, each.close, each.close, None, 1)
            for each in found
        ]
        return dict.fromkeys(symbols, bars)


def view_at(feed: Feed, now: datetime, info: FeedInfo = INFO) -> Services:
    """Returns the delayed view of a service whose present is `now`."""
    calendar = VENUES[feed]
    quote = stock("AAPL") if feed is Feed.STOCKS else pair("BTC/USDT")
    mirrors = empty_mirrors() | {feed: mirror_of(feed, [quote], info=info)}
    live = services(
        empty_mirrors(),
        history={feed: {"test": History(calendar, now)}},
        stored_bars=Stored(calendar, now),
        clock=now.timestamp,
    )
    return delayed_services(live, DelayedMarket(mirrors, Documents(), DELAY))


def moments(feed: Feed, count: int) -> list[datetime]:
    """Returns times around openings, closings and the edges of bars, and others at random."""
    random = Random(feed)
    edges = [BEGIN + timedelta(days=day, hours=hour) for day in (1, DAYS - 1) for hour in (0, 14, 15, 21)]
    near = [
        edge + timedelta(seconds=random.choice([-1, 0, 1, 59, 60, 899, 900, 901, 1799])) for edge in edges
    ]
    rest = [BEGIN + timedelta(seconds=random.randrange(DELAY, DAYS * 86_400)) for _ in range(count)]
    return [each for each in near + rest if each < BEGIN + timedelta(days=DAYS)]


@pytest.mark.slow
@pytest.mark.parametrize("feed", VENUES)
def test_bars_of_an_upstream_end_with_the_delayed_time(feed: Feed) -> None:
    """They are those of all whole minutes before it: neither younger trades nor fewer."""
    calendar, symbol = VENUES[feed], "AAPL" if feed is Feed.STOCKS else "BTC/USDT"

    async def check() -> None:
        for now in moments(feed, 6):
            history = view_at(feed, now).history[feed]["test"]
            late = now - timedelta(seconds=DELAY)
            minute = late.replace(second=0, microsecond=0)
            for interval in INTERVALS:
                found = await history.bars(symbol, interval, BEGIN, now)
                assert found == bars_until(calendar, interval, minute), (now, interval)

    asyncio.run(check())


@pytest.mark.parametrize("feed", VENUES)
def test_bars_of_the_past_are_those_of_the_upstream(feed: Feed) -> None:
    """A window that ends before the market's time has all of its last bar."""
    calendar, symbol = VENUES[feed], "AAPL" if feed is Feed.STOCKS else "BTC/USDT"
    end, now = BEGIN + timedelta(days=2), BEGIN + timedelta(days=4, hours=15)
    upstream, history = History(calendar, now), view_at(feed, now).history[feed]["test"]
    minute = now - timedelta(seconds=DELAY)

    async def check() -> None:
        for interval in INTERVALS:
            found = await history.bars(symbol, interval, BEGIN, end)
            if interval in {"W", "M"}:
                # The bar in progress opened before the end.
                assert found == bars_until(calendar, interval, minute)
            else:
                assert found == await upstream.bars(symbol, interval, BEGIN, end), interval

    asyncio.run(check())


def test_bars_of_a_provider_that_is_late_itself_are_later() -> None:
    """Live clients see a trade after the provider's delay, delayed clients after both delays."""
    now, own = BEGIN + timedelta(days=2, hours=3, seconds=10), 600
    info = replace(INFO, delay_seconds=own + DELAY)
    view = view_at(Feed.CRYPTO, now, info)
    late = now - timedelta(seconds=own + DELAY)

    async def check() -> None:
        found = await view.history[Feed.CRYPTO]["test"].bars("BTC/USDT", "1h", BEGIN, now)
        assert found == bars_until(UTC_DAYS, "1h", late.replace(second=0))
        series = series_of(view.mirrors[Feed.CRYPTO])
        stored = await view.stored_bars.read(series, ["X"], "1m", BEGIN, now)
        assert stored["X"][-1].close == price(late.replace(second=0) - MINUTE)

    asyncio.run(check())


def test_another_delay_has_cached_answers_of_its_own() -> None:
    """After a restart with a longer delay, those of the shorter one are too young."""
    cache = MemoryCache(lambda: 0.0)
    live = services(empty_mirrors(), cache=cache)

    async def read(seconds: int) -> bytes:
        async def fetch() -> bytes:
            return str(seconds).encode()

        view = delayed_services(live, DelayedMarket(empty_mirrors(), Documents(), seconds))
        return (await view.cache.read("key", Policy(60, 60), fetch)).body

    async def check() -> None:
        assert [await read(300), await read(900), await read(300)] == [b"300", b"900", b"300"]

    asyncio.run(check())


@pytest.mark.parametrize("feed", VENUES)
def test_stored_bars_are_those_that_were_final_at_the_delayed_time(feed: Feed) -> None:
    """A bar is final two seconds after its end: until then it may get quotes that came late."""
    calendar = VENUES[feed]

    async def check() -> None:
        for now in moments(feed, 6):
            view = view_at(feed, now)
            late = now - timedelta(seconds=DELAY)
            for interval in LIVE_INTERVALS:
                read = await view.stored_bars.read(feed, ["X"], interval, BEGIN, now)
                until = bar_time(first_unsettled(calendar, interval, late - timedelta(seconds=2)))
                expected = [each for each in bars_until(calendar, interval, late) if each.time < until]
                assert [bar.close for bar in read["X"]] == [each.close for each in expected], (now, interval)
                assert all(bar.close <= price(late) for bar in read["X"])

    asyncio.run(check())


def test_bars_of_no_known_series_are_none() -> None:
    view = view_at(Feed.STOCKS, BEGIN + timedelta(days=2))
    read = view.stored_bars.read("another", ["X"], "1m", BEGIN, BEGIN + timedelta(days=1))
    assert asyncio.run(read) == {}


def test_a_day_goes_on_after_a_halt() -> None:
    """During a halt, which moves the close before now, the bar of the day may still change."""
    day = BEGIN + timedelta(days=1)
    opened, halted = day + timedelta(hours=14, minutes=30), day + timedelta(hours=16)
    halt = Exchange(
        Unscheduled(
            date=day.date(), is_open=False, open=opened, close=halted, next_open=opened, next_close=halted
        )
    )
    during = halted + timedelta(minutes=10)
    assert not is_open(halt, during)
    assert first_unsettled(halt, "D", during) == opening_of_bar(EXCHANGE, "D", opened)


class Auction(History):
    """An upstream whose days close with an auction a few minutes after the session."""

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        found = await super().bars(symbol, interval, start, end)
        return found if interval in LENGTHS else [replace(each, close=7777.0) for each in found]


@pytest.mark.parametrize("interval", ["D", "W", "M"])
def test_a_closing_auction_is_not_early(interval: Interval) -> None:
    """At the time of the close the auction is yet to come; the bar of the day has it later."""
    closed = BEGIN + timedelta(hours=21)

    def close_at(late: datetime) -> float:
        now = late + timedelta(seconds=DELAY)
        live = services(
            empty_mirrors(),
            history={Feed.STOCKS: {"test": Auction(EXCHANGE, now)}},
            clock=now.timestamp,
        )
        mirrors = empty_mirrors() | {Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("AAPL")], info=INFO)}
        view = delayed_services(live, DelayedMarket(mirrors, Documents(), DELAY))
        found = view.history[Feed.STOCKS]["test"].bars("AAPL", interval, BEGIN, now)
        return asyncio.run(found)[-1].close

    assert close_at(closed) == close_at(closed + timedelta(minutes=59)) == price(closed - MINUTE)
    assert close_at(closed + timedelta(minutes=61)) == 7777.0


def test_a_simulated_market_has_a_time_of_its_own() -> None:
    """A simulation may be far from the present: its newest quote says what time it is."""
    now = BEGIN + timedelta(days=3)
    late = BEGIN + timedelta(days=1, hours=15, seconds=30)
    quote = replace(stock("AAPL"), timestamp=late.isoformat().replace("+00:00", "Z"))
    info = replace(INFO, simulated=True)
    mirrors = empty_mirrors() | {Feed.STOCKS: mirror_of(Feed.STOCKS, [quote], info=info)}
    live = services(
        empty_mirrors(), history={Feed.STOCKS: {"test": History(EXCHANGE, now)}}, clock=now.timestamp
    )
    view = delayed_services(live, DelayedMarket(mirrors, Documents(), DELAY))
    found = asyncio.run(view.history[Feed.STOCKS]["test"].bars("AAPL", "5m", BEGIN, now))
    assert found[-1].close == price(late.replace(second=0) - MINUTE)
