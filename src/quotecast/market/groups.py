"""Groups of symbols: `sector:Energy`, `category:gold`, `bank:akbank`."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quotecast.market.quotes import DovizQuote, Quote, StockQuote


def groups(
    quotes: Mapping[str, Quote], groups_of: Callable[[Any, Mapping[str, Any]], Iterator[str]]
) -> dict[str, frozenset[str]]:
    """Returns the keys of the members of each group that has members."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for key, quote in quotes.items():
        for group in groups_of(quote, quotes):
            members[group].add(key)
    return {group: frozenset(keys) for group, keys in members.items()}


def groups_of_stock(quote: StockQuote, _quotes: Mapping[str, Quote]) -> Iterator[str]:
    """Yields the group of the stock's sector."""
    yield f"sector:{quote.sector}"


def groups_of_currency(quote: DovizQuote, quotes: Mapping[str, Quote]) -> Iterator[str]:
    """Yields the group of the category, and of the bank if a bank quotes the instrument."""
    yield f"category:{quote.category}"
    if bank := bank_of(quote, quotes):
        yield f"bank:{bank}"


def bank_of(quote: DovizQuote, quotes: Mapping[str, Any]) -> str | None:
    """Returns the slug of the bank that deals in the instrument; None for the market's."""
    bank, _, instrument = quote.symbol.partition("-")
    # `akbank-USD` is a bank's quote because `USD` is an instrument; `ons-gumus` is none: `ons` is one itself.
    return bank if instrument in quotes and bank not in quotes else None
