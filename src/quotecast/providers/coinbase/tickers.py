"""From tickers to quotes that can be believed."""

from collections.abc import Iterable, Mapping

from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase.wire import Ticker
from quotecast.providers.judgement import Judge
from quotecast.providers.reference import asset_name


class Tickers:
    """Turns the tickers of one upstream into quotes, over all its connections.

    A ticker is refused, and counted by reason, when it has no readable product or price (`unreadable`),
    or for what `Judge` holds against it. The last good quote stands.
    """

    def __init__(self) -> None:
        self._judge = Judge()
        self._names: Mapping[str, str] = {}
        #: How many messages were refused, by reason.
        self.refused = self._judge.refused

    def refuse(self, reason: str) -> None:
        """Counts a message that is no ticker at all."""
        self._judge.refuse(reason)

    def learn_names(self, names: Mapping[str, str]) -> None:
        """Names of assets by symbol, as the upstream spells them; they win over our own."""
        self._names = names

    def keep_only(self, pairs: Iterable[str]) -> list[str]:
        """Forgets every pair not among `pairs`; the pairs that were known and are gone, sorted."""
        return self._judge.keep_only(pairs)

    def quote(self, ticker: Ticker, received: float) -> CryptoQuote | None:
        """The quote that `ticker`, received at that Unix time, makes; None when it is refused."""
        pair = canonical(Feed.CRYPTO, ticker.product_id)
        quote = ticker.to_quote(pair, self._name(pair.partition("/")[0]), received) if pair else None
        if quote is None:
            self._judge.refuse("unreadable")
            return None
        believed = self._judge.accepts(quote.key, quote.price, received, ticker.sequence)
        return quote if believed else None

    def _name(self, symbol: str) -> str:
        return self._names.get(symbol) or asset_name(symbol) or symbol
