"""Bars of one instrument: its history, kept between the upstream and the clients, and the price of now."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from quotecast.api.answers import Answer, feed_headers
from quotecast.api.parts import Parts, loaded
from quotecast.api.routes import series
from quotecast.api.routes.bar_parameters import MAX_BARS, count_of, range_and_interval, timeframe_of
from quotecast.bus.base import FeedInfo
from quotecast.cache.base import Cached, Policy
from quotecast.errors import ProviderMissing, SymbolNotFound
from quotecast.market.bars import Bar, Interval, bars_with_price, opening_of_bar
from quotecast.market.calendars import EXCHANGE, Calendar, Exchange, is_open
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.ranges import start_of, start_of_newest

#: Seconds for which clients may keep bars while there is trading, and while there is none.
MAX_AGE: Final = 5
RESTING_SECONDS: Final = 60
#: Seconds for which a history is fresh; its last price is never older than the quote.
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
#: For how many times as long it is better than none: an hour for minutes, half a day for months.
_STALE: Final = 720
#: Numbers of bars that are fetched: requests for fewer share what is kept.
_SIZES: Final = (100, 500, MAX_BARS)
#: For how long the same answer is sent again while the price stands; `Age` counts whole seconds.
HELD_SECONDS: Final = 0.5
#: The least time between two prices, as it is written in quotes.
_TICK: Final = timedelta(milliseconds=1)


class Market(Struct, frozen=True):
    """Where an instrument stands: its price, since when, and what time it is on its market."""

    symbol: str
    #: The provider that the price is of; its bars alone fit the price.
    provider: str
    price: float
    traded: datetime
    moment: datetime
    calendar: Calendar
    #: Of the mirror's entry.
    revision: int
    #: Nothing trades, nor did a moment ago, nor will in a moment.
    resting: bool


class Stretch(Struct, frozen=True):
    """A part of a history; `name` is the same while what is kept of it can be used."""

    name: str
    interval: Interval
    start: datetime
    limit: int | None = None


async def stock_bars(parts: Parts, symbol: str, span: str, interval: str | None) -> Answer:
    """Bars of a range that ends now."""
    wanted, length = range_and_interval(span, interval)
    market = _market(parts, Feed.STOCKS, symbol)
    start = start_of(wanted, market.calendar, market.moment)
    return await _answer(parts, Feed.STOCKS, market, Stretch(f"{start:%Y%m%dT%H%M}", length, start))


async def crypto_bars(parts: Parts, symbol: str, timeframe: str, limit: str) -> Answer:
    """The newest bars."""
    length, count = timeframe_of(timeframe), count_of(limit)
    market = _market(parts, Feed.CRYPTO, symbol)
    size = next(size for size in _SIZES if size >= count)
    start = start_of_newest(size, length, market.moment)
    return await _answer(parts, Feed.CRYPTO, market, Stretch(f"newest{size}", length, start, count))


def _market(parts: Parts, feed: Feed, symbol: str) -> Market:
    """Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = loaded(parts, feed)
    entry = mirror.find(symbol)
    if entry is None or entry.quote is None:
        raise SymbolNotFound
    info, quote = mirror.info, entry.quote
    calendar = _calendar(feed, info)
    now = datetime.fromtimestamp(parts.clock(), UTC)
    traded = datetime.fromisoformat(quote.timestamp) if quote.timestamp else now
    pause = timedelta(seconds=RESTING_SECONDS)
    return Market(
        symbol=quote.key,
        provider=_provider(quote, info),
        price=quote.price,
        traded=traded,
        # Simulated and recorded time is what the quotes say: it need not be ours.
        moment=traded if info is not None and info.simulated else now,
        calendar=calendar,
        revision=entry.revision,
        resting=not is_open(calendar, now - pause) and not is_open(calendar, now + pause),
    )


def _provider(quote: Quote, info: FeedInfo | None) -> str:
    """The provider of a quote: after a failover pairs name the next one before the feed's state does."""
    if isinstance(quote, StockQuote):
        return info.provider if info is not None else ""
    return quote.provider


def exchange_of(info: FeedInfo | None) -> Exchange:
    """The exchange's calendar, with what its own clock says against it."""
    return Exchange(info.unscheduled) if info and info.unscheduled else EXCHANGE


def _calendar(feed: Feed, info: FeedInfo | None) -> Calendar:
    if info is not None and info.always_open:
        return feed.spec.always_open
    return exchange_of(info) if feed.spec.has_closing_time else feed.spec.calendar


async def _answer(parts: Parts, feed: Feed, market: Market, stretch: Stretch) -> Answer:
    cached = await _read(parts, feed, market, stretch)
    kept = series.decode(cached.body)
    document = series.document(kept, _tail(kept.last, market, stretch), stretch.limit)
    mirror = parts.mirrors[feed]
    state = mirror.state(parts.monotonic())
    cache = b"public, max-age=%d" % (RESTING_SECONDS if market.resting else MAX_AGE)
    headers = [
        *feed_headers(document.tag, state, cache),
        (b"x-cache", cached.status.encode()),
        # The answer is made now, with the price of now, however long the history was kept.
        (b"age", b"0"),
    ]
    until = parts.monotonic() + HELD_SECONDS

    def is_current() -> bool:
        now, entry = parts.monotonic(), mirror.find(market.symbol)
        same_price = entry is not None and entry.revision == market.revision
        return same_price and now < until and mirror.state(now) == state

    return Answer(document, headers, tag=headers[0][1], is_current=is_current)


async def _read(parts: Parts, feed: Feed, market: Market, stretch: Stretch) -> Cached:
    """Raises ProviderMissing, SymbolNotFound, NotOffered or UpstreamError.

    Only the provider that quotes the price is asked, and the cache's key names it: a candle is of one venue.
    """
    offered = parts.history.get(feed)
    if not offered:
        raise ProviderMissing(f"bars of {feed}")
    history = offered.get(market.provider)
    if history is None:
        raise ProviderMissing(f"bars of {market.provider}")

    async def fetch() -> bytes:
        end = market.moment + _TICK
        found = await history.bars(market.symbol, stretch.interval, stretch.start, end)
        return await asyncio.to_thread(lambda: series.encode(series.series_of(found)))

    key = f"{history.name}:bars{series.VERSION}:{market.symbol}:{stretch.interval}:{stretch.name}"
    return await parts.cache.read(key, _policy(market, stretch.interval), fetch)


def _policy(market: Market, interval: Interval) -> Policy:
    fresh = RESTING_SECONDS if market.resting else _FRESH[interval]
    return Policy(fresh_seconds=fresh, stale_seconds=_FRESH[interval] * _STALE)


def _tail(last: Bar | None, market: Market, stretch: Stretch) -> list[Bar]:
    """The last bars, in line with the price; one outside the trading hours moves nothing."""
    opened = opening_of_bar(market.calendar, stretch.interval, market.traded)
    if opened is None or market.traded < stretch.start:
        return [] if last is None else [last]
    return bars_with_price(last, opened, market.price)
