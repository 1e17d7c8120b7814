"""From Binance's statistics to quotes that can be believed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.binance import messages, wire
from quotecast.providers.binance.venues import GLOBAL, Venue
from quotecast.providers.reference import asset_name
from quotecast.providers.transport.recording import Instrument
from quotecast.providers.validation.pairs import Pairs, newest
from quotecast.providers.validation.values import MAX_SKEW

#: How long the last statistics of a pair that stopped trading are shown: the time that they are about.
DAY_SECONDS: Final = 86_400.0
#: How long to stay away when the upstream announces that it ends the connection.
SHUTDOWN_SECONDS: Final = 1.0


class Tickers:
    """Turns statistics of the upstream into quotes, over all its connections.

    What is no JSON or no message is refused, and counted as `malformed`. So are statistics of 24 hours that
    ended a day ago, as `halted`: the pair does not trade. The rest is left to `Pairs`. Quotes name `venue`.
    """

    def __init__(self, venue: Venue = GLOBAL) -> None:
        self._venue = venue
        self._pairs = Pairs(venue.name)
        #: When the 24 hours of each pair's statistics ended, in Unix time.
        self._ended: dict[str, float] = {}
        self._followed: Mapping[str, str] = {}
        self._names: Mapping[str, str] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many messages, rows and fields were refused since the start, by reason."""
        return self._pairs.refused.by_reason()

    def follow(self, pairs: Mapping[str, str]) -> list[str]:
        """Passes over all but these pairs, by symbol; those that were known and are gone, sorted."""
        self._followed = pairs
        return self._pairs.keep_only(pairs.values())

    def instruments(self) -> list[Instrument]:
        """The pairs that are followed, for a recording."""
        divided = [(symbol, *pair.split("/")) for symbol, pair in self._followed.items()]
        return [Instrument(symbol, base, quote, self._name(base)) for symbol, base, quote in divided]

    def learn(self, instruments: Sequence[Instrument]) -> None:
        """Follows the pairs of a recording's listing, and takes over its names."""
        self._names = {each.base: each.name for each in instruments}
        self.follow({each.symbol: each.pair for each in instruments})

    def drop_halted(self, now: float) -> list[str]:
        """Forgets pairs whose newest statistics ended a day before that Unix time; returns them, sorted."""
        self._ended = {pair: ended for pair, ended in self._ended.items() if now - ended < DAY_SECONDS}
        return self._pairs.keep_only(self._ended)

    def quotes(self) -> list[CryptoQuote]:
        """The last good quote of every pair."""
        return self._pairs.quotes()

    def read(self, frames: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """The newest quotes that messages of a stream bring, which came at that Unix time.

        Raises UpstreamError for an error message, or when the upstream announces the connection's end.
        """
        return newest(self._quote(told, received) for told in self._statistics(frames))

    def take(self, rows: Iterable[Raw], received: float) -> list[CryptoQuote]:
        """The quotes that rows of the 24-hour statistics bring."""
        return newest(self._quote(told, received) for told in self._rows(rows))

    def _rows(self, rows: Iterable[Raw]) -> Iterator[wire.Statistics]:
        for raw in rows:
            try:
                yield wire.row(raw)
            except ValueError:
                self._pairs.refused.count("malformed")

    def _statistics(self, frames: Iterable[bytes]) -> Iterator[wire.Statistics]:
        for raw in frames:
            try:
                message = messages.decode(raw)
            except ValueError:
                self._pairs.refused.count("malformed")
                continue
            if isinstance(message, wire.Statistics):
                yield message
            else:
                heed(message)

    def _quote(self, told: wire.Statistics, received: float) -> CryptoQuote | None:
        """None when the statistics are refused, or of a pair that is not followed."""
        pair = self._followed.get(told.symbol)
        if pair is None:
            return None
        order = _order(told, received)
        ended = order / 1000 or received
        if received - ended >= DAY_SECONDS:
            self._pairs.refused.count("halted")
            return None
        quote = told.to_quote(pair, self._name(pair.partition("/")[0]), received, self._venue)
        taken = self._pairs.take(quote, told.unreadable(), received, order)
        if taken is not None:
            self._ended[pair] = ended
        return taken

    def _name(self, base: str) -> str:
        return self._names.get(base) or asset_name(base) or base


def heed(message: messages.Message | None) -> None:
    """Raises UpstreamError for a message that ends the connection."""
    if isinstance(message, messages.Failure):
        raise UpstreamError(f"Binance: error {message.code}: {message.text}")
    if isinstance(message, messages.Shutdown):
        raise UpstreamError("Binance is about to end the connection", retry_after=SHUTDOWN_SECONDS)


def _order(told: wire.Statistics, received: float) -> float:
    """Where the statistics stand among others of the pair; 0 for a time in the future."""
    latest = (received + MAX_SKEW.total_seconds()) * 1000
    return told.close_time if told.close_time is not None and told.close_time <= latest else 0
