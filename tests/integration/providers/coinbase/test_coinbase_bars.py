"""Bars of Coinbase Exchange from a local one."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.coinbase import CoinbaseTrade, FakeCoinbase
from fakes.http import HTML_503, TOO_MANY, TRUNCATED, Answer
from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import INTERVALS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.ranges import start_of_newest
from quotecast.providers.coinbase.history import MAX_ROWS, ROWS_PER_CALL, CoinbaseHistory
from quotecast.providers.transport.pace import CALLS_PER_SECOND, Pace

CANDLES: Final = "/products/BTC-USD/candles"
#: A Thursday, within the bars of every interval.
NOW = datetime(2026, 11, 19, 13, 37, 21, 500_000, UTC)

Figures = tuple[float, float, float, float, float]


class Time:
    """Seconds that pass by sleeping alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
async def fake() -> AsyncIterator[FakeCoinbase]:
    async with FakeCoinbase([{"id": "BTC-USD"}, {"id": "NEW-GBP"}]) as fake:
        yield fake


def history(fake: FakeCoinbase) -> CoinbaseHistory:
    time = Time()
    return CoinbaseHistory(fake.url, Pace(time, time.sleep))


async def newest(fake: FakeCoinbase, interval: Interval, count: int) -> Sequence[Bar]:
    return await history(fake).bars("BTC/USD", interval, start_of_newest(count, interval, NOW), NOW)


def traded(first: datetime, last: datetime, count: int) -> list[CoinbaseTrade]:
    """Trades at random times, the first and the last moment among them, in eighths."""
    chance = Random(7)
    begin, end = int(first.timestamp()), int(last.timestamp())
    times = sorted({begin, end, *(chance.randint(begin, end) for _ in range(count))})
    return [CoinbaseTrade(time, chance.randint(200, 800) / 8, chance.randint(1, 80) / 8) for time in times]


def expected(
    trades: Sequence[CoinbaseTrade], interval: Interval, start: datetime, end: datetime
) -> dict[str, Figures]:
    """Returns the bars from the one that holds `start` to before `end`, straight from the trades."""
    first = opening_of_bar(UTC_DAYS, interval, start)
    assert first
    bars: dict[str, list[CoinbaseTrade]] = {}
    for trade in trades:
        opened = opening_of_bar(UTC_DAYS, interval, datetime.fromtimestamp(trade.time, UTC))
        if opened and first <= opened < end:
            bars.setdefault(bar_time(opened), []).append(trade)
    return {time: figures(of) for time, of in bars.items()}


def figures(trades: Sequence[CoinbaseTrade]) -> Figures:
    prices = [trade.price for trade in trades]
    return prices[0], max(prices), min(prices), prices[-1], sum(trade.size for trade in trades)


def told(bars: Sequence[Bar]) -> dict[str, Figures]:
    return {bar.time: (bar.open, bar.high, bar.low, bar.close, bar.volume) for bar in bars}


def calls(fake: FakeCoinbase) -> list[int]:
    """How many rows each call asked for."""
    return [
        (seconds(asked.query["end"]) - seconds(asked.query["start"])) // int(asked.query["granularity"]) + 1
        for asked in fake.requests
    ]


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize("count", [1, 2, 100])
@pytest.mark.parametrize("interval", INTERVALS)
async def test_bars_are_those_of_the_trades(fake: FakeCoinbase, interval: Interval, count: int) -> None:
    """Ascending, with the bar that holds the start, the one in progress, and none where nobody traded."""
    start = start_of_newest(count, interval, NOW)
    fake.trades = {"BTC-USD": traded(start - timedelta(days=40), NOW, 1500)}
    bars = await newest(fake, interval, count)
    assert told(bars) == expected(fake.trades["BTC-USD"], interval, start, NOW)
    times = [bar.time for bar in bars]
    assert times == sorted(times)
    assert times[-1] == bar_time(opening_of_bar(UTC_DAYS, interval, NOW) or NOW)


async def test_end_is_not_among_the_bars(fake: FakeCoinbase) -> None:
    """Not even when it opens one."""
    hour = NOW.replace(hour=13, minute=0, second=0, microsecond=0)
    fake.trades = {"BTC-USD": traded(hour - timedelta(hours=3), hour, 100)}
    bars = await history(fake).bars("BTC/USD", "1h", hour - timedelta(hours=2), hour)
    assert [bar.time for bar in bars] == ["2026-11-19T11:00:00Z", "2026-11-19T12:00:00Z"]


@pytest.mark.parametrize(("interval", "pages"), [("1m", 4), ("30m", 7), ("4h", 14)])
async def test_long_histories_are_read_in_parts(fake: FakeCoinbase, interval: Interval, pages: int) -> None:
    """No call asks for more than the upstream answers, and no row is asked for twice or left out."""
    start = start_of_newest(1000, interval, NOW)
    fake.trades = {"BTC-USD": traded(start, NOW, 1500)}
    bars = await newest(fake, interval, 1000)
    assert told(bars) == expected(fake.trades["BTC-USD"], interval, start, NOW)
    assert len(calls(fake)) == pages
    assert max(calls(fake)) == ROWS_PER_CALL
    opened = [(seconds(asked.query["start"]), seconds(asked.query["end"])) for asked in fake.requests]
    granularity = int(fake.requests[0].query["granularity"])
    assert all(older[1] + granularity == newer[0] for newer, older in pairwise(opened))


async def test_hours_without_trades_do_not_end_a_history(fake: FakeCoinbase) -> None:
    """Pages in between may be empty."""
    early = int((NOW - timedelta(minutes=900)).timestamp())
    fake.trades = {"BTC-USD": [CoinbaseTrade(early, 5.0), CoinbaseTrade(int(NOW.timestamp()), 6.0)]}
    assert [bar.close for bar in await newest(fake, "1m", 1000)] == [5.0, 6.0]


@pytest.mark.parametrize("interval", ["D", "W", "M"])
async def test_years_without_trades_do_not_end_a_history(fake: FakeCoinbase, interval: Interval) -> None:
    """A product may leave the venue for years, and come back."""
    came_back = traded(NOW - timedelta(days=50), NOW, 200)
    fake.trades = {
        "BTC-USD": [*traded(NOW - timedelta(days=1200), NOW - timedelta(days=800), 200), *came_back]
    }
    bars = await newest(fake, interval, 1300)
    assert sum(bar.volume for bar in bars) == sum(trade.size for trade in fake.trades["BTC-USD"])
    assert len(fake.requests) <= MAX_ROWS / ROWS_PER_CALL + 1


@pytest.mark.slow
async def test_no_history_is_without_a_bound(fake: FakeCoinbase) -> None:
    """Where there is more, the oldest bars are left out, and none is cut in half."""
    every_hour = [
        CoinbaseTrade(int((NOW - timedelta(hours=age)).timestamp()), 1.0) for age in range(3 * MAX_ROWS)
    ]
    fake.trades = {"BTC-USD": every_hour}
    bars = await history(fake).bars("BTC/USD", "4h", datetime(1970, 1, 1, tzinfo=UTC), NOW)
    assert sum(calls(fake)) in range(MAX_ROWS, MAX_ROWS + 5)
    assert {bar.volume for bar in bars[:-1]} == {4.0}


async def test_product_without_trades_has_no_bars(fake: FakeCoinbase) -> None:
    """That is no error."""
    assert await history(fake).bars("NEW/GBP", "1h", NOW - timedelta(days=2), NOW) == []


async def test_empty_stretch_has_no_bars_and_takes_no_call(fake: FakeCoinbase) -> None:
    """Nothing opens between a moment and itself, nor in the future."""
    start = NOW.replace(minute=0, second=0, microsecond=0)
    assert await history(fake).bars("BTC/USD", "1h", start, start) == []
    assert not fake.requests


@pytest.mark.parametrize(
    "symbol", ["NONE/SUCH", "../currencies", "BTC/USD/../../currencies", "A?b#c", "", ".."]
)
async def test_unknown_product_is_not_found(fake: FakeCoinbase, symbol: str) -> None:
    """And no text leads to another place of the upstream."""
    with pytest.raises(SymbolNotFound):
        await history(fake).bars(symbol, "D", NOW - timedelta(days=2), NOW)
    [asked] = fake.requests
    assert asked.target.startswith("/products/")
    assert asked.target.partition("?")[0].count("/") == 3


@pytest.mark.parametrize(
    ("answer", "problem", "retry_after"),
    [(HTML_503, "503", None), (TOO_MANY, "429", 7), (TRUNCATED, "unreadable", None)],
    ids=["html", "too many", "truncated"],
)
async def test_failure_is_an_upstream_error(
    fake: FakeCoinbase, answer: Answer, problem: str, retry_after: float | None
) -> None:
    """Half a history is none."""
    fake.answers[CANDLES] = answer
    with pytest.raises(UpstreamError, match=problem) as caught:
        await newest(fake, "D", 10)
    assert caught.value.retry_after == retry_after


async def test_rows_that_were_not_asked_for_or_cannot_be_read_are_left_out(fake: FakeCoinbase) -> None:
    """The upstream may send what precedes the start; one bad row, or one of volume 0, costs itself."""
    hour = int(NOW.timestamp()) // 3600 * 3600
    good, filler, inverted, without, early, late = (
        (hour, 1, 2, 1, 2, 3),
        (hour - 10800, 1, 2, 1, 2, 0),
        (hour - 3600, 2, 1, 1, 2, 5),
        (hour - 7200, None, 2, 1, 2, 5),
        (hour - 36000, 1, 2, 1, 2, 5),
        (hour + 3600, 1, 2, 1, 2, 5),
    )
    fake.answers[CANDLES] = Answer.of([late, good, filler, inverted, without, early, (10**30, 1, 2, 1, 2, 5)])
    bars = await newest(fake, "1h", 5)
    assert [(bar.time, bar.volume) for bar in bars] == [("2026-11-19T13:00:00Z", 3.0)]


async def test_calls_at_once_take_turns() -> None:
    """Ten pass in a second, in the order in which they came."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    pace = Pace(lambda: 5.0, sleep)
    for _ in range(2 * CALLS_PER_SECOND + 1):
        await pace.turn()
    assert waits == [0.0] * CALLS_PER_SECOND + [1.0] * CALLS_PER_SECOND + [2.0]


@given(st.lists(st.floats(0, 2), max_size=60))
async def test_no_second_has_more_calls_than_the_upstream_allows(pauses: list[float]) -> None:
    """And no call waits without need."""
    time = Time()
    pace = Pace(time, time.sleep)
    turns: list[float] = []
    for pause in pauses:
        time.now += pause
        due = max(time.now, turns[-CALLS_PER_SECOND] + 1.0) if len(turns) >= CALLS_PER_SECOND else time.now
        await pace.turn()
        turns.append(time.now)
        assert time.now == pytest.approx(due)


async def test_histories_share_the_pace(fake: FakeCoinbase) -> None:
    """Each page is a call."""
    time = Time()
    provider = CoinbaseHistory(fake.url, Pace(time, time.sleep))
    fake.trades = {"BTC-USD": [CoinbaseTrade(int(NOW.timestamp()), 1.0)]}
    for _ in range(2):
        await provider.bars("BTC/USD", "1m", start_of_newest(1000, "1m", NOW), NOW)
    assert len(fake.requests) == 8
    assert time.now == 0.0
    await provider.bars("BTC/USD", "1m", start_of_newest(1000, "1m", NOW), NOW)
    assert time.now == pytest.approx(1.0)
