"""Reads bars from the upstream of the price, or else those made from our own quotes."""

from typing import Final

from msgspec.structs import replace

from quotecast.api.bars.as_of import DaysRead, EndedDays
from quotecast.api.bars.live_day import LiveDay
from quotecast.api.bars.market import Market, market_of
from quotecast.api.bars.own_bars import OwnAfterPast, OwnBars
from quotecast.api.bars.pages import MAX_WINDOWS, BarPage, read_page
from quotecast.api.bars.queries import BarQuery, check_span, opening_of
from quotecast.api.bars.sources import ORIGIN, Source, Upstream, history_of
from quotecast.api.market.services import Services
from quotecast.errors import NotOffered, ProviderMissing, SymbolNotFound, UpstreamError
from quotecast.market.bars import LENGTHS
from quotecast.market.feeds import Feed

#: With the hour that a day has more when summer time ends.
_LONGEST_DAY: Final = 90_000
#: Errors of an upstream that has no bars of an instrument, or none now.
WITHOUT_BARS: Final = (ProviderMissing, NotOffered, SymbolNotFound, UpstreamError)


async def read_bars(
    services: Services, market: Market, query: BarQuery, *, own_only: bool, most: int = MAX_WINDOWS
) -> BarPage:
    """Returns a page of bars; one page never mixes sources.

    Raises InvalidValue for a bad span, and the upstream's error if there are no own bars either.
    """
    if services.as_of is not None:
        source = _source_as_of(services, market, own_only=own_only)
        return await _read(source, market, query, most)
    own = _own(services, market, own_only=own_only)
    if own is not None:
        return await _read(own, market, query, most)
    try:
        day = LiveDay(services, market, Upstream(services, market))
        found = await _read(day, market, query, most)
    except WITHOUT_BARS:
        ours = await own_page(services, market, query, most)
        if ours is None:
            raise
        return ours
    if found.history or (found.rest is not None and query.order == "asc"):
        return found
    return await own_page(services, market, query, most) or found


def _own(services: Services, market: Market, *, own_only: bool) -> Source | None:
    """Returns the source of own bars, where those are wanted or nobody else has bars."""
    offered = services.history.get(market.feed, {})
    # An origin has older bars of currencies than a region that began later.
    if not own_only and (market.feed is not Feed.DOVIZ or ORIGIN in offered):
        return None
    if not own_only and market.provider in offered:
        return OwnAfterPast(OwnBars(services, market), Upstream(services, market))
    return OwnBars(services, market)


def _source_as_of(services: Services, market: Market, *, own_only: bool) -> Source:
    """Returns the source of days as they were known."""
    # Caches know nothing of past moments, so sources of the present fill them.
    present = replace(services, as_of=None)
    now = market_of(present, market.feed, market.symbol)
    own = _own(present, now, own_only=own_only)
    if own is None:
        try:
            history_of(present, now)
        except ProviderMissing:
            own = OwnBars(present, now)
    return DaysRead(services, market) if own is None else EndedDays(own, market)


async def own_page(services: Services, market: Market, query: BarQuery, most: int) -> BarPage | None:
    """Returns a page of own bars; None if there are none, or none now."""
    try:
        page = await _read(OwnBars(services, market), market, query, most)
    except UpstreamError:
        return None
    return page if page.bars else None


async def _read(source: Source, market: Market, asked: BarQuery, most: int) -> BarPage:
    """Returns a page; where it would be empty, back without a start, that of the newest bars before the gap.

    Days tell where those are. No other page follows an empty one: an instrument's first trade is behind it.
    Raises InvalidValue for a bad span.
    """
    now = market.moment.timestamp()
    query = check_span(asked, now)
    page = await read_page(source, market, query, most)
    if asked.start is not None or asked.order == "asc" or market.reach is not None:
        return page
    before = page.rest.end if page.rest else query.start
    if not page.bars and before and asked.interval in LENGTHS:
        days = await read_page(source, market, BarQuery("D", None, before, 1, "desc"), MAX_WINDOWS)
        if days.bars:
            end = min(opening_of(days.bars[0]) + _LONGEST_DAY, before)
            query = check_span(replace(asked, end=end), now)
            page = await read_page(source, market, query, most)
            before = page.rest.end if page.rest else query.start
    return replace(page, rest=replace(asked, end=before) if page.bars and before else None)
