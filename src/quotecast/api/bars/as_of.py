"""The days of an instrument as the service knew them at a past moment."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from quotecast.api.bars.market import Market
from quotecast.api.bars.sources import HistoryPart, Source, known_series
from quotecast.api.market.services import Services
from quotecast.errors import InvalidValue
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import Bar, Interval, bar_time

_NOTHING: Final = timedelta()


class KnownDays:
    """An upstream's days as they were read by the moment of the market, as a Source."""

    settled_after = _NOTHING

    def __init__(self, services: Services, market: Market) -> None:
        self.name = market.provider
        self._stored = services.known_bars
        self._market = market
        self._bars: Sequence[Bar] | None = None

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source. Raises InvalidValue if none were read by then, and DatabaseAway."""
        require_days(interval)
        market = self._market
        if self._bars is None:
            self._bars = await self._stored.read(known_series(market), market.moment)
        if self._bars is None:
            raise InvalidValue("as_of", f"Must not be before the days of {market.symbol} were first read")
        first, end = bar_time(window.start), bar_time(window.end)
        found = [bar for bar in self._bars if first <= bar.time < end]
        return HistoryPart(found, "HIT", 0, past=True, history=True)


class EndedDays:
    """The days of a source that had ended by the moment of the market, as a Source: own bars never change."""

    settled_after = _NOTHING

    def __init__(self, source: Source, market: Market) -> None:
        self.name = source.name
        self._source = source
        self._day = bar_time(next(market.feed.spec.always_open.until(market.moment)).midnight)

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source."""
        require_days(interval)
        part = await self._source.read(interval, window)
        return replace(part, bars=[bar for bar in part.bars if bar.time < self._day])


def require_days(interval: Interval) -> None:
    """Raises InvalidValue for bars of another length: the service keeps what it knew of days only."""
    if interval != "D":
        raise InvalidValue("as_of", "Must be with bars of days: interval=D")
