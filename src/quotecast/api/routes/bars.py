"""Bars of one instrument: the cached history of the upstream, closed with the current price."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.api.answers import Answer, feed_headers
from quotecast.api.routes import series
from quotecast.api.routes.bar_parameters import MAX_BARS, count_of, range_and_interval, timeframe_of
from quotecast.api.services import Services, require_mirror
from quotecast.bus.base import FeedInfo
from quotecast.cache.base import Cached, Policy
from quotecast.errors import ProviderMissing, SymbolNotFound
from quotecast.market.bars import Bar, Interval, bars_with_price, opening_of_bar
from quotecast.market.calendars import EXCHANGE, Calendar, Exchange, is_open
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.ranges import start_of, start_of_newest

#: Seconds for which clients may cache bars while the market trades, and while it rests.
MAX_AGE: Final = 5
RESTING_SECONDS: Final = 60
#: Seconds for which a cached history is fresh; the last bar always closes with the current quote.
_FRESH: Final[dict[Interval, int]] = {
    "1m": 5,
    "5m": 5,
    "15m": 10,
    "30m": 10,
    "1h": 15,
    "4h": 30,
    "D": 30,
    "W": 60,
    "M": 60,
}
#: A stale history may be served for this multiple of its fresh time: an hour for `1m`, half a day for `M`.
_STALE: Final = 720
#: Numbers of bars to fetch: requests for fewer share a cached history.
_SIZES: Final = (100, 500, MAX_BARS)
#: Seconds for which an answer is sent again while the price is unchanged; `Age` counts whole seconds.
HELD_SECONDS: Final = 0.5
#: The resolution of timestamps in quotes.
_TICK: Final = timedelta(milliseconds=1)


class Market(Struct, frozen=True):
    """The current price of an instrument, its time, and the time and calendar of its market."""

    symbol: str
    #: The provider of the price; only its bars fit the price.
    provider: str
    price: float
    traded: datetime
    moment: datetime
    calendar: Calendar
    #: Of the mirror's entry.
    revision: int
    #: Whether the market is closed, and stays closed for RESTING_SECONDS before and after now.
    resting: bool


class HistorySpan(Struct, frozen=True):
    """A part of a history; its `name` is a part of the cache key."""

    name: str
    interval: Interval
    start: datetime
    limit: int | None = None


async def stock_bars(services: Services, symbol: str, span: str, interval: str | None) -> Answer:
    """Returns the bars of a range that ends now."""
    wanted, length = range_and_interval(span, interval)
    market = _market(services, Feed.STOCKS, symbol)
    start = start_of(wanted, market.calendar, market.moment)
    return await _answer(services, Feed.STOCKS, market, HistorySpan(f"{start:%Y%m%dT%H%M}", length, start))


async def crypto_bars(services: Services, symbol: str, timeframe: str, limit: str) -> Answer:
    """Returns the newest bars."""
    length, count = timeframe_of(timeframe), count_of(limit)
    market = _market(services, Feed.CRYPTO, symbol)
    size = next(size for size in _SIZES if size >= count)
    start = start_of_newest(size, length, market.moment)
    return await _answer(services, Feed.CRYPTO, market, HistorySpan(f"newest{size}", length, start, count))


def _market(services: Services, feed: Feed, symbol: str) -> Market:
    """Returns the market of a symbol. Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = require_mirror(services, feed)
    entry = mirror.find(symbol)
    if entry is None or entry.quote is None:
        raise SymbolNotFound
    info, quote = mirror.info, entry.quote
    calendar = _calendar(feed, info)
    now = datetime.fromtimestamp(services.clock(), UTC)
    traded = datetime.fromisoformat(quote.timestamp) if quote.timestamp else now
    pause = timedelta(seconds=RESTING_SECONDS)
    return Market(
        symbol=quote.key,
        provider=_provider(quote, info),
        price=quote.price,
        traded=traded,
        # Simulated and recorded feeds have a time of their own: the timestamp of the quote.
        moment=traded if info is not None and info.simulated else now,
        calendar=calendar,
        revision=entry.revision,
        resting=not is_open(calendar, now - pause) and not is_open(calendar, now + pause),
    )


def _provider(quote: Quote, info: FeedInfo | None) -> str:
    """Returns the provider of a quote; after a failover a pair names it before the feed's state does."""
    if isinstance(quote, StockQuote):
        return info.provider if info is not None else ""
    return quote.provider


def exchange_of(info: FeedInfo | None) -> Exchange:
    """Returns the exchange's calendar, with the deviations of today that its own clock reports."""
    return Exchange(info.unscheduled) if info and info.unscheduled else EXCHANGE


def _calendar(feed: Feed, info: FeedInfo | None) -> Calendar:
    if info is not None and info.always_open:
        return feed.spec.always_open
    return exchange_of(info) if feed.spec.has_closing_time else feed.spec.calendar


async def _answer(services: Services, feed: Feed, market: Market, span: HistorySpan) -> Answer:
    cached = await _read(services, feed, market, span)
    stored = series.decode(cached.body)
    document = series.document(stored, _tail(stored.last, market, span), span.limit)
    mirror = services.mirrors[feed]
    state = mirror.state(services.monotonic())
    cache = b"public, max-age=%d" % (RESTING_SECONDS if market.resting else MAX_AGE)
    headers = [
        *feed_headers(document.tag, state, cache),
        (b"x-cache", cached.status.encode()),
        # The last bar closes with the current price, whatever the age of the history.
        (b"age", b"0"),
    ]
    until = services.monotonic() + HELD_SECONDS

    def is_current() -> bool:
        now, entry = services.monotonic(), mirror.find(market.symbol)
        same_price = entry is not None and entry.revision == market.revision
        return same_price and now < until and mirror.state(now) == state

    return Answer(document, headers, tag=headers[0][1], is_current=is_current)


async def _read(services: Services, feed: Feed, market: Market, span: HistorySpan) -> Cached:
    """Reads a history through the cache. Raises ProviderMissing, SymbolNotFound, NotOffered or UpstreamError.

    Bars come from the provider of the price only, and the cache key names it: a candle is of one venue.
    """
    offered = services.history.get(feed)
    if not offered:
        raise ProviderMissing(f"bars of {feed}")
    history = offered.get(market.provider)
    if history is None:
        raise ProviderMissing(f"bars of {market.provider}")

    async def fetch() -> bytes:
        end = market.moment + _TICK
        found = await history.bars(market.symbol, span.interval, span.start, end)
        return await asyncio.to_thread(lambda: series.encode(series.series_of(found)))

    key = f"{history.name}:bars{series.VERSION}:{market.symbol}:{span.interval}:{span.name}"
    return await services.cache.read(key, _policy(market, span.interval), fetch)


def _policy(market: Market, interval: Interval) -> Policy:
    fresh = RESTING_SECONDS if market.resting else _FRESH[interval]
    return Policy(fresh_seconds=fresh, stale_seconds=_FRESH[interval] * _STALE)


def _tail(last: Bar | None, market: Market, span: HistorySpan) -> list[Bar]:
    """Returns the last bars with the current price; a price outside trading hours changes nothing."""
    opened = opening_of_bar(market.calendar, span.interval, market.traded)
    if opened is None or market.traded < span.start:
        return [] if last is None else [last]
    return bars_with_price(last, opened, market.price)
