"""Reads bars from the upstream of the price, or else those made from our own quotes."""

from typing import Final

from msgspec import Struct

from quotecast.api.bar_market import Market
from quotecast.api.bar_pages import MAX_WINDOWS, Page, read_page
from quotecast.api.bar_queries import BarQuery, check_span
from quotecast.api.bar_sources import OWN, Upstream
from quotecast.api.own_bars import OwnBars
from quotecast.api.services import Services
from quotecast.errors import NotOffered, ProviderMissing, SymbolNotFound, UpstreamError
from quotecast.market.feeds import Feed

#: Errors of an upstream that has no bars of an instrument, or none now.
WITHOUT_BARS: Final = (ProviderMissing, NotOffered, SymbolNotFound, UpstreamError)


class FoundPage(Struct, frozen=True):
    """A page, and where it comes from."""

    page: Page
    source: str


async def read_bars(
    services: Services, market: Market, query: BarQuery, *, own_only: bool, most: int = MAX_WINDOWS
) -> FoundPage:
    """Returns a page of bars; one page never mixes sources.

    Raises InvalidValue for a bad span, and the upstream's error if there are no own bars either.
    """
    query = check_span(query, market.moment.timestamp())
    # An origin has older bars of currencies than a region that began later.
    if own_only or (market.feed is Feed.DOVIZ and not services.history.get(Feed.DOVIZ)):
        return FoundPage(await read_page(OwnBars(services, market), market, query, most), OWN)
    try:
        source = Upstream(services, market)
        found = FoundPage(await read_page(source, market, query, most), source.name)
    except WITHOUT_BARS:
        own = await own_page(services, market, query, most)
        if own is None:
            raise
        return own
    if found.page.history or (found.page.rest is not None and query.order == "asc"):
        return found
    return await own_page(services, market, query, most) or found


async def own_page(services: Services, market: Market, query: BarQuery, most: int) -> FoundPage | None:
    """Returns a page of own bars; None if there are none, or none now."""
    try:
        page = await read_page(OwnBars(services, market), market, query, most)
    except UpstreamError:
        return None
    return FoundPage(page, OWN) if page.bars else None
