"""Bars of the simulated market, through its provider."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quotecast.errors import SymbolNotFound
from quotecast.market.bars import INTERVALS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS, UTC_DAYS, Calendar
from quotecast.market.feeds import Feed
from quotecast.market.reference import pairs, stocks
from quotecast.market.sessions import NEW_YORK, session_at, trading_day
from quotecast.simulation.market import history as simulator_bars
from quotecast.simulation.market.history import SimulatorHistory
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.quoters import Quoter
from quotecast.simulation.market.venues import hours_of, pair_quoters, stock_quoters
from support.runs.deadlines import scaled

SEED: Final = 7
DAY: Final = timedelta(days=1)


class Venue:
    """A feed with fixed trading hours, the history and the quoters of its first instruments."""

    def __init__(self, feed: Feed, calendar: Calendar, *, always_open: bool) -> None:
        self.calendar = calendar
        self.history = SimulatorHistory(feed, seed=SEED, always_open=always_open)
        hours = hours_of(feed, always_open=always_open)
        self.quoters: dict[str, Quoter]
        if feed is Feed.STOCKS:
            self.quoters = _quoters_by_key(stock_quoters(stocks()[:3], SEED, hours))
        else:
            self.quoters = _quoters_by_key(pair_quoters(pairs()[:3], SEED, hours))

    def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        return asyncio.run(self.history.bars(symbol, interval, start, end))

    def bar_start(self, interval: Interval, time: str) -> datetime:
        opened = opening_of_bar(self.calendar, interval, datetime.fromisoformat(time))
        assert opened is not None
        return opened


def _quoters_by_key(quoters: list[Quoter]) -> dict[str, Quoter]:
    found = {}
    for quoter in quoters:
        quote = quoter.next_quote(0)
        assert quote is not None
        found[quote.key] = quoter
    return found


@cache
def venue(name: str) -> Venue:
    match name:
        case "stocks, exchange":
            return Venue(Feed.STOCKS, EXCHANGE, always_open=False)
        case "stocks, always":
            return Venue(Feed.STOCKS, NEW_YORK_DAYS, always_open=True)
        case _:
            return Venue(Feed.CRYPTO, UTC_DAYS, always_open=True)


VENUES: Final = ("stocks, exchange", "stocks, always", "crypto")
#: A coarse interval, a finer one that divides it, and the maximum days to compare.
PAIRS: Final[list[tuple[Interval, Interval, int]]] = [
    ("5m", "1m", 2),
    ("15m", "5m", 4),
    ("30m", "1m", 2),
    ("1h", "15m", 5),
    ("4h", "30m", 8),
    ("4h", "1h", 8),
    ("D", "4h", 30),
    ("D", "1h", 10),
    ("W", "D", 90),
    ("M", "D", 120),
]

moments = st.datetimes(datetime(2016, 1, 1), datetime(2033, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
venues = st.sampled_from(VENUES)


def new_york(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK)


def merge_bars(time: str, parts: Sequence[Bar]) -> Bar:
    return Bar(
        time,
        parts[0].open,
        max(bar.high for bar in parts),
        min(bar.low for bar in parts),
        parts[-1].close,
        sum(bar.volume for bar in parts),
    )


@given(venues, st.sampled_from(PAIRS), moments, st.data())
def test_coarse_bars_are_the_finer_ones_together(
    name: str, intervals: tuple[Interval, Interval, int], end: datetime, data: st.DataObject
) -> None:
    """A coarse bar equals its finer bars merged, over any range and in progress; volumes up to rounding."""
    coarse, fine, days = intervals
    market = venue(name)
    symbol = data.draw(st.sampled_from(sorted(market.quoters)))
    start = end - data.draw(st.floats(0.01, 1)) * days * DAY
    wanted = market.bars(symbol, coarse, start, end)
    # The coarse bar that contains the start begins before it.
    begin = min(start, datetime.fromisoformat(wanted[0].time)) if wanted else start
    given_ = market.bars(symbol, fine, begin, end)
    grouped = groupby(given_, lambda bar: market.bar_start(coarse, moment_in_bar(market, fine, bar)))
    made = [merge_bars(bar_time(opened), list(parts)) for opened, parts in grouped]
    assert [prices(bar) for bar in made] == [prices(bar) for bar in wanted]
    assert [bar.volume for bar in made] == pytest.approx([bar.volume for bar in wanted])


def moment_in_bar(market: Venue, fine: Interval, bar: Bar) -> str:
    """Returns a moment within a fine bar: its time, or the session's opening for a daily bar."""
    if fine != "D":
        return bar.time
    day = datetime.fromisoformat(bar.time).astimezone(NEW_YORK if market.calendar is not UTC_DAYS else UTC)
    return bar_time(market.calendar.first_from(day.date()).open)


def prices(bar: Bar) -> tuple[str, float, float, float, float]:
    return bar.time, bar.open, bar.high, bar.low, bar.close


@given(venues, st.sampled_from(INTERVALS), moments, st.data())
def test_the_last_bar_closes_with_the_quotes_price(
    name: str, interval: Interval, moment: datetime, data: st.DataObject
) -> None:
    """The last bar closes with the quote's price, at the time of the last trade."""
    market = venue(name)
    symbol = data.draw(st.sampled_from(sorted(market.quoters)))
    quote = market.quoters[symbol].next_quote(milliseconds(moment))
    # The quoter returns None for an unchanged quote.
    assume(quote is not None)
    assert quote is not None
    assert quote.timestamp is not None
    traded = datetime.fromisoformat(quote.timestamp)
    (*_, last) = market.bars(symbol, interval, traded, traded + timedelta(milliseconds=1))
    assert last.close == quote.price
    assert last.low <= quote.price <= last.high
    assert last.time == bar_time(market.bar_start(interval, quote.timestamp))


@given(venues, st.sampled_from(INTERVALS), moments, st.floats(0, 2))
def test_bars_lie_in_the_window_and_on_the_calendars_grid(
    name: str, interval: Interval, end: datetime, days: float
) -> None:
    """Bars ascend, the first contains the start or follows it, and the last opens before the end."""
    market = venue(name)
    start = end - days * DAY
    found = [bar.time for bar in market.bars(min(market.quoters), interval, start, end)]
    assert found == sorted(set(found))
    assert all(time < bar_time(end + timedelta(seconds=1)) for time in found)
    opened = opening_of_bar(market.calendar, interval, start)
    if opened is not None and end - start > timedelta(seconds=1):
        assert found[0] == bar_time(opened)
    if interval not in ("D", "W", "M"):
        assert all(market.bar_start(interval, time) == datetime.fromisoformat(time) for time in found)


@pytest.mark.parametrize(
    ("first", "last", "hours"),
    [
        ("2026-11-25", "2026-11-27", [7, 0, 4]),  # before Thanksgiving, the day itself, the half day after
        ("2026-03-06", "2026-03-09", [7, 0, 0, 7]),  # clocks spring forward on Sunday
        ("2026-10-30", "2026-11-02", [7, 0, 0, 7]),  # clocks fall back on Sunday
        ("2026-12-31", "2027-01-04", [7, 0, 0, 0, 7]),  # New Year's Day is a Friday
        ("2028-02-28", "2028-03-01", [7, 7, 7]),  # a leap day
        ("2026-12-23", "2026-12-28", [7, 4, 0, 0, 0, 7]),  # Christmas Eve ends early
    ],
)
def test_sessions_have_the_bars_of_their_hours(first: str, last: str, hours: list[int]) -> None:
    """Sessions have hourly bars from 09:30, half days until 13:00, and other days none."""
    start, end = new_york(first), new_york(last) + timedelta(hours=23)
    found = venue("stocks, exchange").bars("AAPL", "1h", start, end)
    days = [datetime.fromisoformat(bar.time).astimezone(NEW_YORK).date() for bar in found]
    every = [date.fromisoformat(first) + number * DAY for number in range(len(hours))]
    assert [days.count(day) for day in every] == hours
    daily = venue("stocks, exchange").bars("AAPL", "D", start, end)
    assert [bar.time for bar in daily] == [
        bar_time(datetime(day.year, day.month, day.day, tzinfo=NEW_YORK)) for day in every if trading_day(day)
    ]


@given(moments, st.sampled_from(["1m", "15m", "1h"]))
def test_stocks_have_no_bars_while_the_exchange_is_closed(end: datetime, interval: Interval) -> None:
    """Stocks have no bars at night, on weekends and on holidays."""
    found = venue("stocks, exchange").bars("AAPL", interval, end - DAY, end)
    assert all(session_at(datetime.fromisoformat(bar.time)) == "regular" for bar in found)


@pytest.mark.parametrize(
    ("day", "count"), [("2026-03-08", 23), ("2026-11-01", 25), ("2028-02-29", 24), ("2026-11-26", 24)]
)
def test_a_market_that_never_closes_has_a_bar_for_each_hour(day: str, count: int) -> None:
    """A market that never closes has hourly bars on holidays and on days of a clock change."""
    # A calendar day in New York, which a clock change makes 23 or 25 hours long.
    found = venue("stocks, always").bars("AAPL", "1h", new_york(day), new_york(day) + DAY)
    assert len(found) == count
    utc = datetime.fromisoformat(day).replace(tzinfo=UTC)
    assert len(venue("crypto").bars("BTC/USDT", "1h", utc, utc + DAY)) == 24


def test_nothing_traded_before_2010() -> None:
    bars = venue("crypto").bars("BTC/USDT", "M", new_york("1943-01-01"), new_york("2010-03-15"))
    assert [bar.time for bar in bars] == [f"2010-0{month}-01T00:00:00Z" for month in (1, 2, 3)]
    assert venue("crypto").bars("BTC/USDT", "D", new_york("1943-01-01"), new_york("1944-01-01")) == []


async def test_an_unknown_symbol_is_not_found() -> None:
    history = SimulatorHistory(Feed.STOCKS, seed=SEED, always_open=True)
    with pytest.raises(SymbolNotFound):
        await history.bars("BTC/USDT", "D", new_york("2026-11-01"), new_york("2026-11-20"))


async def test_bars_are_computed_one_request_at_a_time_in_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread computes one request at a time, and cancelling one does not stop the others."""
    running, going_on = threading.Semaphore(1), threading.Event()
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(*_: object) -> list[Bar]:
        assert running.acquire(blocking=False)
        loop.call_soon_threadsafe(started.set)
        assert going_on.wait(timeout=scaled(10))
        running.release()
        return []

    monkeypatch.setattr(simulator_bars, "_bars", slow)
    history = SimulatorHistory(Feed.STOCKS, seed=SEED, always_open=True)
    window = (new_york("2026-11-19"), new_york("2026-11-20"))
    asked = [asyncio.create_task(history.bars("AAPL", "D", *window)) for _ in range(5)]
    await asyncio.wait_for(started.wait(), timeout=scaled(10))
    assert not any(task.done() for task in asked)
    asked.pop(0).cancel()
    asked.append(asyncio.create_task(history.bars("AAPL", "D", *window)))
    await asyncio.sleep(0)
    going_on.set()
    assert await asyncio.gather(*asked) == [[]] * 5
