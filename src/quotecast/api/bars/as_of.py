"""The days of an instrument as the service knew them at a past moment."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from quotecast.api.bars.market import Market
from quotecast.api.bars.own_bars import as_upstream
from quotecast.api.bars.sources import HistoryPart, Source, midnight_of
from quotecast.api.market.services import Services
from quotecast.api.market.stored_bars import series_of
from quotecast.errors import InvalidValue
from quotecast.history.known_bars import KnownDay
from quotecast.market.actions import CorporateAction, without_splits
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.conversion import times
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK

#: The time after which all workers have stored what they had read by a moment.
_STORED_AFTER: Final = timedelta(minutes=5)
#: No day of a window is settled because it is old: readings by the moment may still be stored.
_NEVER: Final = timedelta(days=36_500)


class DaysRead:
    """An upstream's days as they were read by the moment of the market, as a Source."""

    settled_after = _NEVER

    def __init__(self, services: Services, market: Market) -> None:
        self.name = market.provider
        self._services = services
        self._market = market
        self._bars: Sequence[Bar] | None = None

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source. Raises InvalidValue if none were read by then, and DatabaseAway."""
        _require_days(interval)
        if self._bars is None:
            services, market = self._services, self._market
            feed = series_of(services.mirrors[market.feed])
            with as_upstream():
                known = await services.known_bars.read(feed, market.symbol, market.moment)
                if known is None:
                    problem = f"Must not be before the days of {market.symbol} were first read"
                    raise InvalidValue("as_of", problem)
                self.name = known.provider
                self._bars = await _in_shares_of_then(services, market, known.days)
        first, end = bar_time(window.start), bar_time(window.end)
        found = [bar for bar in self._bars if first <= bar.time < end]
        is_settled = self._market.moment.timestamp() + _STORED_AFTER.seconds < self._services.clock()
        return HistoryPart(found, "HIT", 0, past=is_settled, history=True)


async def _in_shares_of_then(services: Services, market: Market, days: Sequence[KnownDay]) -> list[Bar]:
    """Returns days in the shares of the moment, by the splits since each was read that were known then."""
    actions: Sequence[CorporateAction] = ()
    unread: Sequence[str] = [market.symbol] if market.feed is Feed.STOCKS else []
    for provider in services.actions:
        if unread:
            actions, unread = await services.known_actions.read(provider.name, unread, market.moment)
    splits = without_splits(actions, market.moment.astimezone(NEW_YORK).date())
    if not splits.steps:
        return [each.bar for each in days]
    return [_divided(each.bar, splits.factor(each.known_at.astimezone(NEW_YORK).date())) for each in days]


def _divided(bar: Bar, shares: Decimal) -> Bar:
    """Returns the bar of a share that has become several."""
    if shares == 1:
        return bar
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
