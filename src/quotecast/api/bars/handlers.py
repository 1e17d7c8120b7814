"""Bars of one instrument: the cached history of the upstream, closed with the current price."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.answers.answers import Answer, SharedBody, cached_for, feed_headers
from quotecast.api.bars import series
from quotecast.api.bars.market import (
    RESTING_SECONDS,
    Market,
    bars_headers,
    market_of,
    source_headers,
    tail_with_price,
    until_prices_move,
)
from quotecast.api.bars.own_bars import LiveDay, overlaid, own_bars_of_day
from quotecast.api.bars.pages import MAX_WINDOWS, RANGE_WINDOWS, BarPage, read_page
from quotecast.api.bars.parameters import Paging, StockQuery
from quotecast.api.bars.queries import MAX_BARS, BarQuery, check_span, token_of
from quotecast.api.bars.reading import WITHOUT_BARS, own_page, read_bars
from quotecast.api.bars.sources import PAST_SECONDS, TICK, Upstream, history_of, note_days, policy_of
from quotecast.api.market.services import Services
from quotecast.asgi import Header
from quotecast.cache.base import Cached
from quotecast.errors import ProviderMissing
from quotecast.market.bars import Bar, Interval
from quotecast.market.calendars import Exchange, is_open
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.ranges import start_of_newest
from quotecast.providers.base import ExtendedHistoryProvider

#: Longer bars would begin at other times than those of regular hours, which the feed continues.
_INTERVALS: Final[tuple[Interval, ...]] = ("1m", "5m", "15m", "30m")
#: Numbers of bars to fetch: requests for fewer share a cached history.
_SIZES: Final = (100, 500, MAX_BARS)
#: More bars than a range has.
_ALL: Final = 1_000_000


class DovizBar(Struct, frozen=True):
    """Selling prices of one interval; `time` is its opening, ISO 8601 in UTC, ending with Z."""

    time: str
    open: float
    high: float
    low: float
    close: float
    #: Always null: nobody publishes it.
    volume: float | None = None

    @classmethod
    def of(cls, bar: Bar) -> "DovizBar":
        """Returns a bar without its volume."""
        return cls(bar.time, bar.open, bar.high, bar.low, bar.close)


class HistorySpan(Struct, frozen=True):
    """A part of a history that ends now; its `name` is a part of the cache key."""

    name: str
    interval: Interval
    start: datetime
    limit: int | None = None


async def stock_bars(services: Services, symbol: str, wanted: StockQuery) -> Answer:
    """Returns the bars of a range, or a page of bars."""
    market = market_of(services, Feed.STOCKS, symbol)
    extends = wanted.extended and not wanted.own_only and services.as_of is None
    if extends and (extended := extend_hours(services, market, wanted.query.interval)):
        return await _extended_answer(services, extended, wanted)
    query = wanted.query_for(market.calendar, market.moment)
    if wanted.is_page:
        return await _page_answer(services, market, query, own_only=wanted.own_only)
    query = replace(query, limit=_ALL)
    start = wanted.start_of_range(market.calendar, market.moment)
    if wanted.own_only or start is None:
        found = await read_bars(services, market, query, own_only=True, most=RANGE_WINDOWS)
        return _answer_of(services, market, found)
    span = HistorySpan(f"{start:%Y%m%dT%H%M}", query.interval, start)
    return await _whole_answer(services, market, span, query)


async def _extended_answer(services: Services, market: Market, wanted: StockQuery) -> Answer:
    """Returns bars of extended hours; own bars alone do not suffice: they have regular hours only."""
    query = check_span(wanted.query_for(market.calendar, market.moment), market.moment.timestamp())
    source = LiveDay(services, market, Upstream(services, market))
    if wanted.is_page:
        page = await read_page(source, market, query)
    else:
        page = await read_page(source, market, replace(query, limit=_ALL), RANGE_WINDOWS)
    return _answer_of(services, market, page)


async def crypto_bars(services: Services, symbol: str, length: Interval, paging: Paging) -> Answer:
    """Returns the newest bars, or a page of bars."""
    query, own_only = paging.query(length), paging.own_only()
    market = market_of(services, Feed.CRYPTO, symbol)
    if paging.asks_for_page() or own_only:
        return await _page_answer(services, market, query, own_only=own_only)
    size = next(size for size in _SIZES if size >= query.limit)
    start = start_of_newest(size, length, market.moment)
    span = HistorySpan(f"newest{size}", length, start, query.limit)
    return await _whole_answer(services, market, span, query)


async def doviz_bars(services: Services, symbol: str, length: Interval, paging: Paging) -> Answer:
    """Returns the newest bars, or a page of bars: always our own, or the origin's own."""
    query, own_only = paging.query(length), paging.own_only()
    return await _page_answer(services, market_of(services, Feed.DOVIZ, symbol), query, own_only=own_only)


async def _page_answer(services: Services, market: Market, query: BarQuery, *, own_only: bool) -> Answer:
    return _answer_of(services, market, await read_bars(services, market, query, own_only=own_only))


def _answer_of(services: Services, market: Market, page: BarPage) -> Answer:
    mirror = services.mirrors[market.feed]
    body = SharedBody(encode_json(answered_bars(market.feed, page.bars)))
    state = mirror.state(services.monotonic())
    more = [*_notes(market, page.status, page.source, page.bars), *next_page(page.rest)]
    if page.past:
        cache = cached_for(PAST_SECONDS)
        headers = [*feed_headers(body.tag, state, cache), *more, (b"age", b"%d" % page.age_seconds)]
    else:
        headers = bars_headers(state, market, body.tag, *more)
    return Answer(body, headers, tag=headers[0][1], is_current=until_prices_move(services, mirror, [market]))


def _notes(market: Market, status: str, source: str, bars: Sequence[Bar]) -> list[Header]:
    """Returns the headers about the bars; those of stocks name their hours, too."""
    hours = (b"x-session", b"extended" if market.is_extended else b"regular")
    return [*source_headers(market, status, source, bars), *([hours] if market.feed is Feed.STOCKS else [])]


def answered_bars(feed: Feed, bars: Sequence[Bar]) -> Sequence[Any]:
    """Returns bars as a feed's routes answer them."""
    return [DovizBar.of(bar) for bar in bars] if feed is Feed.DOVIZ else bars


def next_page(rest: BarQuery | None) -> list[Header]:
    """Returns the header that names the page of the rest of a query."""
    return [] if rest is None else [(b"x-next-page", token_of(rest).encode())]


async def _whole_answer(services: Services, market: Market, span: HistorySpan, query: BarQuery) -> Answer:
    """Returns a whole history; `query` asks for the same of our own bars."""
    if market.reach is not None or services.as_of is not None:
        # All clients share a whole history; a plan's part of the past, and what was known once, are pages.
        return _answer_of(
            services, market, await read_bars(services, market, query, own_only=False, most=RANGE_WINDOWS)
        )
    try:
        cached = await _read(services, market, span)
    except WITHOUT_BARS:
        own = await own_page(services, market, query, RANGE_WINDOWS)
        if own is None:
            raise
        return _answer_of(services, market, own)
    stored = series.decode(cached.body)
    if not stored.last and (own := await own_page(services, market, query, RANGE_WINDOWS)):
        return _answer_of(services, market, own)
    last = stored.last
    if today := await own_bars_of_day(services, market, span.interval, since=last[0] if last else None):
        tail = overlaid(last, today)
    else:
        tail = [*last[:-1], *tail_with_price(last[-1] if last else None, market, span.interval, span.start)]
    if span.limit is not None and (count := stored.count + len(tail)) < span.limit:
        # A pair that rests in many intervals has older bars; a young one has none. The history was one call.
        with suppress(*WITHOUT_BARS):
            page = await read_bars(services, market, query, own_only=False, most=MAX_WINDOWS - 1)
            if len(page.bars) > count:
                return _answer_of(services, market, page)
    document = series.document(stored, tail, span.limit)
    mirror = services.mirrors[market.feed]
    notes = _notes(market, cached.status, market.provider, tail)
    headers = bars_headers(mirror.state(services.monotonic()), market, document.tag, *notes)
    return Answer(
        document, headers, tag=headers[0][1], is_current=until_prices_move(services, mirror, [market])
    )


async def _read(services: Services, market: Market, span: HistorySpan) -> Cached:
    """Reads a history through the cache.

    Raises ProviderMissing, SymbolNotFound, NotOffered or UpstreamError.
    """
    history = history_of(services, market)

    async def fetch() -> bytes:
        end = market.moment + TICK
        bars = await history.bars(market.symbol, span.interval, span.start, end)
        note_days(services, market, span.interval, bars)
        if bars and (own := await own_bars_of_day(services, market, span.interval, since=bars[0])):
            bars = overlaid(bars, own)
        return await asyncio.to_thread(lambda: series.encode(series.series_of(bars)))

    key = f"{market.provider}:bars{series.VERSION}:{market.symbol}:{span.interval}:{span.name}"
    return await services.cache.read(key, policy_of(market, span.interval), fetch)


def extend_hours(services: Services, market: Market, interval: Interval) -> Market | None:
    """Returns the market of extended hours; None where the upstream has no bars of them.

    Simulated and recorded markets have sessions of their own, and our own bars end with the regular session.
    """
    if interval not in _INTERVALS or not isinstance(market.calendar, Exchange):
        return None
    try:
        history = history_of(services, market)
    except ProviderMissing:
        return None
    if not isinstance(history, ExtendedHistoryProvider):
        return None
    calendar, pause = market.calendar.extended(), timedelta(seconds=RESTING_SECONDS)
    resting = not is_open(calendar, market.moment - pause) and not is_open(calendar, market.moment + pause)
    return replace(market, calendar=calendar, resting=resting)
