"""The days of an instrument as the service knew them at a past moment."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from quotecast.api.bars.market import Market
from quotecast.api.bars.sources import HistoryPart, Source, midnight_of
from quotecast.api.market.services import Services
from quotecast.api.market.stored_bars import series_of
from quotecast.errors import InvalidValue
from quotecast.history.known_bars import KnownDays
from quotecast.market.actions import without_splits
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.conversion import times
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK

#: The time after which all workers have stored what they had read by a moment.
_STORED_AFTER: Final = timedelta(minutes=5)


class DaysRead:
    """An upstream's days as they were read by the moment of the market, as a Source."""

    settled_after = _STORED_AFTER

    def __init__(self, services: Services, market: Market) -> None:
        self.name = market.provider
        self._services = services
        self._market = market
        self._bars: Sequence[Bar] | None = None

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source. Raises InvalidValue if none were read by then, and DatabaseAway."""
        _require_days(interval)
        if self._bars is None:
            self._bars = await self._known()
        first, end = bar_time(window.start), bar_time(window.end)
        found = [bar for bar in self._bars if first <= bar.time < end]
        is_settled = self._market.moment.timestamp() + _STORED_AFTER.seconds < self._services.clock()
        return HistoryPart(found, "HIT", 0, past=is_settled, history=True)

    async def _known(self) -> Sequence[Bar]:
        services, market = self._services, self._market
        feed = series_of(services.mirrors[market.feed])
        known = await services.known_bars.read(feed, market.symbol, market.moment)
        if known is None:
            raise InvalidValue("as_of", f"Must not be before the days of {market.symbol} were first read")
        self.name = known.provider
        return await _in_shares_of_then(services, market, known)


async def _in_shares_of_then(services: Services, market: Market, known: KnownDays) -> Sequence[Bar]:
    """Returns known days in the shares of the moment, by the splits since their reading that were known."""
    if market.feed is not Feed.STOCKS:
        return known.bars
    first, last = (moment.astimezone(NEW_YORK).date() for moment in (known.read_at, market.moment))
    unread: Sequence[str] = [market.symbol]
    for provider in services.actions if first < last else ():
        actions, unread = await services.known_actions.read(provider.name, unread, market.moment)
        if not unread:
            shares = without_splits(actions, last).factor(first)
            return known.bars if shares == 1 else [_divided(bar, shares) for bar in known.bars]
    return known.bars


def _divided(bar: Bar, shares: Decimal) -> Bar:
    """Returns the bar of a share that has become several."""
    prices = {name: times(getattr(bar, name), 1 / shares) for name in ("open", "high", "low", "close")}
    return replace(bar, **prices, volume=times(bar.volume, shares))


class EndedDays:
    """The days of a source that had ended by a moment, as a Source: own bars never change."""

    def __init__(self, source: Source, market: Market) -> None:
        self.name = source.name
        self.settled_after = source.settled_after
        self._source = source
        self._today = midnight_of(market)

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source."""
        _require_days(interval)
        part = await self._source.read(interval, window)
        return replace(part, bars=[bar for bar in part.bars if bar.time < self._today])


def _require_days(interval: Interval) -> None:
    if interval != "D":
        raise InvalidValue("as_of", "Must be with bars of days: interval=D")
