"""From Coinbase's tickers to believable quotes."""

from collections.abc import Iterable, Iterator

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase import wire
from quotecast.providers.coinbase.minutes import Minutes
from quotecast.providers.crypto import PairTickers
from quotecast.providers.validation.pairs import newest


class CoinbaseTickers(PairTickers):
    """Turns Coinbase's tickers and trades into quotes and bars; see PairTickers."""

    def __init__(self) -> None:
        super().__init__(wire.COINBASE)
        self._minutes = Minutes()

    def begin(self, now: float) -> None:
        """Notes that a connection begins at that Unix time."""
        self._minutes.begin(now)

    def quote(self, ticker: wire.CoinbaseTicker, received: float) -> CryptoQuote | None:
        """Returns the quote of a ticker that arrived at that Unix time; None when a check refuses it."""
        return self._check(
            ticker, canonical_symbol(Feed.CRYPTO, ticker.product_id), received, ticker.sequence
        )

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """Returns the newest quote of each pair in messages that arrived at that Unix time.

        Raises UpstreamError for an error message.
        """
        quotes = newest(self.quote(ticker, received) for ticker in self._tickers(messages))
        for product, minute in self._minutes.changed():
            if pair := canonical_symbol(Feed.CRYPTO, product):
                self._keep_bar(pair, minute, minute.opened, final=False)
        return quotes

    def _tickers(self, messages: Iterable[bytes]) -> Iterator[wire.CoinbaseTicker]:
        for message in self._decode_each(messages, wire.decode):
            if isinstance(message, wire.CoinbaseFailure):
                raise error_of(message)
            if isinstance(message, wire.CoinbaseTicker):
                yield message
            elif isinstance(message, wire.CoinbaseMatch) and not self._minutes.take(message):
                self._pairs.refused.count("unreadable")


def error_of(failure: wire.CoinbaseFailure) -> UpstreamError:
    """Returns the exception for an error message."""
    return UpstreamError(f"Coinbase: {failure.message}: {failure.reason}")
