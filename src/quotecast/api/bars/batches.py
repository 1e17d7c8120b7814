"""Bars of several instruments in one answer."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Final

from litestar.params import QueryParameter
from msgspec.structs import replace

from quotecast.api.answers.answers import Answer, SharedBody, cache_status, cached_for, feed_answer
from quotecast.api.bars.handlers import answered_bars, next_page
from quotecast.api.bars.market import MAX_AGE, Market, market_of, until_prices_move
from quotecast.api.bars.pages import NO_BARS, BarPage, time_of
from quotecast.api.bars.parameters import Paging, count_of
from quotecast.api.bars.queries import BarQuery
from quotecast.api.bars.reading import read_bars
from quotecast.api.bars.sources import PAST_SECONDS
from quotecast.api.market.parameters import number_parameter
from quotecast.api.market.selection import AS_TEXT, missing_headers, renamed_headers, selection_of
from quotecast.api.market.services import Services, require_mirror
from quotecast.background import take_turns
from quotecast.errors import InvalidValue, SymbolNotFound
from quotecast.market import codec
from quotecast.market.feeds import Feed

MAX_BATCH: Final = 50
#: Bars of all symbols of one answer: more than a megabyte of JSON.
MAX_BATCH_BARS: Final = 10_000
DEFAULT_BATCH_BARS: Final = 100

BatchSymbols = Annotated[
    list[str],
    QueryParameter(
        name="symbols",
        description=f"Comma-separated symbols in any case, at most {MAX_BATCH}; may be repeated",
        schema_extra=AS_TEXT,
    ),
]
BatchCount = Annotated[
    str | None,
    number_parameter(
        "limit",
        f"How many bars of each symbol at most; of all symbols together, {MAX_BATCH_BARS:,}",
        minimum=1,
        maximum=1000,
        default=DEFAULT_BATCH_BARS,
    ),
]


def named_symbols(symbols: Sequence[str], most: int) -> tuple[str, ...]:
    """Returns the distinct symbols of comma-separated lists. Raises InvalidValue for none, many or all."""
    names = selection_of(symbols)
    if names == "all" or len(names) > most:
        raise InvalidValue("symbols", f"Name at most {most} symbols")
    return names


def batch_paging(names: Sequence[str], paging: Paging) -> Paging:
    """Returns the parameters with a limit. Raises InvalidValue for more bars than one answer has."""
    count = DEFAULT_BATCH_BARS if paging.limit is None else count_of(paging.limit)
    if count * len(names) > MAX_BATCH_BARS:
        raise InvalidValue(
            "limit", f"Must be at most {MAX_BATCH_BARS // len(names)} for {len(names)} symbols"
        )
    return replace(paging, limit=str(count))


async def batch_answer(
    services: Services,
    feed: Feed,
    names: Sequence[str],
    query_for: Callable[[Market], BarQuery],
    *,
    own_only: bool,
) -> Answer:
    """Returns a page of bars of each known symbol: the pages of one token begin at the same time."""
    markets, missing = markets_of(services, feed, names)
    pages = await _read_all(services, markets, query_for, own_only=own_only)
    rest = _earliest_rest([each.rest for each in pages])
    # In a thread: 10,000 bars are a megabyte.
    body = await asyncio.to_thread(_body_of, feed, markets, pages, rest)
    mirror = services.mirrors[feed]
    state = mirror.state(services.monotonic())
    status = cache_status({each.status for each in pages})
    # An unknown symbol may be listed the next moment.
    past = bool(pages) and not missing and all(each.past for each in pages)
    age = max(each.age_seconds for each in pages) if past else 0
    return feed_answer(
        body,
        state,
        cached_for(PAST_SECONDS if past else MAX_AGE),
        *missing_headers(missing),
        *renamed_headers(mirror, mirror.keys_named(names).items()),
        *next_page(rest),
        (b"x-cache", status.encode()),
        (b"x-source", ",".join(sorted({each.source for each in pages})).encode()),
        (b"age", b"%d" % age),
        is_current=until_prices_move(services, mirror, markets, missing),
    )


def _body_of(
    feed: Feed, markets: Sequence[Market], pages: Sequence[BarPage], rest: BarQuery | None
) -> SharedBody:
    """Returns the bars by symbol, without those that the rest has again."""
    bodies: list[tuple[str, bytes]] = []
    for market, page in zip(markets, pages, strict=True):
        bars = page.bars
        if rest is not None and rest.order == "asc":
            bars = [bar for bar in bars if bar.time < time_of(rest.start or 0)]
        elif rest is not None:
            bars = [bar for bar in bars if bar.time >= time_of(rest.end or 0)]
        bodies.append((market.symbol, codec.encode_json(answered_bars(feed, bars))))
    return SharedBody(codec.object_json(bodies))


def markets_of(services: Services, feed: Feed, names: Sequence[str]) -> tuple[list[Market], list[str]]:
    """Returns the markets of the known symbols, and the unknown ones. Raises ProviderMissing or NoData."""
    require_mirror(services, feed)
    found: dict[str, Market] = {}
    missing: list[str] = []
    for name in names:
        try:
            market = market_of(services, feed, name)
        except SymbolNotFound:
            missing.append(name)
        else:
            found[market.symbol] = market
    return [*found.values()], missing


async def _read_all(
    services: Services,
    markets: Sequence[Market],
    query_for: Callable[[Market], BarQuery],
    *,
    own_only: bool,
) -> list[BarPage]:
    """Reads each market's page, and only then raises the first error."""

    async def read(market: Market) -> BarPage:
        await asyncio.sleep(0)  # other requests and the feeds get a turn between two symbols
        try:
            return await read_bars(services, market, query_for(market), own_only=own_only)
        except SymbolNotFound:  # by the upstream: the feed knows it
            return NO_BARS

    found = await asyncio.gather(*map(take_turns(read), markets), return_exceptions=True)
    pages: list[BarPage] = []
    for each in found:
        if isinstance(each, BaseException):
            raise each
        pages.append(each)
    return pages


def _earliest_rest(rests: Sequence[BarQuery | None]) -> BarQuery | None:
    """Returns the rest from which on some symbol's bars are missing."""
    some = [rest for rest in rests if rest is not None]
    if not some:
        return None
    if some[0].order == "asc":
        return min(some, key=lambda rest: rest.start or 0)
    return max(some, key=lambda rest: rest.end or 0)
