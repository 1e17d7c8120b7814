"""From tickers to quotes that can be believed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase.wire import Ticker
from quotecast.providers.reference import asset_name

#: A price that many times above or below the last good one is absurd.
ABSURD_FACTOR: Final = 10
#: How long a good price judges later ones, so that a true leap is believed in the end.
JUDGING_SECONDS: Final = 3600.0


class _Good(Struct, frozen=True):
    price: float
    sequence: int
    received: float


class Tickers:
    """Turns the tickers of one upstream into quotes, over all its connections.

    A ticker is refused, and counted by reason, when it has no readable product or price
    (`unreadable`), is older than one already taken (`outdated`), or its price is more than ten times
    or less than a tenth of the last good one of the past hour (`absurd`). The last good quote stands.
    """

    def __init__(self) -> None:
        self.refused: Counter[str] = Counter()
        self._names: Mapping[str, str] = {}
        self._good: dict[str, _Good] = {}

    def learn_names(self, names: Mapping[str, str]) -> None:
        """Names of assets by symbol, as the upstream spells them; they win over our own."""
        self._names = names

    def keep_only(self, pairs: Iterable[str]) -> list[str]:
        """Forgets every pair not among `pairs`; the pairs that were known and are gone, sorted."""
        gone = sorted(self._good.keys() - set(pairs))
        for pair in gone:
            del self._good[pair]
        return gone

    def quote(self, ticker: Ticker, received: float) -> CryptoQuote | None:
        """The quote that `ticker`, received at that Unix time, makes; None when it is refused."""
        pair = canonical(Feed.CRYPTO, ticker.product_id)
        quote = ticker.to_quote(pair, self._name(pair.partition("/")[0]), received) if pair else None
        reason = self._doubt(quote, ticker.sequence, received) if quote else "unreadable"
        if reason or not quote:
            self.refused[reason] += 1
            return None
        self._good[quote.key] = _Good(quote.price, ticker.sequence, received)
        return quote

    def _name(self, symbol: str) -> str:
        return self._names.get(symbol) or asset_name(symbol) or symbol

    def _doubt(self, quote: CryptoQuote, sequence: int, received: float) -> str:
        good = self._good.get(quote.key)
        if good is None or received - good.received >= JUDGING_SECONDS:
            return ""
        # Sequences are compared, not times: a clock that steps back must not silence a product.
        if 0 < sequence < good.sequence:
            return "outdated"
        believable = good.price / ABSURD_FACTOR <= quote.price <= good.price * ABSURD_FACTOR
        return "" if believable else "absurd"
