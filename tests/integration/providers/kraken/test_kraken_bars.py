"""Bars of Kraken from a local one."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from fakes.http import ENDLESS, HTML_503, REDIRECT, SERVER_ERROR, TOO_MANY, TRUNCATED, Answer, huge
from fakes.kraken import TOO_MANY_CALLS, FakeKraken, candle, ticker
from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import INTERVALS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.ranges import start_of_newest
from quotecast.providers.kraken.history import AWAY_SECONDS, LOCKOUT_SECONDS, KrakenHistory
from support.runs.manual_clock import ManualClock

OHLC = "/0/public/OHLC"
NOW = datetime(2026, 11, 19, 13, 37, 21, tzinfo=UTC)


@pytest.fixture
async def fake() -> AsyncIterator[FakeKraken]:
    async with FakeKraken() as fake:
        fake.stop_clock(ManualClock(int(NOW.timestamp() * 1000)))
        fake.tickers = {symbol: ticker(symbol) for symbol in ("BTC/USD", "DOGE/EUR")}
        yield fake


async def newest(fake: FakeKraken, interval: Interval, count: int = 10) -> list[Bar]:
    start = start_of_newest(count, interval, NOW)
    return list(await KrakenHistory(fake.url).bars("BTC/USD", interval, start, NOW))


async def test_row_becomes_a_bar(fake: FakeKraken) -> None:
    """Field by field."""
    bars = await newest(fake, "1m", 1)
    assert bars[-1] == Bar("2026-11-19T13:37:00Z", 1257.0, 1260.0, 1255.0, 1258.5, 12.5)


async def test_minutes_without_a_trade_have_no_bar(fake: FakeKraken) -> None:
    """The upstream fills them with the close before: 216 of 721 real minutes."""
    newest_minute = int(NOW.timestamp()) // 60 * 60
    rows = [candle(newest_minute - number * 60) for number in (4, 3, 2, 1, 0)]
    for filler in rows[1:3]:
        filler[1:] = ["1254.5", "1254.5", "1254.5", "1254.5", "0.0", "0.00000000", 0]
    fake.answers[OHLC] = Answer.of({"error": [], "result": {"XXBTZUSD": rows, "last": 1}})
    history = KrakenHistory(fake.url)
    minutes = await history.bars("BTC/USD", "1m", NOW - timedelta(minutes=10), NOW)
    assert [bar.time[14:16] for bar in minutes] == ["33", "36", "37"]
    assert history._refused.by_reason() == {}


@pytest.mark.parametrize("interval", INTERVALS)
async def test_bars_open_where_ours_do(fake: FakeKraken, interval: Interval) -> None:
    """Ascending, from the one that holds the start to the one in progress."""
    bars = await newest(fake, interval)
    moment = NOW
    expected = []
    for _ in range(10):
        opened = opening_of_bar(UTC_DAYS, interval, moment)
        assert opened
        expected.append(bar_time(opened))
        moment = opened - timedelta(seconds=1)
    assert [bar.time for bar in bars][-10:] == expected[::-1]
    assert len(bars) in (10, 11)


@pytest.mark.parametrize(("interval", "count"), [("W", 200), ("M", 100)])
async def test_no_bar_is_made_of_a_part(fake: FakeKraken, interval: Interval, count: int) -> None:
    """The upstream tells 720 days; of the week and the month in which they begin, it tells a part."""
    bars = await newest(fake, interval, count)
    oldest = NOW.replace(hour=0, minute=0, second=0) - timedelta(days=719)
    assert datetime.fromisoformat(bars[0].time) >= oldest
    assert datetime.fromisoformat(bars[0].time) < oldest + timedelta(days=31)


async def test_first_bar_of_a_new_listing_is_told(fake: FakeKraken) -> None:
    """It is all there is of that week."""
    fake.given.listed_since = int((NOW - timedelta(days=8)).timestamp())
    assert [bar.time for bar in await newest(fake, "W")] == [
        "2026-11-09T00:00:00Z",
        "2026-11-16T00:00:00Z",
    ]


@pytest.mark.parametrize(("symbol", "told"), [("BTC/USD", "XBTUSD"), ("DOGE/EUR", "XDGEUR")])
async def test_assets_bear_the_names_of_this_interface(fake: FakeKraken, symbol: str, told: str) -> None:
    """Which are not those of the WebSocket's."""
    await KrakenHistory(fake.url).bars(symbol, "1h", NOW - timedelta(hours=3), NOW)
    assert fake.requests[0].query == {"pair": told, "interval": "60"}


@pytest.mark.parametrize("symbol", ["NONE/SUCH", "BTC", "../x"])
async def test_unknown_pair_is_not_found(fake: FakeKraken, symbol: str) -> None:
    """The upstream says so, unless it is no pair at all."""
    with pytest.raises(SymbolNotFound):
        await KrakenHistory(fake.url).bars(symbol, "1h", NOW - timedelta(hours=3), NOW)


async def test_unknown_pair_with_a_null_result_is_not_found(fake: FakeKraken) -> None:
    """As the upstream answered on 2026-09-25."""
    fake.answers[OHLC] = Answer.of({"error": ["EQuery:Unknown asset pair"], "result": None})
    with pytest.raises(SymbolNotFound):
        await newest(fake, "1h")


@pytest.mark.parametrize(
    ("problem", "seconds"),
    [("EGeneral:Temporary lockout", LOCKOUT_SECONDS), ("EAPI:Rate limit exceeded", AWAY_SECONDS)],
)
async def test_locked_out_it_pauses(fake: FakeKraken, problem: str, seconds: float) -> None:
    """Each further call would make the lockout longer."""
    fake.answers[OHLC] = Answer.of({"error": [problem], "result": None})
    now = 1000.0
    history = KrakenHistory(fake.url, clock=lambda: now)
    waits = []
    for _ in range(2):
        with pytest.raises(UpstreamError) as caught:
            await history.bars("BTC/USD", "1h", NOW - timedelta(hours=3), NOW)
        waits.append(caught.value.retry_after)
        now += 10
    assert waits == [seconds, seconds - 10]
    assert len(fake.requests) == 1
    del fake.answers[OHLC]
    now += seconds
    assert await history.bars("BTC/USD", "1h", NOW - timedelta(hours=3), NOW)


BAD_ANSWERS = {
    "html": (HTML_503, "status 503", None),
    "server error": (SERVER_ERROR, "status 500", None),
    "too many": (TOO_MANY, "status 429", 7),
    "too many in a body": (TOO_MANY_CALLS, "Too many requests", AWAY_SECONDS),
    "error in a body": (Answer.of({"error": ["EService:Unavailable"]}), "EService:Unavailable", None),
    "truncated": (TRUNCATED, "unreadable", None),
    "rows that are none": (Answer.of({"error": [], "result": {"XBTUSD": 7}}), "unreadable", None),
    "redirect": (REDIRECT, "status 302", None),
    "huge": (huge(), "body over", None),
    "endless": (ENDLESS, "body over", None),
}


@pytest.mark.parametrize(("answer", "problem", "seconds"), BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
async def test_bad_answer_is_an_error(
    fake: FakeKraken, answer: Answer, problem: str, seconds: float | None
) -> None:
    """The error has a pause where the upstream names one or limits calls."""
    fake.answers[OHLC] = answer
    with pytest.raises(UpstreamError, match=problem) as caught:
        await newest(fake, "1h")
    assert caught.value.retry_after == seconds


async def test_bad_rows_are_left_out(fake: FakeKraken) -> None:
    """The others stay, and they are counted."""
    newest_hour = int(NOW.timestamp()) // 3600 * 3600
    rows = [candle(newest_hour - number * 3600) for number in (5, 4, 3, 2, 1)]
    rows[1][4], rows[2][1] = "NaN", "1e300"
    fake.answers[OHLC] = Answer.of({"error": [], "result": {"XXBTZUSD": [*rows, ["soon"]], "last": 1}})
    history = KrakenHistory(fake.url)
    bars = await history.bars("BTC/USD", "1h", NOW - timedelta(hours=10), NOW)
    assert [bar.time[11:13] for bar in bars] == ["08", "11", "12"]
    assert history._refused.by_reason() == {"malformed": 1, "unreadable": 2}


async def test_nothing_told_is_no_bar(fake: FakeKraken) -> None:
    """An empty answer is one."""
    fake.answers[OHLC] = Answer.of({"error": [], "result": {}})
    assert await newest(fake, "1h") == []
