"""Bars of one instrument: the cached history of the upstream, closed with the current price."""

import asyncio
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.answers import Answer, SharedBody, feed_headers
from quotecast.api.bar_market import (
    Market,
    bars_headers,
    market_of,
    tail_with_price,
    until_price_moves,
)
from quotecast.api.bar_pages import Page, read_page
from quotecast.api.bar_queries import MAX_BARS, BarQuery, check_span, token_of
from quotecast.api.bar_sources import PAST_SECONDS, TICK, Source, Upstream, history_of, policy_of
from quotecast.api.routes import series
from quotecast.api.routes.bar_parameters import (
    Paging,
    count_of,
    interval_since,
    range_and_interval,
    timeframe_of,
)
from quotecast.api.services import Services
from quotecast.cache.base import Cached
from quotecast.market.bars import Interval, opening_of_bar
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.ranges import start_of, start_of_newest

#: Numbers of bars to fetch: requests for fewer share a cached history.
_SIZES: Final = (100, 500, MAX_BARS)


class HistorySpan(Struct, frozen=True):
    """A part of a history that ends now; its `name` is a part of the cache key."""

    name: str
    interval: Interval
    start: datetime
    limit: int | None = None


async def stock_bars(
    services: Services, symbol: str, span: str | None, interval: str | None, paging: Paging
) -> Answer:
    """Returns the bars of a range, or a page of bars."""
    if paging.start is not None:
        query = paging.query(interval_since(span, interval))
        return await _page_answer(services, market_of(services, Feed.STOCKS, symbol), query)
    wanted, length = range_and_interval(span, interval)
    query = paging.query(length)
    market = market_of(services, Feed.STOCKS, symbol)
    if paging.page is not None:
        return await _page_answer(services, market, query)
    moment = (
        market.moment if query.end is None else min(market.moment, datetime.fromtimestamp(query.end, UTC))
    )
    start = start_of(wanted, market.calendar, moment)
    if paging.asks_for_page() or paging.limit is not None:
        first = opening_of_bar(market.calendar, length, start) or start
        return await _page_answer(services, market, replace(query, start=int(first.timestamp())))
    return await _answer(services, market, HistorySpan(f"{start:%Y%m%dT%H%M}", length, start))


async def crypto_bars(services: Services, symbol: str, timeframe: str, paging: Paging) -> Answer:
    """Returns the newest bars, or a page of bars."""
    length, count = timeframe_of(timeframe), count_of(paging.limit)
    query = paging.query(length)
    market = market_of(services, Feed.CRYPTO, symbol)
    if paging.asks_for_page():
        return await _page_answer(services, market, query)
    size = next(size for size in _SIZES if size >= count)
    start = start_of_newest(size, length, market.moment)
    return await _answer(services, market, HistorySpan(f"newest{size}", length, start, count))


async def _page_answer(services: Services, market: Market, query: BarQuery) -> Answer:
    source: Source = Upstream(services, market)
    page = await read_page(source, market, check_span(query, market.moment.timestamp()))
    mirror = services.mirrors[market.feed]
    state, body = mirror.state(services.monotonic()), SharedBody(encode_json(page.bars))
    more = [(b"x-cache", page.status.encode()), (b"x-source", source.name.encode()), *_next(page)]
    if page.past:
        cache = b"public, max-age=%d" % PAST_SECONDS
        headers = [*feed_headers(body.tag, state, cache), *more, (b"age", b"%d" % page.age_seconds)]
    else:
        headers = bars_headers(state, market, body.tag, *more)
    return Answer(body, headers, tag=headers[0][1], is_current=until_price_moves(services, mirror, market))


def _next(page: Page) -> list[tuple[bytes, bytes]]:
    return [] if page.rest is None else [(b"x-next-page", token_of(page.rest).encode())]


async def _answer(services: Services, market: Market, span: HistorySpan) -> Answer:
    cached, source = await _read(services, market, span)
    stored = series.decode(cached.body)
    tail = tail_with_price(stored.last, market, span.interval, span.start)
    document = series.document(stored, tail, span.limit)
    mirror = services.mirrors[market.feed]
    headers = bars_headers(
        mirror.state(services.monotonic()),
        market,
        document.tag,
        (b"x-cache", cached.status.encode()),
        (b"x-source", source.encode()),
    )
    return Answer(
        document, headers, tag=headers[0][1], is_current=until_price_moves(services, mirror, market)
    )


async def _read(services: Services, market: Market, span: HistorySpan) -> tuple[Cached, str]:
    """Reads a history through the cache, and returns its source.

    Raises ProviderMissing, SymbolNotFound, NotOffered or UpstreamError.
    """
    history = history_of(services, market)

    async def fetch() -> bytes:
        end = market.moment + TICK
        found = await history.bars(market.symbol, span.interval, span.start, end)
        return await asyncio.to_thread(lambda: series.encode(series.series_of(found)))

    key = f"{history.name}:bars{series.VERSION}:{market.symbol}:{span.interval}:{span.name}"
    return await services.cache.read(key, policy_of(market, span.interval), fetch), history.name
