"""From Coinbase's tickers to believable quotes."""

from collections.abc import Iterable, Iterator

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase import wire
from quotecast.providers.crypto import PairTickers
from quotecast.providers.validation.pairs import newest


class CoinbaseTickers(PairTickers):
    """Turns Coinbase's tickers into quotes; see PairTickers."""

    def __init__(self) -> None:
        super().__init__(wire.COINBASE)

    def quote(self, ticker: wire.CoinbaseTicker, received: float) -> CryptoQuote | None:
        """Returns the quote of a ticker that arrived at that Unix time; None when a check refuses it."""
        return self._check(
            ticker, canonical_symbol(Feed.CRYPTO, ticker.product_id), received, ticker.sequence
        )

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """Returns the newest quote of each pair in messages that arrived at that Unix time.

        Raises UpstreamError for an error message.
        """
        return newest(self.quote(ticker, received) for ticker in self._tickers(messages))

    def _tickers(self, messages: Iterable[bytes]) -> Iterator[wire.CoinbaseTicker]:
        for message in self._decode_each(messages, wire.decode):
            if isinstance(message, wire.CoinbaseFailure):
                raise error_of(message)
            if isinstance(message, wire.CoinbaseTicker):
                yield message


def error_of(failure: wire.CoinbaseFailure) -> UpstreamError:
    """Returns the exception for an error message."""
    return UpstreamError(f"Coinbase: {failure.message}: {failure.reason}")
