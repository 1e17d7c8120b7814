"""From Binance's statistics to believable quotes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.numbers import MAX_SKEW, from_milliseconds
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.binance import wire
from quotecast.providers.crypto import PairTickers, newest
from quotecast.providers.transport.recording import Instrument
from quotecast.providers.validation.rows import decode_each

#: Seconds before a pair that stopped trading goes: the time that its last statistics cover.
DAY_SECONDS: Final = 86_400.0
#: Seconds before the next connection when the upstream announces the end of this one.
SHUTDOWN_SECONDS: Final = 1.0


class BinanceTickers(PairTickers):
    """Turns Binance's statistics and candles into quotes and bars of a venue; see PairTickers.

    It counts statistics of 24 hours that ended a day ago as `halted`: the pair does not trade.
    """

    def __init__(self, venue: wire.BinanceVenue = wire.GLOBAL) -> None:
        super().__init__(venue)
        #: When the 24 hours of each pair's statistics ended, in Unix time.
        self._ended: dict[str, float] = {}
        self._followed: Mapping[str, str] = {}

    def follow(self, pairs: Mapping[str, str]) -> list[str]:
        """Reads only these pairs, by symbol, from now on; returns the forgotten ones, sorted."""
        self._followed = pairs
        return self.keep_only(pairs.values())

    def learn(self, instruments: Sequence[Instrument]) -> None:
        """Follows the pairs of a recording's listing, and takes its names."""
        super().learn(instruments)
        self.follow({each.symbol: each.pair for each in instruments})

    def drop_halted(self, now: float) -> list[str]:
        """Forgets pairs whose newest statistics ended a day before that Unix time; returns them, sorted."""
        self._ended = {pair: ended for pair, ended in self._ended.items() if now - ended < DAY_SECONDS}
        return self.keep_only(self._ended)

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """See PairTickers; raises UpstreamError for an error message or an announced end."""
        return newest(self._quote(statistics, received) for statistics in self._events(messages))

    def take(self, rows: Iterable[Raw], received: float) -> list[CryptoQuote]:
        """Returns the quotes of rows of the 24-hour statistics that arrived at that Unix time."""
        read = decode_each(rows, wire.row, self._refused)
        return newest(self._quote(statistics, received) for statistics in read)

    def _events(self, raws: Iterable[bytes]) -> Iterator[wire.PairStatistics]:
        for message in decode_each(raws, wire.decode, self._refused):
            if isinstance(message, wire.PairStatistics):
                yield message
            elif not isinstance(message, wire.KlineEvent):
                check_ending(message)
            elif pair := self._followed.get(message.symbol):
                kline = message.kline
                self._keep_bar(pair, kline, from_milliseconds(kline.open_time), final=kline.closed)

    def _quote(self, statistics: wire.PairStatistics, received: float) -> CryptoQuote | None:
        """Returns None when a check refuses the statistics, or nobody follows the pair."""
        pair = self._followed.get(statistics.symbol)
        if pair is None:
            return None
        # Grows with the time of the statistics; 0 without a time, or for one in the future.
        order = statistics.close_time or 0.0
        if order > (received + MAX_SKEW.total_seconds()) * 1000:
            order = 0.0
        ended = order / 1000 or received
        if received - ended >= DAY_SECONDS:
            self._refused.count("halted")
            return None
        quote = self._check(statistics, pair, received, order)
        if quote is not None:
            self._ended[pair] = ended
        return quote


def check_ending(message: wire.Message | None) -> None:
    """Raises UpstreamError for a message that ends the connection."""
    if isinstance(message, wire.BinanceFailure):
        raise UpstreamError(f"Binance: error {message.code}: {message.text}")
    if isinstance(message, wire.Shutdown):
        raise UpstreamError("Binance is about to end the connection", retry_after=SHUTDOWN_SECONDS)
