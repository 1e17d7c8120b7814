"""The quote of one symbol, for every feed."""

from quotecast.api.answers.answers import Answer, quote_answer
from quotecast.api.market.selection import renamed_headers
from quotecast.api.market.services import MarketServices, require_mirror
from quotecast.errors import SymbolNotFound
from quotecast.market.feeds import Feed


def one_quote(services: MarketServices, feed: Feed, symbol: str) -> Answer:
    """Returns the answer with one quote. Raises ProviderMissing, NoData or SymbolNotFound."""
    mirror = require_mirror(services, feed)
    entry = mirror.find(symbol)
    if entry is None:
        raise SymbolNotFound
    answer = quote_answer(mirror, services.monotonic(), entry)
    if symbol != entry.key:
        answer.add_headers(*renamed_headers(mirror, [(symbol, entry.key)]))
    return answer
