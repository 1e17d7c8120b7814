"""From Kraken's tickers to quotes that can be believed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.kraken import wire
from quotecast.providers.reference import asset_name
from quotecast.providers.transport.recording import Instrument
from quotecast.providers.validation.pairs import Pairs, newest
from quotecast.providers.validation.values import MAX_SKEW, instant


class Tickers:
    """Turns tickers of the upstream into quotes, over all its connections.

    What is no JSON, no message or no row is refused, and counted as `malformed`; the rest is left to `Pairs`.
    """

    def __init__(self) -> None:
        self._pairs = Pairs("kraken")
        self._names: Mapping[str, str] = {}

    def statistics(self) -> Mapping[str, int]:
        """How many messages, rows and fields were refused since the start, by reason."""
        return self._pairs.refused.by_reason()

    def instruments(self, pairs: Iterable[str]) -> list[Instrument]:
        """Pairs as a recording lists them."""
        divided = [(pair, *pair.split("/")) for pair in pairs]
        return [Instrument(pair, base, quote, self._name(base)) for pair, base, quote in divided]

    def learn(self, instruments: Sequence[Instrument]) -> None:
        """Takes over the names of a recording's listing."""
        self._names = {each.base: each.name for each in instruments}

    def keep_only(self, pairs: Collection[str]) -> list[str]:
        """Forgets every pair not among `pairs`; the pairs that were known and are gone, sorted."""
        return self._pairs.keep_only(pairs)

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """The newest quote of each pair that messages, received at that Unix time, bring.

        Raises UpstreamError when the upstream says that it is closed for maintenance.
        """
        return newest(self._quote(row, received) for row in self._rows(messages))

    def _rows(self, messages: Iterable[bytes]) -> Iterator[Raw]:
        for raw in messages:
            try:
                message = wire.decode(raw)
            except ValueError:
                self._pairs.refused.count("malformed")
                continue
            heed(message)
            if message.channel == "ticker":
                yield from message.data

    def _quote(self, row: Raw, received: float) -> CryptoQuote | None:
        try:
            ticker = wire.ticker(row)
        except (ValueError, RecursionError):
            self._pairs.refused.count("malformed")
            return None
        pair = canonical(Feed.CRYPTO, ticker.symbol)
        quote = ticker.to_quote(pair, self._name(pair.partition("/")[0]), received) if pair else None
        return self._pairs.take(quote, ticker.unreadable(), received, _order(ticker, received))

    def _name(self, base: str) -> str:
        return self._names.get(base) or asset_name(base) or base


def _order(ticker: wire.Ticker, received: float) -> float:
    """Where a ticker stands among others of its pair; 0 without a time, or for one in the future."""
    made = instant(ticker.timestamp)
    moment = made.timestamp() if made else 0.0
    return moment if moment <= received + MAX_SKEW.total_seconds() else 0.0


def heed(message: wire.Message) -> None:
    """Raises UpstreamError when the upstream says that nothing is traded."""
    if message.channel != "status":
        return
    for row in message.data:
        try:
            system = wire.status(row).system
        except (ValueError, RecursionError):
            continue
        if system == "maintenance":
            raise UpstreamError("Kraken is closed for maintenance")
