"""Bars of US stocks from a local Alpaca."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_rows import Trade
from fakes.http import Answer
from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import INTERVALS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS, Exchange
from quotecast.providers.alpaca import history as history_module
from quotecast.providers.alpaca.bar_rows import DataFeed
from quotecast.providers.alpaca.history import MAX_PAGES, AlpacaHistory
from quotecast.providers.alpaca.rest import AlpacaRest
from support.made.alpaca_rest import NOW, day_trades, new_york

BARS: Final = "/v2/stocks/bars"
DELAY: Final = timedelta(minutes=16)

Figures = tuple[float, float, float, float, float]


@pytest.fixture
async def fake() -> AsyncIterator[FakeAlpaca]:
    async with FakeAlpaca() as fake:
        fake.clock = NOW.timestamp
        yield fake


def history(
    fake: FakeAlpaca, plan_feed: DataFeed = "iex", clock: Callable[[], float] | None = None
) -> AlpacaHistory:
    return AlpacaHistory(AlpacaRest(fake.url, *fake.keys, clock=clock or fake.clock), plan_feed=plan_feed)


def figures_by_time(bars: Sequence[Bar]) -> dict[str, Figures]:
    return {bar.time: (bar.open, bar.high, bar.low, bar.close, bar.volume) for bar in bars}


def bars_of_trades(
    trades: Sequence[Trade],
    interval: Interval,
    start: datetime,
    end: datetime,
    calendar: Exchange = EXCHANGE,
) -> dict[str, Figures]:
    """Returns the expected bars of a calendar's sessions, computed from the trades."""
    first = opening_of_bar(NEW_YORK_DAYS, interval, start)
    assert first
    bars: dict[str, list[Trade]] = {}
    for trade in trades:
        opened = opening_of_bar(calendar, interval, trade.time)
        if opened and first <= trade.time and opened < end:
            bars.setdefault(bar_time(opened), []).append(trade)
    return {time: figures(of) for time, of in bars.items()}


def figures(trades: Sequence[Trade]) -> Figures:
    prices = [trade.price for trade in trades]
    return prices[0], max(prices), min(prices), prices[-1], float(sum(trade.size for trade in trades))


def session_trades(trades: Sequence[Trade]) -> list[Trade]:
    return [trade for trade in trades if opening_of_bar(EXCHANGE, "1m", trade.time)]


def feed_and_timeframe(fake: FakeAlpaca) -> list[tuple[str, str]]:
    """Returns data feed and timeframe of each bars request."""
    return [(each.query["feed"], each.query["timeframe"]) for each in fake.requests if each.path == BARS]


@pytest.mark.parametrize("plan_feed", ["sip", "iex"])
@pytest.mark.parametrize("interval", ["1m", "5m", "15m", "30m"])
async def test_extended_bars_have_the_trades_from_four_to_eight(
    fake: FakeAlpaca, interval: Interval, plan_feed: DataFeed
) -> None:
    """Bars of extended hours have all trades of a day, and bars of regular hours those of the session."""
    start, end = NOW - timedelta(days=8), NOW - timedelta(days=1)
    fake.trades, fake.free = {"AAPL": [*day_trades(date(2026, 8, 1), NOW, 40)]}, False
    given = history(fake, plan_feed=plan_feed)
    extended = await given.extended_bars("AAPL", interval, start, end)
    wanted = bars_of_trades(fake.trades["AAPL"], interval, start, end, EXCHANGE.extended())
    assert figures_by_time(extended) == wanted
    times = {bar.time for bar in await given.bars("AAPL", interval, start, end)}
    assert times < wanted.keys()


@pytest.mark.parametrize("days", [1, 8, 70])
@pytest.mark.parametrize("interval", INTERVALS)
async def test_bars_are_those_of_the_trades(fake: FakeAlpaca, interval: Interval, days: int) -> None:
    """Bars cover regular sessions, ascending, from the one that contains the start to the one in progress."""
    start = NOW - timedelta(days=days)
    # A daily row would include extended-hours trades.
    trades = session_trades([*day_trades(date(2026, 8, 1), NOW, 40)])
    fake.trades, fake.free = {"AAPL": trades}, False
    bars = await history(fake, plan_feed="sip").bars("AAPL", interval, start, NOW)
    assert figures_by_time(bars) == bars_of_trades(trades, interval, start, NOW)
    assert [bar.time for bar in bars] == sorted(bar.time for bar in bars)


@pytest.mark.parametrize("interval", INTERVALS)
async def test_free_plan_has_the_consolidated_tape_but_for_the_last_minutes(
    fake: FakeAlpaca, interval: Interval
) -> None:
    """The free plan's bars end 16 minutes ago and do not mix in IEX-only rows."""
    start = NOW - timedelta(days=8)
    trades = session_trades([*day_trades(date(2026, 11, 1), NOW, 300)])
    fake.trades = {"AAPL": trades}
    minute = (NOW - DELAY).replace(second=0)
    seen = [trade for trade in trades if trade.time < minute]
    assert len(seen) < len(trades)
    bars = await history(fake).bars("AAPL", interval, start, NOW)
    assert figures_by_time(bars) == bars_of_trades(seen, interval, start, NOW)


@pytest.mark.parametrize("interval", ["1m", "15m", "1h", "4h"])
async def test_what_is_traded_outside_the_session_counts_nowhere(
    fake: FakeAlpaca, interval: Interval
) -> None:
    """Extended-hours trades count in no bar, and a half day ends at 13:00."""
    thanksgiving = datetime(2026, 11, 28, 12, tzinfo=UTC)
    trades = [*day_trades(date(2026, 11, 23), thanksgiving, 300)]
    fake.trades, fake.clock = {"AAPL": trades}, thanksgiving.timestamp
    start = thanksgiving - timedelta(days=4)
    bars = await history(fake).bars("AAPL", interval, start, thanksgiving)
    assert figures_by_time(bars) == bars_of_trades(session_trades(trades), interval, start, thanksgiving)
    assert {bar.time[:10] for bar in bars} == {"2026-11-24", "2026-11-25", "2026-11-27"}


@pytest.mark.parametrize("interval", INTERVALS)
async def test_bar_that_goes_on_after_the_end_is_whole(fake: FakeAlpaca, interval: Interval) -> None:
    """The end limits which bars open, not which trades they include."""
    trades = session_trades([*day_trades(date(2026, 9, 1), NOW, 100)])
    fake.trades = {"AAPL": trades}
    start, end = new_york("02 10:10"), new_york("04 13:10")
    bars = await history(fake).bars("AAPL", interval, start, end)
    whole = bars_of_trades([each for each in trades if each.time < NOW - DELAY], interval, start, end)
    assert [bar.time for bar in bars] == [*whole]
    if interval not in {"W", "M"}:
        assert figures_by_time(bars) == whole


async def test_bar_that_opens_at_the_end_is_left_out(fake: FakeAlpaca) -> None:
    fake.trades = {"AAPL": [Trade(new_york(text), 5) for text in ("18 10:00", "18 10:59", "18 11:00")]}
    bars = await history(fake).bars("AAPL", "1h", new_york("18 10:00"), new_york("18 11:00"))
    assert bars == [Bar("2026-11-18T15:00:00Z", 5.0, 5.0, 5.0, 5.0, 200.0)]


async def test_day_has_no_bar_before_it_opened(fake: FakeAlpaca) -> None:
    """Trades before the session do not start a daily bar."""
    now = new_york("19 08:00")
    fake.trades = {"AAPL": [Trade(new_york(text), 5) for text in ("18 10:00", "19 06:00")]}
    fake.clock = now.timestamp
    bars = await history(fake).bars("AAPL", "D", now - timedelta(days=5), now)
    assert [bar.time for bar in bars] == ["2026-11-18T05:00:00Z"]


async def test_closed_market_takes_one_call(fake: FakeAlpaca) -> None:
    """While the market is closed, bars take one call of the plan."""
    now = new_york("21 12:00")
    fake.trades, fake.clock = {"AAPL": [Trade(new_york("20 15:59"), 5)]}, now.timestamp
    bars = await history(fake).bars("AAPL", "1m", now - timedelta(days=5), now)
    assert [bar.time for bar in bars] == ["2026-11-20T20:59:00Z"]
    assert feed_and_timeframe(fake) == [("sip", "1Min")]


async def test_question_is_as_the_upstream_wants_it(fake: FakeAlpaca) -> None:
    """The request asks for split adjustment, with the keys in headers and without a page token."""
    fake.trades, fake.free = {"BRK.B": [Trade(NOW - timedelta(minutes=3), 480)]}, False
    await history(fake, plan_feed="sip").bars("brk.b", "5m", NOW - timedelta(hours=1), NOW)
    [asked] = fake.requests
    assert asked.query == {
        "symbols": "BRK.B",
        "timeframe": "5Min",
        "start": "2026-11-19T15:00:00Z",
        "end": "2026-11-19T16:03:20Z",
        "adjustment": "split",
        "feed": "sip",
        "sort": "asc",
        "limit": "10000",
    }
    assert (asked.headers["APCA-API-KEY-ID"], asked.headers["APCA-API-SECRET-KEY"]) == ("key", "secret")


async def test_short_pages_are_not_the_end(fake: FakeAlpaca) -> None:
    """Pages continue until one has no next token."""
    trades = session_trades([*day_trades(date(2026, 11, 10), NOW, 100)])
    fake.trades, fake.free, fake.rows_per_page = {"AAPL": trades}, False, 30
    start = NOW - timedelta(days=8)
    bars = await history(fake, plan_feed="sip").bars("AAPL", "1m", start, NOW)
    assert figures_by_time(bars) == bars_of_trades(trades, "1m", start, NOW)
    assert len(fake.requests) > 5
    tokens = [asked.query.get("page_token") for asked in fake.requests]
    assert tokens[0] is None
    assert len({*tokens}) == len(tokens)


async def test_pages_that_never_end_are_an_error(fake: FakeAlpaca) -> None:
    fake.answers[BARS] = Answer.of({"bars": {}, "next_page_token": "again"})
    with pytest.raises(UpstreamError, match="more than 50 pages"):
        await history(fake).bars("AAPL", "D", NOW - timedelta(days=8), NOW)
    assert len(fake.requests) == MAX_PAGES


async def test_slow_pages_have_a_deadline_together(fake: FakeAlpaca, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "DEADLINE_SECONDS", 0.2)
    fake.answers[BARS] = Answer(hangs=True)
    with pytest.raises(UpstreamError, match=r"no bars in 0\.2 s"):
        await history(fake).bars("AAPL", "D", NOW - timedelta(days=8), NOW)


@pytest.mark.parametrize("plan_feed", ["iex", "sip"])
async def test_plan_without_the_consolidated_tape_has_iex(fake: FakeAlpaca, plan_feed: DataFeed) -> None:
    """When Alpaca rejects consolidated-tape requests, all bars come from the IEX exchange."""
    trades = session_trades([*day_trades(date(2026, 11, 10), NOW, 100)])
    fake.trades = {"AAPL": trades}
    start = NOW - timedelta(days=5)
    fast = (NOW + timedelta(minutes=16)).timestamp
    bars = await history(fake, plan_feed=plan_feed, clock=fast).bars("AAPL", "15m", start, NOW)
    assert figures_by_time(bars) == bars_of_trades(
        [each for each in trades if each.on_iex], "15m", start, NOW
    )
    assert feed_and_timeframe(fake)[-1] == ("iex", "15Min")


@pytest.mark.parametrize("bars", [None, {}, {"AAPL": None}, {"AAPL": []}])
async def test_stock_without_trades_has_no_bars(fake: FakeAlpaca, bars: Any) -> None:
    """A stock without trades has no bars, whether Alpaca omits it or sends null or an empty list."""
    fake.trades = {"AAPL": [Trade(NOW - timedelta(days=1), 5)]}
    fake.answers[BARS] = Answer.of({"bars": bars, "next_page_token": None})
    assert await history(fake).bars("AAPL", "1h", NOW - timedelta(hours=2), NOW) == []


@pytest.mark.parametrize("row", [Answer.of({}), Answer.of({"ZZZZQ": None})])
async def test_unknown_stock_is_not_found(fake: FakeAlpaca, row: Answer) -> None:
    """A stock without a snapshot is not found, although Alpaca returns empty bars for it."""
    fake.answers["/v2/stocks/snapshots"] = row
    with pytest.raises(SymbolNotFound):
        await history(fake).bars("ZZZZQ", "1h", NOW - timedelta(hours=2), NOW)


@pytest.mark.parametrize("symbol", ["AB1", "BRK-B", "", "A,B", "../clock", "AAPL&feed=sip", "A" * 50])
async def test_malformed_symbol_is_not_found(fake: FakeAlpaca, symbol: str) -> None:
    """A malformed symbol is not found, with or without a call."""
    fake.trades = {"A": [Trade(NOW - timedelta(hours=1), 5)]}
    with pytest.raises(SymbolNotFound):
        await history(fake).bars(symbol, "D", NOW - timedelta(days=2), NOW)
    assert {asked.path for asked in fake.requests} <= {BARS}


async def test_empty_range_takes_no_call(fake: FakeAlpaca) -> None:
    """A range in the future, or of length zero, takes no call."""
    assert await history(fake).bars("AAPL", "1h", NOW + timedelta(days=1), NOW + timedelta(days=2)) == []
    hour = NOW.replace(minute=0, second=0)
    assert await history(fake).bars("AAPL", "1h", hour, hour) == []
    assert not fake.requests


async def test_open_above_the_high_is_an_ordinary_bar(fake: FakeAlpaca) -> None:
    """An open above the high raises the high, because Alpaca's high omits some trades."""
    row = {"t": "2026-11-18T05:00:00Z", "o": 25.05, "h": 25.04, "l": 25.04, "c": 25.04, "v": 105}
    fake.answers[BARS] = Answer.of({"bars": {"AAAA": [row]}, "next_page_token": None})
    upstream = history(fake, plan_feed="sip")
    bars = await upstream.bars("AAAA", "D", NOW - timedelta(days=3), NOW)
    assert bars == [Bar("2026-11-18T05:00:00Z", 25.05, 25.05, 25.04, 25.04, 105.0)]
    assert upstream._refused.by_reason() == {}


async def test_implausible_rows_do_not_affect_the_others(fake: FakeAlpaca) -> None:
    """The adapter counts implausible rows by reason and omits rows of volume 0 without counting."""
    good = {"t": "2026-11-19T15:00:00Z", "o": 10, "h": 12, "l": 9, "c": "11.5", "v": 100, "n": 3}
    rows = [
        good,
        good | {"t": "2026-11-19T15:01:00.000000000Z", "c": 12},
        good | {"t": "2026-11-19T15:02:00Z", "h": 1160, "c": 1150},
        good | {"t": "2026-11-19T15:03:00Z", "v": 0},
        good | {"t": "2026-11-19T15:04:00Z", "l": 0},
        good | {"t": "2026-11-19T15:05:00Z", "c": 13},
        good | {"t": "2026-11-19T15:06:00Z", "o": None},
        good | {"t": "yesterday"},
        good | {"t": "2026-11-18T15:00:00Z"},
        good | {"t": "2026-11-20T15:00:00Z"},
        None,
        ["x"],
        good | {"o": {}},
    ]
    fake.answers[BARS] = Answer.of({"bars": {"AAPL": rows, "MSFT": [good]}, "more": 1})
    upstream = history(fake, plan_feed="sip")
    bars = await upstream.bars("AAPL", "1m", NOW - timedelta(hours=2), NOW)
    assert figures_by_time(bars) == {
        "2026-11-19T15:00:00Z": (10.0, 12.0, 9.0, 11.5, 100.0),
        "2026-11-19T15:01:00Z": (10.0, 12.0, 9.0, 12.0, 100.0),
        "2026-11-19T15:05:00Z": (10.0, 13.0, 9.0, 13.0, 100.0),
    }
    assert upstream._refused.by_reason() == {"malformed": 3, "unreadable": 3, "misplaced": 2, "absurd": 1}
