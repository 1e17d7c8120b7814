"""Instruments as charts name them, `AAPL`, `NASDAQ:AAPL`, `BTC/USDT` and `DOVIZ:gram-altin`; their search."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from quotecast.api.market.lookup import first_with, require_data
from quotecast.api.market.services import Services
from quotecast.errors import SymbolNotFound
from quotecast.market.assets import Asset
from quotecast.market.feeds import Feed, feed_of_kind
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote

#: The exchange of Turkish prices.
DOVIZ: Final = "DOVIZ"
#: The exchange of a stock that is not among the assets.
UNLISTED: Final = "US"
#: The longest name in a request: an exchange, a colon and a symbol.
MAX_NAME: Final = 80

_TYPES: Final = {"currency": "forex", "index": "index"}
_METAL: Final = "commodity"
TYPES: Final = ("stock", "crypto", "forex", _METAL, "index")
#: The feeds of the types.
_FEEDS: Final = {"stock": Feed.STOCKS, "crypto": Feed.CRYPTO}
#: Results that a search looks at: those of another type or exchange do not count.
_LOOKED_AT: Final = 500


class Instrument(Struct, frozen=True):
    """An instrument of a feed. `ticker` names it in every request of a chart."""

    feed: Feed
    quote: Quote
    ticker: str
    exchange: str
    type: str


def find_instrument(services: Services, text: str) -> Instrument:
    """Returns the instrument of a name, with or without its exchange, in any letter case.

    A name that two feeds have means the first of stocks, crypto and doviz. Raises SymbolNotFound, or NoData.
    """
    exchange, colon, name = text.strip().rpartition(":")
    feeds = services.configured()
    if colon:
        wanted = exchange.casefold()
        feeds = [each for each in feeds if (each is Feed.DOVIZ) == (wanted == DOVIZ.casefold())]
    found = first_with(services.mirrors, name, feeds)
    if found is None or found[1].quote is None:
        require_data(services.mirrors, name, feeds)
        raise SymbolNotFound
    instrument = instrument_of(services, found[0], found[1].quote)
    if colon and instrument.exchange.casefold() != wanted:
        raise SymbolNotFound
    return instrument


def instrument_of(services: Services, feed: Feed, quote: Quote) -> Instrument:
    """Returns the instrument of a quote."""
    match quote:
        case StockQuote():
            exchange = services.documents.assets.derive(_exchanges).get(quote.key, UNLISTED)
            return Instrument(feed, quote, quote.key, exchange, "stock")
        case CryptoQuote():
            return Instrument(feed, quote, quote.key, quote.exchange, "crypto")
        case DovizQuote():
            # With its exchange: a currency may have the ticker of a stock.
            kind = _TYPES.get(quote.category, _METAL)
            return Instrument(feed, quote, f"{DOVIZ}:{quote.key}", DOVIZ, kind)


def exchanges(services: Services) -> list[str]:
    """Returns the exchanges of all instruments, in alphabetical order."""
    names = set(services.documents.assets.derive(_exchanges).values())
    for feed in services.configured():
        if feed is Feed.DOVIZ:
            names.add(DOVIZ)
        if feed is Feed.CRYPTO:
            names |= services.mirrors[feed].derive(_venues)
    return sorted(names)


def _exchanges(assets: Sequence[Asset]) -> Mapping[str, str]:
    return {asset.ticker: asset.exchange for asset in assets}


def _venues(mirror: Any) -> frozenset[str]:
    return frozenset(quote.exchange for quote in mirror.quotes().values())


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
    """Returns the best matches of a type and an exchange; "" stands for any. Raises as the search does."""
    feeds = services.configured()
    if kind:
        feeds = [each for each in feeds if each is _FEEDS.get(kind, Feed.DOVIZ)]
    most = _LOOKED_AT if kind or exchange else limit
    results = await services.searches.find(text, most, feeds, services.monotonic())
    found: list[FoundSymbol] = []
    for result in results:
        feed = feed_of_kind(result.type)
        entry = services.mirrors[feed].find(result.ticker)
        # A listed stock may have no price.
        if entry is None or entry.quote is None:
            continue
        each = instrument_of(services, feed, entry.quote)
        if kind in {"", each.type} and exchange.casefold() in {"", each.exchange.casefold()}:
            full_name = f"{each.exchange}:{result.ticker}"
            found.append(
                FoundSymbol(result.ticker, full_name, result.name, each.exchange, each.ticker, each.type)
            )
    return found[:limit]


EXAMPLE_FOUND: Final = [FoundSymbol("AAPL", "NASDAQ:AAPL", "Apple Inc.", "NASDAQ", "AAPL", "stock")]
