"""A local Alpaca, REST and stream, and an adapter whose pauses the test ends."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, time
from typing import Any, Final

import pytest

from fakes.alpaca_rows import row_of
from fakes.alpaca_stream import FakeAlpacaStream
from fakes.http import Answer, FakeHttp, HttpRequest, Row
from quotecast.errors import UpstreamError
from quotecast.market.sessions import NEW_YORK, trading_days_between
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.base import Update
from quotecast.providers.reference import Stock
from support.alpaca_made import AAPL, CLOSES, NOON, SNAPSHOT, snapshot

PATH: Final = "/v2/stocks/snapshots"
BARS: Final = "/v2/stocks/bars"
MICROSOFT: Final = Stock("MSFT", "Microsoft", "NASDAQ", "Technology", "Software", 7_000_000_000, 500.0)
STOCKS: Final = [AAPL, MICROSOFT]

_WELL_FORMED: Final = re.compile(r"[A-Z]+(\.[A-Z]+)?")


class FakeSnapshots(FakeHttp):
    """Fake REST host with snapshots and daily bars."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, Row | None] = {"AAPL": SNAPSHOT, "MSFT": snapshot(latestTrade={"p": 231.5})}
        self.keys = ("key", "secret")
        self.names_bad_symbol = True
        #: Responses to requests that include a ticker, whatever else they include.
        self.spoiled: dict[str, Answer] = {}
        #: Set by each request.
        self.was_asked = asyncio.Event()

    @property
    def asked(self) -> list[list[str]]:
        """Returns the tickers of each snapshot request."""
        return [request.query["symbols"].split(",") for request in self.requests if request.path == PATH]

    def respond(self, asked: HttpRequest) -> Answer:
        self.was_asked.set()
        given = asked.headers.get("APCA-API-KEY-ID"), asked.headers.get("APCA-API-SECRET-KEY")
        tickers = asked.query.get("symbols", "").split(",")
        if given != self.keys:
            return Answer.of({"message": "forbidden."}, 403)
        if asked.path == BARS:
            return Answer.of({"bars": {each: self._days(asked) for each in tickers}, "next_page_token": None})
        if asked.path != PATH or asked.query.get("feed") not in {"iex", "sip"}:
            return Answer.of({"message": "not found"}, 404)
        for ticker in tickers:
            if ticker in self.spoiled:
                return self.spoiled[ticker]
            if not _WELL_FORMED.fullmatch(ticker):
                named = f": {ticker}" if self.names_bad_symbol else "s are invalid"
                return Answer.of({"message": f"invalid symbol{named}"}, 400)
        return Answer.of({ticker: self.rows[ticker] for ticker in tickers if ticker in self.rows})

    def _days(self, asked: HttpRequest) -> list[Row]:
        """Daily bars from `start` to `end`, the same of every stock."""
        first, last = (datetime.fromisoformat(asked.query[name]) for name in ("start", "end"))
        days = trading_days_between(first.date(), last.date())
        midnights = [(day, datetime.combine(day.date, time(), NEW_YORK)) for day in days]
        return [
            row_of(midnight, (close, close, close, close), 812_345)
            for day, midnight in midnights
            if first <= midnight <= last
            for close in [CLOSES.get(f"{day.date}", 229.1)]
        ]


class Naps:
    """Sleeps that the test ends."""

    def __init__(self) -> None:
        self._asleep: asyncio.Queue[tuple[float, asyncio.Event]] = asyncio.Queue()
        self._over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        over = asyncio.Event()
        self._asleep.put_nowait((seconds, over))
        await over.wait()

    async def wait_until_asleep(self) -> float:
        """Waits for the next sleep to begin; returns its requested seconds."""
        async with asyncio.timeout(10):
            seconds, self._over = await self._asleep.get()
        return seconds

    async def end(self) -> float:
        """Ends the next sleep once it has begun; returns its requested seconds."""
        seconds = await self.wait_until_asleep()
        self._over.set()
        return seconds

    def wake(self) -> None:
        """Ends the sleep that `wait_until_asleep` returned."""
        self._over.set()


class LocalAlpaca:
    """Fake REST host and fake stream, and the clock of the adapters made here."""

    def __init__(self) -> None:
        self.rest = FakeSnapshots()
        self.stream = FakeAlpacaStream()
        #: Pauses between polls, and between connection attempts of the stream.
        self.polls = Naps()
        self.tries = Naps()
        self.poll_seconds = {15.0, 300.0}
        self.now = NOON

    async def sleep(self, seconds: float) -> None:
        await (self.polls if seconds in self.poll_seconds else self.tries).sleep(seconds)

    def provider(self, stocks: Sequence[Stock] = STOCKS, **more: Any) -> AlpacaProvider:
        key, secret = more.pop("keys", ("key", "secret"))
        options = {"clock": lambda: self.now, "sleep": self.sleep, "chance": lambda: 1.0} | more
        return AlpacaProvider(self.rest.url, self.stream.websocket_url, key, secret, stocks=stocks, **options)


@asynccontextmanager
async def local_alpaca() -> AsyncIterator[LocalAlpaca]:
    local = LocalAlpaca()
    async with local.rest, local.stream:
        yield local


async def failure(provider: AlpacaProvider) -> UpstreamError:
    """Returns the error that ends the updates."""
    with pytest.raises(UpstreamError) as caught:
        async for _ in provider.updates():
            pass
    return caught.value


def prices(update: Update) -> dict[str, float]:
    """Returns the prices of an update, by ticker."""
    return {quote.key: quote.price for quote in update.quotes}
