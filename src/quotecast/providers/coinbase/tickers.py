"""From tickers to quotes that can be believed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase import wire
from quotecast.providers.reference import asset_name
from quotecast.providers.transport.recording import Instrument
from quotecast.providers.validation.pairs import Pairs, newest


class Tickers:
    """Turns tickers of the upstream into quotes, over all its connections.

    What is no JSON or no message is refused, and counted as `malformed`; the rest is left to `Pairs`.
    """

    def __init__(self) -> None:
        self._pairs = Pairs("coinbase")
        self._names: Mapping[str, str] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many messages and fields were refused since the start, by reason."""
        return self._pairs.refused.by_reason()

    def learn_names(self, names: Mapping[str, str]) -> None:
        """Names of assets by symbol, as the upstream spells them; they win over our own."""
        self._names = names

    def instruments(self, products: Iterable[str]) -> list[Instrument]:
        """Products as a recording lists them."""
        divided = [(product, *product.split("-", 1)) for product in products]
        return [Instrument(product, base, quote, self._name(base)) for product, base, quote in divided]

    def learn(self, instruments: Sequence[Instrument]) -> None:
        """Takes over the names of a recording's listing."""
        self.learn_names({each.base: each.name for each in instruments})

    def keep_only(self, pairs: Collection[str]) -> list[str]:
        """Forgets every pair not among `pairs`; the pairs that were known and are gone, sorted."""
        return self._pairs.keep_only(pairs)

    def quote(self, ticker: wire.Ticker, received: float) -> CryptoQuote | None:
        """The quote that `ticker`, received at that Unix time, makes; None when it is refused."""
        pair = canonical(Feed.CRYPTO, ticker.product_id)
        quote = ticker.to_quote(pair, self._name(pair.partition("/")[0]), received) if pair else None
        return self._pairs.take(quote, ticker.unreadable(), received, ticker.sequence)

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """The newest quote of each pair that messages of the feed, received at that time, bring.

        Raises UpstreamError on a complaint.
        """
        return newest(self.quote(ticker, received) for ticker in self._decoded(messages))

    def _decoded(self, messages: Iterable[bytes]) -> Iterator[wire.Ticker]:
        for raw in messages:
            try:
                message = wire.decode(raw)
            except ValueError:
                self._pairs.refused.count("malformed")
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
