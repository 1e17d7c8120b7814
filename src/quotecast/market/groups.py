"""Names that stand for many symbols: `sector:Energy`, `category:gold`, `bank:akbank`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from quotecast.market.quotes import DovizQuote, Quote, StockQuote


def groups(quotes: Mapping[str, Quote]) -> dict[str, frozenset[str]]:
    """Keys of the members of every group that has any."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for key, quote in quotes.items():
        for group in _groups_of(quote, quotes):
            members[group].add(key)
    return {group: frozenset(keys) for group, keys in members.items()}


def _groups_of(quote: Quote, quotes: Mapping[str, Quote]) -> Iterator[str]:
    if isinstance(quote, StockQuote):
        yield f"sector:{quote.sector}"
    elif isinstance(quote, DovizQuote):
        yield f"category:{quote.category}"
        bank, _, instrument = quote.symbol.partition("-")
        # `akbank-USD` is a bank's because `USD` is quoted; `ons-gumus` is not, for `ons` is no bank.
        if instrument in quotes and bank not in quotes:
            yield f"bank:{bank}"
