"""Minutes made of Coinbase's trades: its streams have no candles of a minute."""

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from quotecast.market.own_bars import MINUTE, tidy_volume
from quotecast.providers.coinbase.wire import CoinbaseMatch
from quotecast.providers.validation.values import instant, number, positive


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
