"""From Binance's statistics to quotes that can be believed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.binance import messages, wire
from quotecast.providers.judgement import Judge
from quotecast.providers.reference import asset_name
from quotecast.providers.values import MAX_SKEW

#: How long to stay away when the upstream announces that it ends the connection.
SHUTDOWN_SECONDS: Final = 1.0

_PRICES: Final = ("bid", "ask", "open", "high", "low")
#: What symbols end with, the longest first; for recordings, which hold no listing.
_QUOTES: Final = ("FDUSD", "USDT", "USDC", "TUSD", "TRY", "EUR", "BRL", "BTC", "ETH", "BNB")


class Tickers:
    """The last state of each pair, over all connections.

    Refused, and counted by reason: what is no JSON or no message (`malformed`), statistics without a
    readable price (`unreadable`), older than those already taken (`outdated`), or whose price is more than
    ten times or less than a tenth of the last good one of the past hour (`absurd`). Other fields that
    cannot be read or leap that far (`unreadable field`, `absurd field`) keep their last good value.
    """

    def __init__(self) -> None:
        self._prices = Judge()
        self._fields = Judge()
        self._pairs: Mapping[str, str] = {}
        self._known: dict[str, CryptoQuote] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many messages, rows and fields were refused since the start, by reason."""
        fields = {f"{reason} field": count for reason, count in self._fields.refused.items()}
        return dict(self._prices.refused) | fields

    def follow(self, pairs: Mapping[str, str]) -> list[str]:
        """Passes over all but these pairs, which are by symbol; those that were known and are gone, sorted.

        Until told, every pair that a symbol can be divided into is followed.
        """
        self._pairs = pairs
        gone = self._prices.keep_only(pairs.values())
        self._fields.keep_only(f"{pair} {name}" for pair in pairs.values() for name in _PRICES)
        for pair in gone:
            self._known.pop(pair, None)
        return gone

    def quotes(self) -> list[CryptoQuote]:
        """The last good quote of every pair."""
        return list(self._known.values())

    def read(self, frames: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """The newest quotes that messages of a stream bring, which came at that Unix time.

        Raises UpstreamError for an error message, or when the upstream announces the connection's end.
        """
        return self._newest(self._statistics(frames), received)

    def take(self, rows: Iterable[Raw], received: float) -> list[CryptoQuote]:
        """The quotes that rows of the 24-hour statistics bring."""
        return self._newest(self._rows(rows), received)

    def _newest(self, told: Iterable[wire.Statistics], received: float) -> list[CryptoQuote]:
        quotes = [quote for each in told if (quote := self._quote(each, received))]
        return list({quote.key: quote for quote in quotes}.values())

    def _rows(self, rows: Iterable[Raw]) -> Iterator[wire.Statistics]:
        for raw in rows:
            try:
                yield wire.row(raw)
            except ValueError:
                self._prices.refuse("malformed")

    def _statistics(self, frames: Iterable[bytes]) -> Iterator[wire.Statistics]:
        for raw in frames:
            try:
                message = messages.decode(raw)
            except ValueError:
                self._prices.refuse("malformed")
                continue
            if isinstance(message, wire.Statistics):
                yield message
            else:
                heed(message)

    def _quote(self, told: wire.Statistics, received: float) -> CryptoQuote | None:
        """None when the statistics are refused, or of a pair that is not followed."""
        pair = self._pairs.get(told.symbol) if self._pairs else _divided(told.symbol)
        if pair is None:
            return None
        base = pair.partition("/")[0]
        quote = told.to_quote(pair, asset_name(base) or base, received)
        if quote is None:
            self._prices.refuse("unreadable")
            return None
        if not self._prices.accepts(pair, quote.price, received, _order(told, received)):
            return None
        self._known[pair] = self._mended(quote, told, received)
        return self._known[pair]

    def _mended(self, quote: CryptoQuote, told: wire.Statistics, received: float) -> CryptoQuote:
        """The quote with the last good values of fields that are not to be believed."""
        doubtful = told.unreadable()
        for _ in doubtful:
            self._fields.refuse("unreadable")
        for name in _PRICES:
            value = getattr(quote, name)
            if value is not None and not self._fields.accepts(f"{quote.key} {name}", value, received):
                doubtful.append(name)
        before = self._known.get(quote.key)
        return replace(quote, **{name: getattr(before, name, None) for name in doubtful})


def heed(message: messages.Message | None) -> None:
    """Raises UpstreamError for a message that ends the connection."""
    if isinstance(message, messages.Failure):
        raise UpstreamError(f"Binance: error {message.code}: {message.text}")
    if isinstance(message, messages.Shutdown):
        raise UpstreamError("Binance is about to end the connection", retry_after=SHUTDOWN_SECONDS)


def _order(told: wire.Statistics, received: float) -> float:
    """Where the statistics stand among others of the pair; a time in the future would silence it."""
    latest = (received + MAX_SKEW.total_seconds()) * 1000
    return told.close_time if told.close_time is not None and told.close_time <= latest else 0


def _divided(symbol: str) -> str | None:
    quote = next((quote for quote in _QUOTES if symbol.endswith(quote)), None)
    return canonical(Feed.CRYPTO, f"{symbol.removesuffix(quote)}/{quote}") if quote else None
