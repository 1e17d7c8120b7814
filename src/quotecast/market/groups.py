"""Names that stand for many symbols: `sector:Energy`, `category:gold`, `bank:akbank`."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quotecast.market.quotes import DovizQuote, Quote, StockQuote


def groups(
    quotes: Mapping[str, Quote], groups_of: Callable[[Any, Mapping[str, Any]], Iterator[str]]
) -> dict[str, frozenset[str]]:
    """Keys of the members of every group that has any."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for key, quote in quotes.items():
        for group in groups_of(quote, quotes):
            members[group].add(key)
    return {group: frozenset(keys) for group, keys in members.items()}


def no_groups(_quote: Quote, _quotes: Mapping[str, Quote]) -> Iterator[str]:
    """Groups of a feed that has none."""
    return iter(())


def groups_of_stock(quote: StockQuote, _quotes: Mapping[str, Quote]) -> Iterator[str]:
    """Its sector."""
    yield f"sector:{quote.sector}"


def groups_of_currency(quote: DovizQuote, quotes: Mapping[str, Quote]) -> Iterator[str]:
    """Its category, and its bank if a bank quotes it."""
    yield f"category:{quote.category}"
    bank, _, instrument = quote.symbol.partition("-")
    # `akbank-USD` is a bank's because `USD` is quoted; `ons-gumus` is not, for `ons` is no bank.
    if instrument in quotes and bank not in quotes:
        yield f"bank:{bank}"
