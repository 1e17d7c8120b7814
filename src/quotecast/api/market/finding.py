"""The search over feeds, for every door."""

from collections.abc import Sequence
from typing import Final

from quotecast.api.market.services import MarketServices
from quotecast.errors import NoData, ProviderMissing
from quotecast.market.feeds import Feed
from quotecast.market.listings import SearchResult
from quotecast.market.search import search

#: The name of the search in errors, and of its rate limit.
GROUP: Final = "search"


async def find(services: MarketServices, text: str, limit: int, feeds: Sequence[Feed]) -> list[SearchResult]:
    """Returns the best matches in some feeds. Raises ProviderMissing without feeds, NoData without data."""
    if not feeds:
        raise ProviderMissing(GROUP)
    indexes = await services.searches.indexes(feeds, services.monotonic())
    if not indexes:
        raise NoData(GROUP)
    return search(indexes, text, limit)
