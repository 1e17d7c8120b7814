"""Bars of the venues' streams: a minute that the feed closes is the venue's own, as its history has it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, NamedTuple

import pytest

from quotecast.bus.base import FeedInfo
from quotecast.ingest.ledger import Ledger
from quotecast.market.bars import Bar, bar_time
from quotecast.market.own_bars import OwnBar
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.base import HistoryProvider, QuoteProvider
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.binance.history import BinanceHistory
from quotecast.providers.kraken.client import KrakenProvider
from quotecast.providers.kraken.history import KrakenHistory
from quotecast.simulation.vendors.alpaca.server import AlpacaServer
from quotecast.simulation.vendors.binance.server import BinanceServer
from quotecast.simulation.vendors.kraken.server import KrakenServer
from quotecast.simulation.vendors.market import Market, utc
from support.runs.manual_clock import ManualClock
from support.runs.waits import until

SEED: Final = 7
MINUTE: Final = 60_000
#: Thursday, 2026-11-19, 15:00:30 in New York.
START: Final = 1_795_118_430_000
#: The first whole minute.
FIRST: Final = START + 30_000


class Venue(NamedTuple):
    """A simulated venue, and our adapters of it."""

    server: Any
    quotes: QuoteProvider
    history: HistoryProvider
    symbol: str


@asynccontextmanager
async def alpaca(market: Market, clock: ManualClock) -> AsyncIterator[Venue]:
    async with AlpacaServer(market, clock, rate=100.0) as server:
        rest = AlpacaRest(server.url, "key", "secret", clock=lambda: clock.moment() / 1000)
        quotes = AlpacaProvider(rest, server.websocket_url, stocks=[market.stocks["AAPL"]], plan_feed="sip")
        history = AlpacaHistory(rest, plan_feed="sip")
        yield Venue(server, quotes, history, "AAPL")


@asynccontextmanager
async def binance(market: Market, clock: ManualClock) -> AsyncIterator[Venue]:
    async with BinanceServer(market, clock, rate=100.0) as server:
        quotes = BinanceProvider(
            server.url, server.websocket_url, ["BTC/USDT"], clock=lambda: clock.moment() / 1000
        )
        history = BinanceHistory(server.url, clock=lambda: clock.moment() / 1000)
        yield Venue(server, quotes, history, "BTC/USDT")


@asynccontextmanager
async def kraken(market: Market, clock: ManualClock) -> AsyncIterator[Venue]:
    async with KrakenServer(market, clock, rate=100.0) as server:
        quotes = KrakenProvider(
            f"{server.websocket_url}/v2", ["BTC/USD"], clock=lambda: clock.moment() / 1000
        )
        yield Venue(server, quotes, KrakenHistory(server.url), "BTC/USD")


class Following:
    """A ledger that takes a venue's updates at the market's time."""

    def __init__(self, venue: Venue, clock: ManualClock) -> None:
        self.ledger = Ledger(venue.quotes.feed)
        self.minutes: set[int] = set()
        self.quoted = False
        self._venue = venue
        self._clock = clock

    async def run(self) -> None:
        async with aclosing(self._venue.quotes.updates()) as updates:
            async for update in updates:
                self.minutes |= {each.bar.opened for each in update.bars}
                self.ledger.take(update, self._clock.moment() / 1000)
                self.quoted = self.quoted or bool(update.quotes)

    def closed(self) -> dict[int, OwnBar]:
        """Returns the closed minutes, by opening."""
        closings = self.ledger.begin("epoch", FeedInfo(provider="test")).closings
        bars = [bar for each in closings for bar in each.closing.bars.get("1m", {}).values()]
        return {bar.opened: bar for bar in bars}


def values(bar: OwnBar | Bar) -> tuple[float, ...]:
    return bar.open, bar.high, bar.low, bar.close, bar.volume or 0.0


@pytest.mark.slow
@pytest.mark.parametrize("open_venue", [alpaca, binance, kraken])
async def test_a_closed_minute_is_the_venues(open_venue: Callable[..., Any]) -> None:
    clock = ManualClock(START)
    async with open_venue(Market(SEED), clock) as venue:
        following = Following(venue, clock)
        task = asyncio.create_task(following.run())
        await until(lambda: following.quoted and venue.server.followed())

        async def pass_time(end: int) -> None:
            while clock.moment() < end:
                clock.advance(250)
                venue.server.tick()
                await asyncio.sleep(0)

        await pass_time(FIRST + MINUTE + 1000)
        # Alpaca sends minutes that ended; elsewhere the next minute's first message comes after the last.
        last = FIRST if open_venue is alpaca else FIRST + MINUTE
        await until(lambda: last // 1000 in following.minutes)
        await pass_time(FIRST + MINUTE + 3000)
        following.ledger.close_bars(clock.moment() / 1000)
        task.cancel()
        bar = following.closed()[FIRST // 1000]
        end = utc(FIRST + MINUTE)
        found = await venue.history.bars(venue.symbol, "1m", utc(FIRST), end)
    assert [each.time for each in found] == [bar_time(utc(FIRST))]
    assert values(bar) == values(found[0])
