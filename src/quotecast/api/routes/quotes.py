"""The quote of one symbol, alike on every feed."""

from quotecast.api.answers import Answer, of_quote
from quotecast.api.services import Services, loaded
from quotecast.errors import SymbolNotFound
from quotecast.market.feeds import Feed


def one_quote(services: Services, feed: Feed, symbol: str) -> Answer:
    """Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = loaded(services, feed)
    entry = mirror.find(symbol)
    if entry is None:
        raise SymbolNotFound
    return of_quote(mirror, services.monotonic(), entry)
