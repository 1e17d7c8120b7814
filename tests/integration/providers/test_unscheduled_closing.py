"""An unscheduled closure, from Alpaca's clock to a worker's responses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_rows import Trade
from fakes.alpaca_stream import FakeAlpacaStream
from quotecast.api.bars.market import exchange_of
from quotecast.feed.bus_listener import BusListener
from quotecast.ingest import lease
from quotecast.ingest.publish import FeedPublisher, IngestStatistics
from quotecast.ingest.sources import Failover
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.offer import AlpacaClock
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.base import Admission, QuoteProvider, unlimited
from quotecast.stream.hubs import market_of
from support.made.alpaca_rest import APPLE, NOW
from support.made.factories import client_of, empty_mirrors, services
from support.made.memory_bus import MemoryBus
from support.runs.waits import until
from support.stages.following import running

STATUS = "/api/market/status"
BARS = "/api/market/bars/AAPL?range=1D&interval=1h"


def new_york(text: str) -> datetime:
    """Returns a New York time of November 2026 in UTC."""
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=NEW_YORK).astimezone(UTC)


def hourly_trades(day: int, last: datetime) -> list[Trade]:
    """Returns hourly trades at half past, from the opening to `last`."""
    opening = new_york(f"{day} 09:30")
    moments = [opening + timedelta(hours=number) for number in range(7)]
    return [Trade(moment, 270.0 + day) for moment in moments if moment <= last]


class World:
    """A local Alpaca, an ingest and a worker with one stock, at one moment."""

    def __init__(self, rest: FakeAlpaca, stream: FakeAlpacaStream, moment: str) -> None:
        rest.clock = new_york(moment).timestamp
        rest.free = False
        stream.feeds.add("sip")
        self.mirrors = empty_mirrors()
        self.clock = rest.clock
        self.rest = rest
        self.stream = stream
        self.provider = self.new_provider()
        self.services = services(
            self.mirrors,
            clock=rest.clock,
            history={
                Feed.STOCKS: {
                    "alpaca": AlpacaHistory(
                        AlpacaRest(rest.url, *rest.keys, clock=rest.clock),
                        plan_feed="sip",
                        calendar=lambda: exchange_of(self.mirrors[Feed.STOCKS].info),
                    )
                }
            },
        )

    def new_provider(self, admitted: Admission = unlimited) -> AlpacaProvider:
        """Returns the provider of a new process, with the fake's clock."""
        rest = AlpacaRest(self.rest.url, *self.rest.keys, admitted=admitted, clock=self.rest.clock)
        trading = AlpacaRest(self.rest.url, *self.rest.keys, clock=self.rest.clock)
        return AlpacaProvider(
            rest,
            self.stream.websocket_url,
            stocks=[APPLE],
            plan_feed="sip",
            exchange_clock=AlpacaClock(trading).market_clock,
        )

    async def get(self, path: str) -> Any:
        async with client_of(self.services) as client:
            return (await client.get(path)).json()


@asynccontextmanager
async def world(moment: str, **changes: Any) -> AsyncIterator[World]:
    """Yields a world whose worker has received the ingest's state."""
    bus = MemoryBus(asyncio.get_running_loop().time)
    async with FakeAlpaca() as rest, FakeAlpacaStream() as stream:
        running_world = World(rest, stream, moment)
        for name, value in changes.items():
            setattr(rest, name, value)
        await lease.acquire(bus, Feed.STOCKS, "ingest")
        leading = FeedPublisher(running_world.provider, bus, "ingest", clock=running_world.clock).run()
        mirror = running_world.mirrors[Feed.STOCKS]
        async with running(leading, BusListener(bus, {Feed.STOCKS: mirror}).run()):
            await until(lambda: mirror.loaded and mirror.info)
            yield running_world


async def test_day_without_a_session_reaches_every_answer() -> None:
    """On a day without a session, status, heartbeat and bars show the preceding one."""
    trades = {"AAPL": [*hourly_trades(17, NOW), *hourly_trades(18, NOW)]}
    async with world("19 12:00", trades=trades, closed_days={new_york("19 12:00").date()}) as running_world:
        status = await running_world.get(STATUS)
        bars = await running_world.get(BARS)
        heartbeat = market_of(running_world.mirrors[Feed.STOCKS], running_world.clock)()
    assert (status["marketOpen"], status["session"], heartbeat) == (False, "closed", "closed")
    assert status["nextOpen"] == "2026-11-20T14:30:00.000Z"
    assert status["nextClose"] == "2026-11-20T21:00:00.000Z"
    assert [bar["time"] for bar in bars][:2] == ["2026-11-18T14:30:00Z", "2026-11-18T15:00:00Z"]
    assert {bar["time"][:10] for bar in bars} == {"2026-11-18"}


async def test_halt_of_the_whole_market_reaches_every_answer() -> None:
    """A market-wide halt closes the market and ends the day's bars."""
    halt = new_york("19 13:00")
    trades = {"AAPL": [*hourly_trades(18, NOW), *hourly_trades(19, halt)]}
    async with world("19 13:00", trades=trades, halted=True) as running_world:
        status = await running_world.get(STATUS)
        bars = await running_world.get(BARS)
        heartbeat = market_of(running_world.mirrors[Feed.STOCKS], running_world.clock)()
    assert (status["marketOpen"], status["session"], heartbeat) == (False, "closed", "closed")
    assert (bars[0]["time"], bars[-1]["time"]) == ("2026-11-19T14:30:00Z", "2026-11-19T17:00:00Z")


async def test_session_that_no_calendar_has_reaches_every_answer() -> None:
    """An unscheduled session on a Saturday appears in status, heartbeat, bars and quotes."""
    day = TradingDay(
        new_york("21 12:00").date(),
        *(new_york(f"21 {hour}") for hour in ("04:00", "09:30", "16:00", "20:00")),
    )
    trades = {"AAPL": [*hourly_trades(20, new_york("20 16:00")), *hourly_trades(21, new_york("21 12:00"))]}
    async with world("21 12:00", trades=trades, special_days=[day]) as running_world:
        status = await running_world.get(STATUS)
        bars = await running_world.get(BARS)
        heartbeat = market_of(running_world.mirrors[Feed.STOCKS], running_world.clock)()
        quote = await running_world.get("/api/market/quotes/AAPL")
    assert (status["marketOpen"], status["session"], heartbeat) == (True, "regular", "open")
    assert status["nextClose"] == "2026-11-21T21:00:00.000Z"
    assert (bars[0]["time"], bars[-1]["time"]) == ("2026-11-21T14:30:00Z", "2026-11-21T16:00:00Z")
    assert (quote["price"], quote["previousClose"]) == (291.0, 290.0)


@pytest.mark.parametrize("moment", ["19 12:00", "20 19:00"])
async def test_exchange_that_keeps_its_calendar_is_open_by_it(moment: str) -> None:
    trades = [*hourly_trades(18, new_york("18 16:00")), *hourly_trades(int(moment[:2]), new_york(moment))]
    async with world(moment, trades={"AAPL": trades}) as running_world:
        status = await running_world.get(STATUS)
        info = running_world.mirrors[Feed.STOCKS].info
    assert info
    assert info.unscheduled is None
    assert status["marketOpen"] is (moment == "19 12:00")


@pytest.mark.parametrize(
    ("takeover_at", "has_failover"), [("19 15:00", False), ("19 15:58", True), ("19 17:00", False)]
)
async def test_new_leader_has_the_halt_before_and_after_its_first_poll(
    takeover_at: str, *, has_failover: bool
) -> None:
    """The session's close is the time of the halt, not the start of the new leader."""
    bus = MemoryBus(asyncio.get_running_loop().time)
    may_poll, statistics = asyncio.Event(), IngestStatistics()

    async def admitted() -> None:
        await may_poll.wait()

    async with FakeAlpaca() as rest, FakeAlpacaStream() as stream:
        running_world = World(rest, stream, "19 13:01")
        halt = new_york("19 13:00")
        rest.trades = {"AAPL": [*hourly_trades(18, NOW), *hourly_trades(19, halt)]}
        rest.halted = True
        mirror = running_world.mirrors[Feed.STOCKS]
        async with running(BusListener(bus, {Feed.STOCKS: mirror}).run()):
            await lease.acquire(bus, Feed.STOCKS, "first")
            async with running(FeedPublisher(running_world.provider, bus, "first", clock=rest.clock).run()):
                await until(lambda: mirror.info and mirror.info.unscheduled)
            first, epoch = mirror.info, mirror.epoch
            await bus.release(Feed.STOCKS, "first")

            rest.clock = new_york(takeover_at).timestamp
            provider: QuoteProvider = running_world.new_provider(admitted)
            if has_failover:
                provider = Failover([provider, running_world.new_provider(admitted)])
            await lease.acquire(bus, Feed.STOCKS, "second")
            leader = FeedPublisher(provider, bus, "second", clock=rest.clock, statistics=statistics)
            async with running(leader.run()):
                await until(lambda: mirror.epoch != epoch)
                before_poll = mirror.info
                may_poll.set()
                await until(lambda: statistics.heard_at)
                heartbeat = mirror.info
                await until(lambda: mirror.info is not heartbeat)
                after_poll = mirror.info
    assert first
    assert before_poll
    assert after_poll
    assert first.unscheduled
    assert first.unscheduled.close == new_york("19 13:01")
    assert (before_poll.unscheduled, after_poll.unscheduled) == (first.unscheduled, first.unscheduled)
