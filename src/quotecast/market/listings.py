"""The listings that a search finds: the stocks, pairs, currencies and metals of all feeds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from msgspec import Struct

from quotecast.market.assets import Asset
from quotecast.market.feeds import Kind
from quotecast.market.groups import bank_of
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote
from quotecast.market.reference import rows_of


class Alias(Struct, frozen=True, gc=False):
    """The other names of one instrument, and its place in the table: well-known ones come first."""

    place: int
    names: str


#: The place of an instrument that the table lacks, after all others.
LAST_PLACE: Final = 100
_NO_ALIAS: Final = Alias(LAST_PLACE, "")
#: Quote assets that are worth a dollar: turnover in others is not comparable.
_DOLLARS: Final = frozenset({"USD", "USDT", "USDC", "FDUSD"})
#: Each of these outweighs everything that follows: a dealer, the place in the table of aliases, turnover.
_DEALER_WEIGHT: Final = 1e16
_PLACE_WEIGHT: Final = 1e13


class SearchResult(Struct, frozen=True, gc=False):
    """An instrument. `exchange` lists a stock or pair, `source` is the market or bank of a Turkish price.

    `currency` is that of the price.
    """

    type: Kind
    ticker: str
    name: str
    currency: str
    exchange: str | None = None
    source: str | None = None


class Listing(Struct, frozen=True, gc=False):
    """An instrument and everything that finds it. The least `weight` comes first among equal matches.

    Texts instead of tuples: the garbage collector does not visit them.
    """

    result: SearchResult
    #: The ticker, and other spellings that name the instrument exactly, separated by blanks.
    symbols: str
    #: Parts of the ticker by which it is known, separated by blanks.
    parts: str
    #: Names and aliases.
    text: str
    weight: float


def stock_listings(
    assets: Iterable[Asset], quotes: Mapping[str, Any], formers: Mapping[str, str]
) -> Iterator[Listing]:
    """Yields the stocks of the assets, then those that only have a quote; `formers` has former symbols."""
    listed = set()
    for asset in assets:
        listed.add(asset.ticker)
        formerly = formers.get(asset.ticker, "")
        yield _stock(asset.ticker, asset.name, asset.exchange, quotes.get(asset.ticker), formerly)
    for ticker, quote in quotes.items():
        if ticker not in listed:
            yield _stock(ticker, quote.name, None, quote, formers.get(ticker, ""))


def _stock(ticker: str, name: str, exchange: str | None, quote: StockQuote | None, formers: str) -> Listing:
    turnover = quote.price * float(quote.volume or 0) if quote else 0.0
    alias = alias_of("stock", ticker)
    result = SearchResult("stock", ticker, name, "USD", exchange)
    return Listing(
        result,
        ticker,
        "",
        f"{name} {alias.names} {formers}",
        _weight(ticker, alias, turnover),
    )


def pair_listings(quotes: Mapping[str, CryptoQuote], formers: Mapping[str, str]) -> Iterator[Listing]:
    """Yields the pairs. The base asset names its pairs; those in dollars come first, by turnover."""
    for _, quote in sorted(quotes.items()):
        base, _, target = quote.ticker.partition("/")
        alias = alias_of("crypto", base)
        turnover = quote.price * (quote.volume or 0.0) + 1 if target in _DOLLARS else 0.0
        result = SearchResult("crypto", quote.ticker, quote.name, target, quote.exchange)
        weight = _weight(quote.ticker, alias, turnover)
        text = f"{quote.name} {alias.names} {formers.get(base, '')}"
        yield Listing(result, f"{quote.ticker} {base}", "", text, weight)


def doviz_listings(quotes: Mapping[str, DovizQuote]) -> Iterator[Listing]:
    """Yields currencies, metals and indices; those of banks have the aliases of the market's."""
    for _, quote in sorted(quotes.items()):
        bank = bank_of(quote, quotes)
        alias = alias_of("doviz", quote.symbol.removeprefix(f"{bank}-") if bank else quote.symbol)
        result = SearchResult("doviz", quote.symbol, quote.name, quote.currency, source=quote.source)
        # A bank's instrument does not match for `usd` like that of the market.
        parts = "" if bank else quote.symbol.replace("-", " ")
        # With dashes, `isbankasi` is a word too.
        names = f"{quote.name.replace(' ', '-')} {quote.source.replace(' ', '-')} {alias.names}"
        weight = _weight(quote.symbol, alias, 0.0, dealer=bank is not None)
        yield Listing(result, quote.symbol, parts, names, weight)


def _weight(ticker: str, alias: Alias, turnover: float, *, dealer: bool = False) -> float:
    return dealer * _DEALER_WEIGHT + alias.place * _PLACE_WEIGHT - min(turnover, 9e12) + len(ticker)


def identity(quote: Quote | None) -> Sequence[str | None]:
    """Returns the fields of a quote by which a search finds or shows it; none for a removed quote."""
    match quote:
        case StockQuote():
            return (quote.name,)
        case CryptoQuote():
            return (quote.name, quote.exchange)
        case DovizQuote():
            return (quote.name, quote.source, quote.currency)
        case None:
            return ()


def alias_of(kind: Kind, symbol: str) -> Alias:
    """Returns the other names of an instrument. A pair's symbol is its base asset."""
    return _aliases().get((kind, symbol), _NO_ALIAS)


@cache
def _aliases() -> Mapping[tuple[str, str], Alias]:
    rows = enumerate(rows_of("aliases.csv"))
    return {(row["type"], row["symbol"]): Alias(place, row["names"].replace(";", " ")) for place, row in rows}
