"""From tickers to quotes that can be believed."""

from collections.abc import Iterable, Iterator, Mapping

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase import wire
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

    def statistics(self) -> Mapping[str, int]:
        """How many messages were refused since the start, by reason."""
        return dict(self.refused)

    def refuse(self, reason: str) -> None:
        """Counts a message that is no ticker at all."""
        self._judge.refuse(reason)

    def learn_names(self, names: Mapping[str, str]) -> None:
        """Names of assets by symbol, as the upstream spells them; they win over our own."""
        self._names = names

    def keep_only(self, pairs: Iterable[str]) -> list[str]:
        """Forgets every pair not among `pairs`; the pairs that were known and are gone, sorted."""
        return self._judge.keep_only(pairs)

    def quote(self, ticker: wire.Ticker, received: float) -> CryptoQuote | None:
        """The quote that `ticker`, received at that Unix time, makes; None when it is refused."""
        pair = canonical(Feed.CRYPTO, ticker.product_id)
        quote = ticker.to_quote(pair, self._name(pair.partition("/")[0]), received) if pair else None
        if quote is None:
            self._judge.refuse("unreadable")
            return None
        believed = self._judge.accepts(quote.key, quote.price, received, ticker.sequence)
        return quote if believed else None

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """The newest quote of each pair that messages of the feed, received at that time, bring.

        Raises UpstreamError on a complaint.
        """
        quotes = (self.quote(ticker, received) for ticker in self._decoded(messages))
        return list({quote.key: quote for quote in quotes if quote}.values())

    def _decoded(self, messages: Iterable[bytes]) -> Iterator[wire.Ticker]:
        for raw in messages:
            try:
                message = wire.decode(raw)
            except ValueError:
                self.refuse("malformed")
                continue
            if isinstance(message, wire.Failure):
                raise complaint(message)
            if isinstance(message, wire.Ticker):
                yield message

    def _name(self, symbol: str) -> str:
        return self._names.get(symbol) or asset_name(symbol) or symbol


def complaint(failure: wire.Failure) -> UpstreamError:
    """What the upstream complains of, as an error."""
    return UpstreamError(f"Coinbase: {failure.message}: {failure.reason}")
