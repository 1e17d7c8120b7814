"""Bars of a local Binance."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from fakes.binance import BANNED, ELSEWHERE, TOO_MUCH, FakeBinance
from fakes.binance_rows import kline, listing_row
from fakes.http import ENDLESS, HANGING, HTML_503, REDIRECT, SERVER_ERROR, TRUNCATED, Answer, huge
from quotecast.errors import SymbolNotFound, UpstreamError
from quotecast.market.bars import INTERVALS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import UTC_DAYS
from quotecast.market.ranges import start_of_newest
from quotecast.providers.binance.history import BinanceHistory
from quotecast.providers.transport import fetch

#: A Thursday, 20:02:30.
NOW = datetime(2026, 11, 19, 20, 2, 30, tzinfo=UTC)
KLINES = "/api/v3/klines"


@pytest.fixture
async def fake() -> AsyncIterator[FakeBinance]:
    async with FakeBinance([listing_row("BTC")]) as fake:
        fake.clock.now = NOW.timestamp
        fake.listed_since = 0
        yield fake


def history(fake: FakeBinance, clock: Callable[[], float] = NOW.timestamp) -> BinanceHistory:
    return BinanceHistory(fake.url, clock=clock)


async def newest(fake: FakeBinance, count: int, interval: Interval) -> list[Bar]:
    start = start_of_newest(count, interval, NOW)
    return [*await history(fake).bars("BTC/USDT", interval, start, NOW + timedelta(milliseconds=1))]


async def test_bars_are_those_of_the_upstream(fake: FakeBinance) -> None:
    """From the one that holds the start to the one in progress, number by number."""
    assert await newest(fake, 2, "1m") == [
        Bar("2026-11-19T20:01:00Z", 1641.0, 1644.0, 1639.0, 1642.5, 12.5),
        Bar("2026-11-19T20:02:00Z", 1642.0, 1645.0, 1640.0, 1643.5, 12.5),
    ]
    assert fake.requests[0].query == {
        "symbol": "BTCUSDT",
        "interval": "1m",
        "startTime": "1795118460000",
        "endTime": "1795118520000",
        "limit": "1000",
    }


@pytest.mark.parametrize(
    ("interval", "times"),
    [
        ("1m", ["2026-11-19T20:01:00Z", "2026-11-19T20:02:00Z"]),
        ("5m", ["2026-11-19T19:55:00Z", "2026-11-19T20:00:00Z"]),
        ("15m", ["2026-11-19T19:45:00Z", "2026-11-19T20:00:00Z"]),
        ("30m", ["2026-11-19T19:30:00Z", "2026-11-19T20:00:00Z"]),
        ("1h", ["2026-11-19T19:00:00Z", "2026-11-19T20:00:00Z"]),
        ("4h", ["2026-11-19T16:00:00Z", "2026-11-19T20:00:00Z"]),
        ("D", ["2026-11-18T00:00:00Z", "2026-11-19T00:00:00Z"]),
        ("W", ["2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"]),
        ("M", ["2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"]),
    ],
)
async def test_bars_open_with_their_interval_in_utc(
    fake: FakeBinance, interval: Interval, times: list[str]
) -> None:
    """Weeks begin on Monday."""
    assert [bar.time for bar in await newest(fake, 2, interval)] == times


@pytest.mark.parametrize("interval", INTERVALS)
async def test_as_many_bars_come_as_clients_may_ask_for(fake: FakeBinance, interval: Interval) -> None:
    """A thousand of every length, without a hole or a repetition, each where the calendar has one."""
    fake.listed_since = int(datetime(1980, 1, 1, tzinfo=UTC).timestamp() * 1000)
    bars = await newest(fake, 500 if interval == "M" else 1000, interval)
    assert len(bars) == (500 if interval == "M" else 1000)
    moments = [datetime.fromisoformat(bar.time) for bar in bars]
    assert [opening_of_bar(UTC_DAYS, interval, moment) for moment in moments] == moments
    assert bars[-1].time == bar_time(opening_of_bar(UTC_DAYS, interval, NOW) or NOW)
    assert all(before < after for before, after in pairwise(moments))
    assert len(fake.requests) == 1


async def test_longer_stretches_come_page_by_page(fake: FakeBinance) -> None:
    """No more than a thousand rows in a call, each page beginning past the last row of the one before."""
    bars = await newest(fake, 2500, "1m")
    assert len(bars) == 2500
    assert len({bar.time for bar in bars}) == 2500
    assert len(fake.requests) == 3
    starts = [int(asked.query["startTime"]) for asked in fake.requests]
    assert [after - before for before, after in pairwise(starts)] == [999 * 60_000 + 1, 1000 * 60_000]


async def test_beyond_ten_thousand_the_oldest_are_left_out(fake: FakeBinance) -> None:
    """No request keeps the upstream busy without bound."""
    bars = await newest(fake, 20_000, "1m")
    assert len(bars) == 10_000
    assert bars[-1].time == "2026-11-19T20:02:00Z"
    assert len(fake.requests) == 10


async def test_end_is_not_among_them(fake: FakeBinance) -> None:
    """The bar that opens at the end is the next stretch's first."""
    start, end = NOW.replace(second=0) - timedelta(minutes=2), NOW.replace(second=0)
    bars = await history(fake).bars("BTC/USDT", "1m", start, end)
    assert [bar.time for bar in bars] == ["2026-11-19T20:00:00Z", "2026-11-19T20:01:00Z"]


async def test_stretch_in_the_future_is_empty(fake: FakeBinance) -> None:
    """There is nothing to ask for."""
    assert (
        await history(fake).bars("BTC/USDT", "1m", NOW + timedelta(hours=1), NOW + timedelta(hours=2)) == []
    )
    assert fake.requests == []


async def test_before_the_listing_there_are_none(fake: FakeBinance) -> None:
    """No filler where nothing traded."""
    fake.listed_since = int(NOW.timestamp() * 1000) - 90_000
    assert [bar.time for bar in await newest(fake, 100, "1m")] == [
        "2026-11-19T20:01:00Z",
        "2026-11-19T20:02:00Z",
    ]
    fake.listed_since = int(NOW.timestamp() * 1000) + 1
    assert await newest(fake, 100, "1m") == []


@pytest.mark.parametrize(
    "symbol", ["NONE/SUCH", "A" * 15 + "/" + "B" * 15, "../../etc", "BTC", "ŞİŞE/USDT", ""]
)
async def test_symbol_that_is_not_known_is_not_found(fake: FakeBinance, symbol: str) -> None:
    """The upstream's own answer, or ours before it is asked."""
    with pytest.raises(SymbolNotFound):
        await history(fake).bars(symbol, "1h", NOW - timedelta(hours=5), NOW)


BAD_ANSWERS = {
    "html": (HTML_503, "status 503"),
    "server error": (SERVER_ERROR, "status 500"),
    "other refusal": (Answer(b'{"code":-1120,"msg":"Invalid interval."}', 400), "status 400"),
    "refusal in html": (Answer(b"<html>", 400, "text/html"), "status 400"),
    "truncated": (TRUNCATED, "unreadable"),
    "redirect": (REDIRECT, "status 302"),
    "huge": (huge(), "body over"),
    "endless": (ENDLESS, "body over"),
    "hanging": (HANGING, "no answer"),
    "elsewhere": (ELSEWHERE, "does not serve this country"),
    "too much": (TOO_MUCH, "status 429"),
    "banned": (BANNED, "status 418"),
}


@pytest.mark.parametrize(("answer", "problem"), BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
async def test_bad_answer_is_an_upstream_error(
    fake: FakeBinance, monkeypatch: pytest.MonkeyPatch, answer: Answer, problem: str
) -> None:
    """The history raises UpstreamError after one call, and the client follows no redirect."""
    if answer is HANGING:
        monkeypatch.setattr(fetch.get_json, "__kwdefaults__", {"params": None, "deadline_seconds": 0.1})
    fake.answers[KLINES] = answer
    with pytest.raises(UpstreamError, match=problem):
        await newest(fake, 10, "1m")
    assert len(fake.requests) == 1


async def test_upstream_that_wants_to_be_left_alone_is(fake: FakeBinance) -> None:
    """Clients' requests do not reach it before the time it named."""
    bars = history(fake)
    fake.answers[KLINES] = TOO_MUCH
    for _ in range(3):
        with pytest.raises(UpstreamError) as caught:
            await bars.bars("BTC/USDT", "1h", NOW - timedelta(hours=5), NOW)
        assert caught.value.retry_after == 7
    assert len(fake.requests) == 1


async def test_bad_rows_never_spoil_the_others(fake: FakeBinance) -> None:
    """Each is left out and counted, and so is what was not asked for."""
    at = int(NOW.timestamp() * 1000) // 60_000 * 60_000
    rows: list[Any] = [kline(at - minute * 60_000) for minute in range(8)]
    rows[1][1] = "NaN"
    rows[2][4] = "0.00000000"
    rows[4][1:5] = ["999999999"] * 4
    rows[6] = {"not": "a row"}
    rows += [kline(at + 60_000), kline(at - 86_400_000)]
    fake.answers[KLINES] = Answer.of(rows)
    bars = history(fake)
    found = await bars.bars("BTC/USDT", "1m", NOW - timedelta(minutes=8), NOW)
    assert [bar.time[11:16] for bar in found] == ["19:55", "19:57", "19:59", "20:02"]
    assert bars._refused.by_reason() == {"unreadable": 2, "absurd": 1, "malformed": 1, "misplaced": 2}


@pytest.mark.parametrize("at", [0, 2**62, -5])
async def test_upstream_that_never_gets_further_is_given_up(fake: FakeBinance, at: int) -> None:
    """A full page of what was not asked for leads to no further call."""
    fake.answers[KLINES] = Answer.of([kline(at)] * 1000)
    with pytest.raises(UpstreamError, match="other bars"):
        await newest(fake, 2500, "1m")
    assert len(fake.requests) == 1
