"""Bars of the trading day in progress: every way tells what the live feed told."""

import csv
import io
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from msgspec.structs import replace

from quotecast.bus.base import FeedInfo
from quotecast.market.bars import bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, OwnBar
from quotecast.mcp.asking import Asking
from quotecast.mcp.calls import ToolCalls
from quotecast.simulation.market.history import SimulatorHistory
from quotecast.simulation.market.venues import hours_of, quoters
from support.made.factories import client_to
from support.stages.bar_service import APPLE, BarService, History, bar, new_service, write_closes
from support.stages.own_feed import OwnFeed

#: 10:00 on a Thursday in New York.
BEGIN: Final = datetime(2026, 11, 19, 15, tzinfo=UTC).timestamp()
HOURS: Final = 2
STEP_SECONDS: Final = 3.0
SEED: Final = 3
NAMES: Final = {Feed.STOCKS: "AAPL", Feed.CRYPTO: "BTC/USDT"}
#: The ranges of OpenBB's charts of stocks, by their interval.
CHARTS: Final[dict[LiveInterval, str]] = {"5m": "1D", "15m": "5D", "1h": "1M"}
#: The resolutions of UDF, by interval.
RESOLUTIONS: Final[dict[LiveInterval, str]] = {"1m": "1", "5m": "5", "15m": "15"}
INTERVALS: Final[tuple[LiveInterval, ...]] = ("1m", "5m", "15m", "1h")

Row = tuple[float, ...]


class Market:
    """Simulated hours of an instrument from its quotes to a worker, and the final bars that its feed told."""

    def __init__(self, feed: Feed, began: float = BEGIN) -> None:
        self.service = new_service()
        self.told: dict[LiveInterval, dict[str, Row]] = defaultdict(dict)
        self._name = NAMES[feed]
        self._now = began
        hours = hours_of(feed, always_open=False)
        self._quoter = next(
            each
            for each in quoters(feed, SEED, hours)
            if (first := each.next_quote(int(began * 1000))) and first.key == self._name
        )
        self.history = SimulatorHistory(feed, seed=SEED, always_open=False)
        self.service.histories[feed] = {"simulator": self.history}
        own = OwnFeed(self.service, feed, FeedInfo(provider="simulator", always_open=feed is Feed.CRYPTO))
        own.ledger.bars.miss(began)
        own.info = replace(own.info, bars_from=own.ledger.bars.whole_from)
        own.restart_worker()
        self._own = own

    def run(self, seconds: float) -> None:
        """Lets time pass, with a quote every few seconds."""
        until = self._now + seconds
        while self._now < until:
            self._now += STEP_SECONDS
            if quote := self._quoter.next_quote(int(self._now * 1000)):
                self._own.take(quote, self._now)
            for numbered in self._own.stream:
                for interval, bars in numbered.closing.bars.items():
                    if self._name in bars:
                        time, row = _row(bars[self._name])
                        self.told[interval][time] = row


def _row(bar: OwnBar) -> tuple[str, Row]:
    time = bar_time(datetime.fromtimestamp(bar.opened, UTC))
    return time, (bar.open, bar.high, bar.low, bar.close, bar.volume or 0.0)


def rows_of(bars: list[dict[str, Any]]) -> dict[str, Row]:
    return {
        each["time"]: tuple(float(each[name]) for name in ("open", "high", "low", "close", "volume"))
        for each in bars
    }


class Ways:
    """The ways to bars of one instrument."""

    def __init__(self, service: BarService, feed: Feed) -> None:
        self._service = service
        self._feed = feed
        self._path = f"/api/{feed.spec.name}/bars"
        self._symbol = NAMES[feed].replace("/", "-")
        self._length = "interval" if feed is Feed.STOCKS else "timeframe"

    async def all(self, interval: LiveInterval) -> dict[str, dict[str, Row]]:
        one = f"{self._path}/{self._symbol}?{self._length}={interval}"
        whole = f"{one}&range=1D" if self._feed is Feed.STOCKS else f"{one}&limit=500"
        found = {
            "whole": rows_of(await self._json(whole)),
            "pages": rows_of(await self._json(f"{one}&limit=1000&order=desc")),
            "batch": rows_of(
                (
                    await self._json(
                        f"{self._path}?symbols={self._symbol}&{self._length}={interval}&limit=1000"
                    )
                )[NAMES[self._feed]]
            ),
            "csv": rows_of(await self._csv(f"{one}&limit=1000&order=desc")),
            "mcp": await self._mcp(interval),
        }
        if interval in CHARTS or self._feed is Feed.CRYPTO:
            found["openbb"] = rows_of(await self._json(self._chart(interval)))
        if interval in RESOLUTIONS:
            found["udf"] = await self._udf(RESOLUTIONS[interval])
        return found

    async def page(self, start: str, end: str) -> dict[str, Row]:
        """Returns the bars of five minutes of a span."""
        length = f"{self._length}=5m&start={start}&end={end}&limit=1000"
        return rows_of(await self._json(f"{self._path}/{self._symbol}?{length}"))

    def _chart(self, interval: LiveInterval) -> str:
        chart = f"/api/openbb/{self._feed.spec.name}/bars?symbol={self._symbol}&raw=true"
        if self._feed is Feed.CRYPTO:
            return f"{chart}&timeframe={interval}"
        return f"{chart}&range={CHARTS[interval]}"

    async def _json(self, path: str) -> Any:
        answer = await self._service.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def _csv(self, path: str) -> list[dict[str, Any]]:
        answer = await self._service.get(f"{path}&format=csv")
        return list(csv.DictReader(io.StringIO(answer.text)))

    async def _udf(self, resolution: str) -> dict[str, Row]:
        found = await self._json(
            f"/api/udf/history?symbol={NAMES[self._feed]}&resolution={resolution}"
            f"&from=0&to={int(self._service.now)}&countback=1000"
        )
        assert found["s"] == "ok"
        times = [bar_time(datetime.fromtimestamp(each, UTC)) for each in found["t"]]
        return dict(zip(times, zip(*(found[name] for name in "ohlcv"), strict=True), strict=True))

    async def _mcp(self, interval: LiveInterval) -> dict[str, Row]:
        async with client_to(self._service.edge) as client:
            given = {
                "symbol": NAMES[self._feed],
                "feed": self._feed.spec.name,
                "interval": interval,
                "limit": 200,
            }
            found: Any = await ToolCalls().run("bars", given, Asking(client))
        return rows_of(found.rows)


@pytest.mark.slow
@pytest.mark.parametrize("feed", NAMES)
async def test_every_way_tells_the_final_bars_of_the_live_feed(feed: Feed) -> None:
    """After two simulated hours, bar by bar; the ways agree on all other bars, too."""
    market = Market(feed)
    market.run(HOURS * 3600)
    for interval in INTERVALS:
        told = market.told[interval]
        assert len(told) >= {"1m": 100, "5m": 23, "15m": 7, "1h": 1}[interval]
        for way, found in (await Ways(market.service, feed).all(interval)).items():
            assert {time: found.get(time) for time in told} == told, (way, interval)


@pytest.mark.parametrize("feed", NAMES)
async def test_ways_agree_before_the_first_own_bar(feed: Feed) -> None:
    """Where the feed has not heard a whole bar, all ways tell the upstream's."""
    market = Market(feed, BEGIN + 90)
    market.run(3600)
    ways = await Ways(market.service, feed).all("1h")
    begin = datetime.fromtimestamp(BEGIN, UTC)
    (bar,) = await market.history.bars(NAMES[feed], "1h", begin, begin.replace(hour=16))
    for way, found in ways.items():
        assert found[bar.time] == (bar.open, bar.high, bar.low, bar.close, bar.volume), way


async def test_a_page_of_earlier_weeks_reads_no_own_bars() -> None:
    market = Market(Feed.CRYPTO)
    market.run(HOURS * 3600)
    reads = market.service.stored.reads
    found = await Ways(market.service, Feed.CRYPTO).page("2026-11-10", "2026-11-11")
    assert len(found) == 288
    assert market.service.stored.reads == reads


@pytest.mark.parametrize(
    ("hour", "minute", "closes"), [(4, 59, [100.0, 404.0]), (5, 0, [100.0, 101.0]), (14, 29, [100.0, 101.0])]
)
async def test_bars_are_the_upstreams_from_midnight_to_the_opening(
    hour: int, minute: int, closes: list[float]
) -> None:
    """A split of 4:1 on Friday: its upstream has Thursday's bar in new shares by then."""
    service = new_service()
    friday = datetime(2026, 11, 20, hour, minute, tzinfo=UTC)
    days = [datetime(2026, 11, day, 5, tzinfo=UTC) for day in (18, 19)]
    service.reset(History(*map(bar, days, (100.0, 101.0))))
    service.now = friday.timestamp()
    service.info = FeedInfo(provider="test", bars_from=int(days[0].timestamp()))
    service.quote("AAPL", closes[-1], datetime(2026, 11, 19, 20, 59, 59, tzinfo=UTC))
    service.mirrors[Feed.STOCKS].bars.known_from = int(friday.timestamp())
    write_closes(service.stored, Feed.STOCKS, "AAPL", {"2026-11-18": 400.0, "2026-11-19": 404.0})
    for query in ("range=5D", "start=2026-11-18"):
        answer = await service.get(f"{APPLE}?{query}&interval=D")
        assert [each["close"] for each in answer.json()] == closes, query
