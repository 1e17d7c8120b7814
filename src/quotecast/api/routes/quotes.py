"""The quote of one symbol, alike on every feed."""

from quotecast.api.answers import Answer, of_quote
from quotecast.api.parts import Parts, loaded
from quotecast.errors import SymbolNotFound
from quotecast.market.feeds import Feed


def one_quote(parts: Parts, feed: Feed, symbol: str) -> Answer:
    """Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = loaded(parts, feed)
    entry = mirror.find(symbol)
    if entry is None:
        raise SymbolNotFound
    return of_quote(mirror, parts.monotonic(), entry)
