"""A local Alpaca, REST and stream, and an adapter whose pauses the test ends."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, time
from typing import Any, Final

import pytest

from fakes.alpaca import FakeAlpaca, GivenRows
from fakes.alpaca_rows import row_of
from fakes.alpaca_stream import FakeAlpacaStream
from fakes.http import Answer, HttpRequest, Row
from quotecast.errors import UpstreamError
from quotecast.market.reference import Stock
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.base import Update, unlimited
from quotecast.simulation.vendors.alpaca.query import Span
from quotecast.simulation.vendors.alpaca.rest import PAID_CALLS
from quotecast.simulation.vendors.alpaca.timeframes import Timeframe
from support.made.alpaca import AAPL, CLOSES, NOON, SNAPSHOT, snapshot, trading_days_between
from support.runs.deadlines import scaled

PATH: Final = "/v2/stocks/snapshots"
MICROSOFT: Final = Stock("MSFT", "Microsoft", "NASDAQ", "Technology", "Software", 7_000_000_000, 500.0)
STOCKS: Final = [AAPL, MICROSOFT]


class FakeSnapshots(FakeAlpaca):
    """A fake Alpaca with given snapshots, and the same daily bars of every stock."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.rows: dict[str, Row | None] = {"AAPL": SNAPSHOT, "MSFT": snapshot(latestTrade={"p": 231.5})}
        self.free = False
        self.calls_per_minute = PAID_CALLS
        self.source = SnapshotRows(self)
        self.names_bad_symbol = True
        #: Responses to requests that include a ticker, whatever else they include.
        self.spoiled: dict[str, Answer] = {}
        #: Set by each request.
        self.was_asked = asyncio.Event()

    @property
    def asked(self) -> list[list[str]]:
        """Returns the tickers of each snapshot request."""
        return [request.query["symbols"].split(",") for request in self.requests if request.path == PATH]

    def respond(self, request: HttpRequest) -> Answer:
        self.was_asked.set()
        answer = super().respond(request)
        if request.path != PATH or answer.status == 403:
            return answer
        for ticker in request.query["symbols"].split(","):
            if ticker in self.spoiled:
                return self.spoiled[ticker]
        if answer.status == 400 and not self.names_bad_symbol:
            return Answer.of({"message": "invalid symbols are invalid"}, 400)
        return answer


class SnapshotRows(GivenRows):
    """The rows of FakeSnapshots."""

    def __init__(self, fake: FakeSnapshots) -> None:
        super().__init__(fake)
        self._rows = fake

    def snapshot(self, symbol: str, feed: str) -> Row | None:
        del feed
        return self._rows.rows.get(symbol)

    def bars(
        self, symbol: str, timeframe: Timeframe, span: Span, feed: str, *, adjusted: bool
    ) -> Iterator[Row]:
        del symbol, timeframe, feed, adjusted
        for day in trading_days_between(span.start.date(), span.end.date()):
            midnight = datetime.combine(day.date, time(), NEW_YORK)
            close = CLOSES.get(f"{day.date}", 229.1)
            if span.start <= midnight <= span.end:
                yield row_of(midnight, (close, close, close, close), 812_345)


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
        async with asyncio.timeout(scaled(10)):
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
        keys, admitted = more.pop("keys", ("key", "secret")), more.pop("admitted", unlimited)
        rest = AlpacaRest(self.rest.url, *keys, admitted=admitted, clock=lambda: self.now)
        options = {"sleep": self.sleep, "chance": lambda: 1.0} | more
        return AlpacaProvider(rest, self.stream.websocket_url, stocks=stocks, **options)


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
