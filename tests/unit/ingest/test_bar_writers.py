"""The writers of bars that an ingest starts, by its settings."""

import asyncio

import pytest

from quotecast.background import run_beside
from quotecast.database.database import Database
from quotecast.history.writer import BarWriter
from quotecast.ingest.bars import bar_writers, market_of, retention_days
from quotecast.ingest.main import _introduction
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.settings.loading import load
from support.made.memory_bus import MemoryBus

STOCKS = SimulatorProvider(Feed.STOCKS, seed=1, rate=1.0, speed=1.0, always_open=True)


async def test_without_a_database_there_is_no_writer() -> None:
    """Bars are live only, and the first line of the ingest says so."""
    statistics = {feed: IngestStatistics() for feed in Feed}
    async with bar_writers(load({}), MemoryBus(lambda: 0.0), statistics) as make:
        assert make is None
    assert "bars are live only" in _introduction([], with_bars=False)
    assert "bars" not in _introduction([], with_bars=True)


async def test_with_a_database_each_feed_has_a_writer() -> None:
    """None connects before it has something to write: there may be no server yet."""
    settings = load({"QUOTECAST_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"})
    statistics = {feed: IngestStatistics() for feed in Feed}
    async with bar_writers(settings, MemoryBus(lambda: 0.0), statistics) as make:
        assert make is not None
        assert isinstance(make(Feed.STOCKS, market_of(STOCKS)), BarWriter)


def test_each_interval_has_a_retention_of_its_own() -> None:
    settings = load({"QUOTECAST_BARS_1M_DAYS": "7", "QUOTECAST_BARS_D_DAYS": "400"})
    assert retention_days(settings) == {"1m": 7, "5m": 180, "15m": 365, "1h": 3650, "D": 400}


async def test_a_writer_that_fails_in_any_way_ends_neither_itself_nor_its_feed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It tries again, later each time, for as long as the feed is led, and not after that."""
    waits: list[float] = []
    enough = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 6:
            enough.set()
        await asyncio.sleep(0)

    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    bus = MemoryBus(lambda: 0.0)
    monkeypatch.setattr(bus, "closings_after", fail)
    database = Database("postgresql://nobody@127.0.0.1:1/none", pool_size=1)
    writer = BarWriter(Feed.STOCKS, bus, database, {}, sleep=sleep)
    begun = asyncio.Event()
    async with database, asyncio.timeout(100), run_beside(writer.run_after(begun)):
        await asyncio.sleep(60)
        assert not waits, "before the epoch begins, Redis may hold another market's bars"
        begun.set()
        await enough.wait()
    count = len(waits)
    assert waits[0] < waits[3] <= max(waits) <= 5
    await asyncio.sleep(0)
    assert len(waits) == count
