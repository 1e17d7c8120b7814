"""Factories of trades in New York hours, and the REST adapters with a local Alpaca."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, Final

import pytest

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_rows import Trade, asset
from quotecast.errors import UpstreamError
from quotecast.market.reference import Stock
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.news import AlpacaNews
from quotecast.providers.alpaca.offer import AlpacaClock
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.alpaca.universe import AlpacaAssets
from support.made.alpaca import trading_days_between

APPLE: Final = Stock("AAPL", "Apple", "NASDAQ", "Information Technology", "Hardware", 1, 1.0)

#: A Thursday, in the middle of a bar of every interval: 11:03:20 in New York.
NOW = datetime(2026, 11, 19, 16, 3, 20, tzinfo=UTC)


def new_york(text: str) -> datetime:
    """Returns a New York time of November 2026, such as `19 11:03`, in UTC."""
    return datetime.strptime(f"2026-11-{text}", "%Y-%m-%d %H:%M").replace(tzinfo=NEW_YORK).astimezone(UTC)


def day_trades(first: date, last: datetime, per_day: int, seed: int = 7) -> Iterator[Trade]:
    """Yields trades at random times from extended hours to extended hours, in eighths, some off IEX."""
    chance = Random(seed)
    for day in trading_days_between(first, last.astimezone(NEW_YORK).date()):
        seconds = int((day.post_close - day.pre_open).total_seconds())
        for second in sorted(chance.sample(range(seconds), per_day)):
            time = day.pre_open + timedelta(seconds=second)
            price, size = chance.randint(400, 800) / 8, chance.randint(1, 90)
            if time < last:
                yield Trade(time, price, size, on_iex=chance.random() < 0.5)


class Upstreams:
    """All REST adapters of one fake."""

    def __init__(self, fake: FakeAlpaca, **options: Any) -> None:
        given: dict[str, Any] = {"url": fake.url, "clock": fake.clock} | options
        key, secret = fake.keys
        rest = AlpacaRest(key=key, secret=secret, **given)
        self.history = AlpacaHistory(rest, plan_feed="iex")
        self.news = AlpacaNews(rest)
        self.assets = AlpacaAssets(rest, [APPLE])
        self.clock = AlpacaClock(rest)

    def ask(self, what: str) -> Awaitable[Any]:
        match what:
            case "bars":
                return self.history.bars("AAPL", "D", NOW - timedelta(days=3), NOW)
            case "news":
                return self.news.news()
            case "assets":
                return self.assets.assets()
            case _:
                return self.clock.market_clock()


#: The requests that `Upstreams.ask` supports.
EVERYTHING: Final = ("bars", "news", "assets", "clock")


@asynccontextmanager
async def local_rest() -> AsyncIterator[FakeAlpaca]:
    """Yields a fake with trades and assets, and without news."""
    async with FakeAlpaca() as fake:
        fake.clock = NOW.timestamp
        fake.trades = {"AAPL": [Trade(NOW - timedelta(days=1), 270)]}
        fake.assets = [asset("AAPL")]
        yield fake


async def failure(fake: FakeAlpaca, what: str, **options: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await Upstreams(fake, **options).ask(what)
    return caught.value
