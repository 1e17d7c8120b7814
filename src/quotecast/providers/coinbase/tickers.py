"""From Coinbase's tickers to believable quotes."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from msgspec import Struct

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol
from quotecast.market.numbers import instant, number, positive
from quotecast.market.own_bars import MINUTE, tidy_volume
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.coinbase import wire
from quotecast.providers.coinbase.wire import CoinbaseMatch
from quotecast.providers.crypto import PairTickers, newest
from quotecast.providers.validation.rows import decode_each


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
        """See PairTickers; raises UpstreamError for an error message."""
        quotes = newest(self.quote(ticker, received) for ticker in self._tickers(messages))
        for product, minute in self._minutes.changed():
            if pair := canonical_symbol(Feed.CRYPTO, product):
                self._keep_bar(pair, minute, minute.opened, final=False)
        return quotes

    def _tickers(self, messages: Iterable[bytes]) -> Iterator[wire.CoinbaseTicker]:
        for message in decode_each(messages, wire.decode, self._refused):
            if isinstance(message, wire.CoinbaseFailure):
                raise error_of(message)
            if isinstance(message, wire.CoinbaseTicker):
                yield message
            elif isinstance(message, wire.CoinbaseMatch) and not self._minutes.take(message):
                self._refused.count("unreadable")


def error_of(failure: wire.CoinbaseFailure) -> UpstreamError:
    """Returns the exception for an error message."""
    return UpstreamError(f"Coinbase: {failure.message}: {failure.reason}")


class Minute(Struct):
    """A product's minute as far as it goes; `opened` is its opening in UTC."""

    opened: datetime
    open: float
    high: float
    low: float
    close: float
    volume: float


class Minutes:
    """The minutes in progress of one connection."""

    def __init__(self) -> None:
        self._of: dict[str, Minute] = {}
        #: Those that changed since the last call of `changed`, by product and opening.
        self._changed: dict[tuple[str, datetime], Minute] = {}
        #: Unix time from which on every trade is heard.
        self._since = 0.0

    def begin(self, now: float) -> None:
        """Starts over at that Unix time: the minute in progress has trades that nobody heard."""
        self._of.clear()
        self._changed.clear()
        self._since = now

    def take(self, match: CoinbaseMatch) -> bool:
        """Counts a trade; returns whether it is readable."""
        traded, shares, made = positive(match.price), number(match.size), instant(match.time)
        if traded is None or shares is None or made is None:
            return False
        price, size = float(traded), float(shares)
        opened = datetime.fromtimestamp(made.timestamp() // MINUTE * MINUTE, UTC)
        before = self._of.get(match.product_id)
        if opened.timestamp() < self._since or (before is not None and opened < before.opened):
            return True
        if before is None or opened > before.opened:
            self._of[match.product_id] = Minute(opened, price, price, price, price, size)
        else:
            before.high, before.low = max(before.high, price), min(before.low, price)
            before.close, before.volume = price, tidy_volume(before.volume + size)
        self._changed[match.product_id, opened] = self._of[match.product_id]
        return True

    def changed(self) -> Iterator[tuple[str, Minute]]:
        """Yields the minutes that changed since the last call, each with its product."""
        for (product, _), minute in self._changed.items():
            yield product, minute
        self._changed.clear()
