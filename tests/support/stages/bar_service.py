"""A worker with one fake history of bars."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

import httpx
from msgspec.structs import replace

from quotecast.bus.base import FeedInfo
from quotecast.cache.base import Cached, Fetch, Policy
from quotecast.errors import UpstreamError
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, LiveInterval, OwnBar
from quotecast.market.quotes import Quote
from quotecast.providers.base import HistoryProvider
from support.made.factories import NOW, client_to, edge_of, empty_mirrors, mirror_of, services
from support.made.market import pair, stock
from support.made.memory_cache import MemoryCache

APPLE = "/api/market/bars/AAPL"
BITCOIN = "/api/crypto/bars/BTC%2FUSDT"
#: 10:30 on a Friday in New York.
FRIDAY = datetime.fromtimestamp(NOW, UTC)


def bar(time: datetime, close: float = 100.0) -> Bar:
    return Bar(bar_time(time), 100.0, 101.0, 99.0, close, 5000.0)


class History:
    """A provider that returns its bars for any query, or raises its error."""

    name = "test"

    def __init__(self, *bars: Bar) -> None:
        self.answer: Sequence[Bar] = bars
        self.error: Exception | None = None
        self.calls: list[tuple[str, Interval, datetime, datetime]] = []

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        self.calls.append((symbol, interval, start, end))
        if self.error is not None:
            raise self.error
        return self.answer


class Stored:
    """Stored bars in memory."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.bars: dict[tuple[str, LiveInterval, str], dict[int, OwnBar]] = defaultdict(dict)
        self.reads = 0
        self.error: Exception | None = None

    def write(self, series: str, closing: Closing) -> None:
        for interval, by_symbol in closing.bars.items():
            for symbol, bar in by_symbol.items():
                self.bars[series, interval, symbol].setdefault(bar.opened, bar)

    async def read(
        self, series: str, symbols: Sequence[str], interval: LiveInterval, start: datetime, end: datetime
    ) -> dict[str, list[OwnBar]]:
        self.reads += 1
        if self.error is not None:
            raise self.error
        return {
            symbol: [
                bar
                for opened, bar in sorted(self.bars[series, interval, symbol].items())
                if start.timestamp() <= opened < end.timestamp()
            ]
            for symbol in symbols
        }


#: Hours from UTC's midnight to that of New York, UTC and Istanbul.
_MIDNIGHTS = {Feed.STOCKS: 5, Feed.CRYPTO: 0, Feed.DOVIZ: -3}


def write_closes(stored: Stored, feed: Feed, symbol: str, closes: Mapping[str, float]) -> None:
    """Stores daily bars by the venue's date."""
    for day, close in closes.items():
        opened = datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(hours=_MIDNIGHTS[feed])
        bar = OwnBar(int(opened.timestamp()), close, close, close, close, None, 1)
        stored.write(feed, Closing(bar.opened + 86_400, {"D": {symbol: bar}}, {}))


class BarService:
    """A worker with one history, and a clock that a test moves."""

    def __init__(self) -> None:
        self.mirrors = empty_mirrors()
        self.stored = Stored()
        self.sparklines: dict[tuple[Feed, str], tuple[float, bytes]] = {}
        self.histories: dict[Feed, dict[str, HistoryProvider]] = {}
        self.edge = edge_of(
            services(
                self.mirrors,
                history=self.histories,
                cache=self,
                clock=lambda: self.now,
                past_reads=lambda _upstream: self.admit,
                stored_bars=self.stored,
                sparklines=self.sparklines,
            )
        )
        self.reset(History())

    def reset(self, history: History) -> None:
        self.now = NOW
        self.stored.clear()
        self.sparklines.clear()
        #: Calls for bars of the past that are left.
        self.past_calls = 1_000_000
        self.info = FeedInfo(provider="test")
        self.history = history
        self.histories.update({feed: {"test": history} for feed in (Feed.STOCKS, Feed.CRYPTO)})
        self.cache = MemoryCache(lambda: self.now)
        self.quote("AAPL", 100.0, FRIDAY)
        self.quote("BTC/USDT", 100.0, FRIDAY)

    async def admit(self) -> None:
        """Counts a call for bars of the past."""
        if self.past_calls == 0:
            raise UpstreamError("no calls left", retry_after=7)
        self.past_calls -= 1

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        """Returns the cache of the present test."""
        return await self.cache.read(key, policy, fetch)

    def quote(self, symbol: str, price: float, at: datetime) -> None:
        """Replaces the mirror's quotes by one price of one symbol."""
        quote = pair(symbol, price) if "/" in symbol else stock(symbol, price)
        timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.quotes(Feed.CRYPTO if "/" in symbol else Feed.STOCKS, [replace(quote, timestamp=timestamp)])

    def quotes(self, feed: Feed, quotes: Sequence[Quote]) -> None:
        self.mirrors[feed] = mirror_of(feed, quotes, info=self.info)

    async def get(self, path: str, **headers: str) -> httpx.Response:
        async with client_to(self.edge) as client:
            return await client.get(path, headers=headers)

    async def raw(self, path: str, **headers: str) -> tuple[httpx.Headers, bytes]:
        """Returns the body as bytes."""
        async with client_to(self.edge) as client, client.stream("GET", path, headers=headers) as answer:
            return answer.headers, b"".join([chunk async for chunk in answer.aiter_raw()])


def new_service() -> BarService:
    """Returns a service whose history ends with the bar in progress."""
    service = _service()
    service.reset(History(*(bar(FRIDAY - timedelta(minutes=5 * n)) for n in (3, 2, 1, 0))))
    return service


@cache
def _service() -> BarService:
    """Returns the application, shared by one test after the other: building it is slower than most tests."""
    return BarService()
