"""A closing that no calendar foresees, from Alpaca's clock to a worker's answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_rows import Trade
from fakes.alpaca_stream import FakeAlpacaStream
from quotecast.api.routes.bars import exchange_of
from quotecast.bus.memory import MemoryBus
from quotecast.feed.relay import Relay
from quotecast.ingest import lease
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.hours import AlpacaClock
from quotecast.stream.hubs import market_of
from support.alpaca_rest_made import APPLE, NOW
from support.factories import client_of, empty_mirrors, parts
from support.following import running, until

STATUS = "/api/market/status"
BARS = "/api/market/bars/AAPL?range=1D&interval=1h"


def new_york(text: str) -> datetime:
    """A moment of November 2026."""
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=NEW_YORK).astimezone(UTC)


def hourly(day: int, last: datetime) -> list[Trade]:
    """Trades at every half past, from the opening to the last."""
    opening = new_york(f"{day} 09:30")
    moments = [opening + timedelta(hours=number) for number in range(7)]
    return [Trade(moment, 270.0 + day) for moment in moments if moment <= last]


class World:
    """A local Alpaca, an ingest and a worker of one stock, at one moment."""

    def __init__(self, rest: FakeAlpaca, stream: FakeAlpacaStream, moment: str) -> None:
        rest.clock = new_york(moment).timestamp
        rest.free = False
        stream.feeds.add("sip")
        self.mirrors = empty_mirrors()
        self.clock = rest.clock
        self.provider = AlpacaProvider(
            rest.url,
            stream.websocket_url,
            *rest.keys,
            stocks=[APPLE],
            plan_feed="sip",
            exchange_clock=AlpacaClock(rest.url, *rest.keys, clock=rest.clock).answer,
            clock=rest.clock,
        )
        self.parts = parts(
            self.mirrors,
            clock=rest.clock,
            history={
                Feed.STOCKS: {
                    "alpaca": AlpacaHistory(
                        rest.url,
                        *rest.keys,
                        plan_feed="sip",
                        calendar=lambda: exchange_of(self.mirrors[Feed.STOCKS].info),
                        clock=rest.clock,
                    )
                }
            },
        )

    async def get(self, path: str) -> Any:
        async with client_of(self.parts) as client:
            return (await client.get(path)).json()


@asynccontextmanager
async def world(moment: str, **changes: Any) -> AsyncIterator[World]:
    """Serving once the worker knows what the ingest does."""
    bus = MemoryBus(asyncio.get_running_loop().time)
    async with FakeAlpaca() as rest, FakeAlpacaStream() as stream:
        made = World(rest, stream, moment)
        for name, value in changes.items():
            setattr(rest, name, value)
        await lease.acquire(bus, Feed.STOCKS, "ingest")
        leading = FeedPublisher(made.provider, bus, "ingest", clock=made.clock).run()
        mirror = made.mirrors[Feed.STOCKS]
        async with running(leading, Relay(bus, {Feed.STOCKS: mirror}).run()):
            await until(lambda: mirror.loaded and mirror.info)
            yield made


async def test_day_without_a_session_reaches_every_answer() -> None:
    """Status, heartbeats, bars of the day: the session before is the latest, and the next is tomorrow."""
    trades = {"AAPL": [*hourly(17, NOW), *hourly(18, NOW)]}
    async with world("19 12:00", trades=trades, closed_days={new_york("19 12:00").date()}) as made:
        status = await made.get(STATUS)
        bars = await made.get(BARS)
        heartbeat = market_of(made.mirrors[Feed.STOCKS], made.clock)()
    assert (status["marketOpen"], status["session"], heartbeat) == (False, "closed", "closed")
    assert status["nextOpen"] == "2026-11-20T14:30:00.000Z"
    assert status["nextClose"] == "2026-11-20T21:00:00.000Z"
    assert [bar["time"] for bar in bars][:2] == ["2026-11-18T14:30:00Z", "2026-11-18T15:00:00Z"]
    assert {bar["time"][:10] for bar in bars} == {"2026-11-18"}


async def test_halt_of_the_whole_market_reaches_every_answer() -> None:
    """The day's bars end with it."""
    halt = new_york("19 13:00")
    trades = {"AAPL": [*hourly(18, NOW), *hourly(19, halt)]}
    async with world("19 13:00", trades=trades, halted=True) as made:
        status = await made.get(STATUS)
        bars = await made.get(BARS)
        heartbeat = market_of(made.mirrors[Feed.STOCKS], made.clock)()
    assert (status["marketOpen"], status["session"], heartbeat) == (False, "closed", "closed")
    assert (bars[0]["time"], bars[-1]["time"]) == ("2026-11-19T14:30:00Z", "2026-11-19T17:00:00Z")


async def test_session_that_no_calendar_has_reaches_every_answer() -> None:
    """On a Saturday, with its bars."""
    day = TradingDay(
        new_york("21 12:00").date(),
        *(new_york(f"21 {hour}") for hour in ("04:00", "09:30", "16:00", "20:00")),
    )
    trades = {"AAPL": [*hourly(20, new_york("20 16:00")), *hourly(21, new_york("21 12:00"))]}
    async with world("21 12:00", trades=trades, special_days=[day]) as made:
        status = await made.get(STATUS)
        bars = await made.get(BARS)
        heartbeat = market_of(made.mirrors[Feed.STOCKS], made.clock)()
        quote = await made.get("/api/market/quotes/AAPL")
    assert (status["marketOpen"], status["session"], heartbeat) == (True, "regular", "open")
    assert status["nextClose"] == "2026-11-21T21:00:00.000Z"
    assert (bars[0]["time"], bars[-1]["time"]) == ("2026-11-21T14:30:00Z", "2026-11-21T16:00:00Z")
    assert (quote["price"], quote["previousClose"]) == (291.0, 290.0)


@pytest.mark.parametrize("moment", ["19 12:00", "20 19:00"])
async def test_exchange_that_keeps_its_calendar_is_open_by_it(moment: str) -> None:
    trades = [*hourly(18, new_york("18 16:00")), *hourly(int(moment[:2]), new_york(moment))]
    async with world(moment, trades={"AAPL": trades}) as made:
        status = await made.get(STATUS)
        info = made.mirrors[Feed.STOCKS].info
    assert info
    assert info.unscheduled is None
    assert status["marketOpen"] is (moment == "19 12:00")
