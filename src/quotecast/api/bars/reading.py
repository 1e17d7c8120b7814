"""Reads bars from the upstream of the price, or else those made from our own quotes.

With `as_of` it reads days as the service knew them at a past moment.
"""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from quotecast.api.bars.market import Market, market_of
from quotecast.api.bars.own_bars import LiveDay, OwnAfterPast, OwnBars, as_upstream
from quotecast.api.bars.pages import MAX_WINDOWS, BarPage, read_page
from quotecast.api.bars.queries import BarQuery, check_span, opening_of
from quotecast.api.bars.sources import ORIGIN, HistoryPart, Source, Upstream, history_of, midnight_of
from quotecast.api.market.services import Services, series_of
from quotecast.errors import InvalidValue, NotOffered, ProviderMissing, SymbolNotFound, UpstreamError
from quotecast.history.known_bars import KnownDay
from quotecast.market.actions import CorporateAction, without_splits
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import LENGTHS, Bar, Interval, bar_time
from quotecast.market.conversion import times
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK

#: With the hour that a day has more when summer time ends.
_LONGEST_DAY: Final = 90_000
#: Errors of an upstream that has no bars of an instrument, or none now.
WITHOUT_BARS: Final = (ProviderMissing, NotOffered, SymbolNotFound, UpstreamError)

#: The time after which all workers have stored what they had read by a moment.
_STORED_AFTER: Final = timedelta(minutes=5)
#: No day of a window is settled because it is old: readings by the moment may still be stored.
_NEVER: Final = timedelta(days=36_500)


async def read_bars(
    services: Services, market: Market, query: BarQuery, *, own_only: bool, most: int = MAX_WINDOWS
) -> BarPage:
    """Returns a page of bars; one page never mixes sources.

    Raises InvalidValue for a bad span, and the upstream's error if there are no own bars either.
    """
    if services.as_of is not None:
        source = _source_as_of(services, market, own_only=own_only)
        return await _read(source, market, query, most)
    own = _own(services, market, own_only=own_only)
    if own is not None:
        return await _read(own, market, query, most)
    try:
        day = LiveDay(services, market, Upstream(services, market))
        found = await _read(day, market, query, most)
    except WITHOUT_BARS:
        ours = await own_page(services, market, query, most)
        if ours is None:
            raise
        return ours
    if found.history or (found.rest is not None and query.order == "asc"):
        return found
    return await own_page(services, market, query, most) or found


def _own(services: Services, market: Market, *, own_only: bool) -> Source | None:
    """Returns the source of own bars, where those are wanted or nobody else has bars."""
    offered = services.history.get(market.feed, {})
    # An origin has older bars of currencies than a region that began later.
    if not own_only and (market.feed is not Feed.DOVIZ or ORIGIN in offered):
        return None
    if not own_only and market.provider in offered:
        return OwnAfterPast(OwnBars(services, market), Upstream(services, market))
    return OwnBars(services, market)


def _source_as_of(services: Services, market: Market, *, own_only: bool) -> Source:
    """Returns the source of days as they were known."""
    # Caches know nothing of past moments, so sources of the present fill them.
    present = replace(services, as_of=None)
    now = market_of(present, market.feed, market.symbol)
    own = _own(present, now, own_only=own_only)
    if own is None:
        try:
            history_of(present, now)
        except ProviderMissing:
            own = OwnBars(present, now)
    return DaysRead(services, market) if own is None else EndedDays(own, market)


async def own_page(services: Services, market: Market, query: BarQuery, most: int) -> BarPage | None:
    """Returns a page of own bars; None if there are none, or none now."""
    try:
        page = await _read(OwnBars(services, market), market, query, most)
    except UpstreamError:
        return None
    return page if page.bars else None


async def _read(source: Source, market: Market, asked: BarQuery, most: int) -> BarPage:
    """Returns a page; where it would be empty, back without a start, that of the newest bars before the gap.

    Days tell where those are. No other page follows an empty one: an instrument's first trade is behind it.
    Raises InvalidValue for a bad span.
    """
    now = market.moment.timestamp()
    query = check_span(asked, now)
    page = await read_page(source, market, query, most)
    if asked.start is not None or asked.order == "asc" or market.reach is not None:
        return page
    before = page.rest.end if page.rest else query.start
    if not page.bars and before and asked.interval in LENGTHS:
        days = await read_page(source, market, BarQuery("D", None, before, 1, "desc"), MAX_WINDOWS)
        if days.bars:
            end = min(opening_of(days.bars[0]) + _LONGEST_DAY, before)
            query = check_span(replace(asked, end=end), now)
            page = await read_page(source, market, query, most)
            before = page.rest.end if page.rest else query.start
    return replace(page, rest=replace(asked, end=before) if page.bars and before else None)


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
        raise InvalidValue("as_of", "Works with daily bars only: send `interval=D`")
