"""From Kraken's tickers to believable quotes."""

from collections.abc import Iterable, Iterator

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import MAX_SKEW, instant
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.crypto import PairTickers, newest
from quotecast.providers.kraken import wire
from quotecast.providers.validation.rows import decode_each


class KrakenTickers(PairTickers):
    """Turns Kraken's tickers and candles into quotes and bars; see PairTickers."""

    def __init__(self) -> None:
        super().__init__(wire.KRAKEN)

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """See PairTickers; raises UpstreamError when Kraken says that it is closed for maintenance."""
        return newest(self._quote(ticker, received) for ticker in self._tickers(messages))

    def _tickers(self, messages: Iterable[bytes]) -> Iterator[wire.KrakenTicker]:
        for message in decode_each(messages, wire.decode, self._refused):
            check_status(message)
            if message.channel == "ticker":
                yield from decode_each(message.data, wire.ticker, self._refused)
            elif message.channel == "ohlc":
                for candle in decode_each(message.data, wire.candle, self._refused):
                    if pair := canonical_symbol(Feed.CRYPTO, candle.symbol):
                        # No candle is said to be the last of its minute.
                        self._keep_bar(pair, candle, instant(candle.interval_begin), final=False)

    def _quote(self, ticker: wire.KrakenTicker, received: float) -> CryptoQuote | None:
        made = ticker.made_at()
        # Grows with the time of the ticker; 0 without a time, or for one in the future.
        order = made.timestamp() if made else 0.0
        if order > received + MAX_SKEW.total_seconds():
            order = 0.0
        return self._check(ticker, canonical_symbol(Feed.CRYPTO, ticker.symbol), received, order)


def check_status(message: wire.Message) -> None:
    """Raises UpstreamError when Kraken says that nothing is traded."""
    if message.channel != "status":
        return
    for row in message.data:
        try:
            system = wire.status(row).system
        except (ValueError, RecursionError):
            continue
        if system == "maintenance":
            raise UpstreamError("Kraken is closed for maintenance")
