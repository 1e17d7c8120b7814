"""The trading day in progress: its bars are the live feed's own, so that history and feed agree.

An upstream's bars of that day differ: they come later, count trades of other venues, or are corrected.
Earlier days have the upstream's bars.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from quotecast.api.bars.market import Market, calendar_of_venue
from quotecast.api.bars.own_bars import OwnBars
from quotecast.api.bars.sources import HistoryPart, Upstream
from quotecast.api.market.services import Services
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import Bar, Interval, bar_time


class LiveDay:
    """An upstream's bars, and own ones since the trading day in progress began, as a Source."""

    def __init__(self, services: Services, market: Market, upstream: Upstream) -> None:
        self.name = upstream.name
        self.settled_after = upstream.settled_after
        self._upstream = upstream
        self._day = OwnBars(services, market)
        self._start = _live_from(services, market)
        self._own: Sequence[Bar] | None = None

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source."""
        part = await self._upstream.read(interval, window)
        if self._start is None or window.end <= self._start:
            return part
        if self._own is None:
            self._own = await self._day.since(interval, self._start)
        first, end = bar_time(window.start), bar_time(window.end)
        own = [bar for bar in self._own if first <= bar.time < end]
        return replace(part, bars=overlaid(part.bars, own), past=False) if own else part


async def own_bars_of_day(
    services: Services, market: Market, interval: Interval, *, since: Bar | None = None
) -> list[Bar]:
    """Returns the own bars of the trading day in progress that have every update, ascending.

    With `since`, only those that open with that bar or later.
    """
    start = _live_from(services, market)
    if start is None:
        return []
    if since is not None:
        start = max(start, datetime.fromisoformat(since.time))
    return await OwnBars(services, market).since(interval, start)


def overlaid(bars: Sequence[Bar], own: Sequence[Bar]) -> list[Bar]:
    """Returns ascending bars; own ones replace those of the same time."""
    by_time = {bar.time: bar for bar in bars} | {bar.time: bar for bar in own}
    return [by_time[time] for time in sorted(by_time)]


def _live_from(services: Services, market: Market) -> datetime | None:
    """Returns when the own bars of the trading day begin; None where nobody knows it."""
    mirror = services.mirrors[market.feed]
    info = mirror.info
    if info is None or not info.bars_from:
        return None
    day = next(calendar_of_venue(mirror).until(market.moment))
    begun = datetime.fromtimestamp(info.bars_from, UTC)
    return day.midnight if begun <= day.open else begun
