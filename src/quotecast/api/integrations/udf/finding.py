"""Symbols that a chart's search finds."""

from typing import Final

from msgspec import Struct

from quotecast.api.integrations.udf.instruments import instrument_of
from quotecast.api.market.finding import find
from quotecast.api.market.services import Services
from quotecast.market.feeds import Feed, feed_of_kind
from quotecast.market.listings import SearchResult

#: Results that a search looks at: those of another type or exchange do not count.
_LOOKED_AT: Final = 500
#: The feeds of the types.
_FEEDS: Final = {"stock": Feed.STOCKS, "crypto": Feed.CRYPTO}


class FoundSymbol(Struct, frozen=True):
    """A result of a search, in the fields of TradingView's `SearchSymbolResultItem`."""

    symbol: str
    full_name: str
    description: str
    exchange: str
    ticker: str
    type: str


async def find_symbols(
    services: Services, text: str, kind: str, exchange: str, limit: int
) -> list[FoundSymbol]:
    """Returns the best matches of a type and an exchange; "" stands for any. Raises as `find` does."""
    feeds = services.configured()
    if kind:
        feeds = [each for each in feeds if each is _FEEDS.get(kind, Feed.DOVIZ)]
    results = await find(services, text, _LOOKED_AT if kind or exchange else limit, feeds)
    found = [symbol for each in results if (symbol := _found(services, each))]
    fitting = [
        each
        for each in found
        if kind in {"", each.type} and exchange.casefold() in {"", each.exchange.casefold()}
    ]
    return fitting[:limit]


def _found(services: Services, result: SearchResult) -> FoundSymbol | None:
    """Returns a result as charts name it; None for a listed stock without a price."""
    feed = feed_of_kind(result.type)
    entry = services.mirrors[feed].find(result.ticker)
    if entry is None or entry.quote is None:
        return None
    each = instrument_of(services, feed, entry.quote)
    full_name = f"{each.exchange}:{result.ticker}"
    return FoundSymbol(result.ticker, full_name, result.name, each.exchange, each.ticker, each.type)
