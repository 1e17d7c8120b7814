"""The delayed market: what a client of a delayed plan reads in place of the live one.

Its mirrors and documents are those of the delayed feeds. What comes from elsewhere, bars and recorded
moments, ends at the market's time, which is late. Finer bars make the bar that
trades after that time.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.bars.market import calendar_of_venue
from quotecast.api.bars.sources import SETTLED_AFTER
from quotecast.api.market.past import Past
from quotecast.api.market.services import BarStore, MarketServices, Services, series_of
from quotecast.cache.base import Cache, Cached, Fetch, Policy
from quotecast.errors import NotOffered
from quotecast.feed.documents import Documents
from quotecast.feed.mirror import Mirror
from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bar_making import GRACE_SECONDS
from quotecast.market.bars import LENGTHS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import Calendar, Exchange, latest_close
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, OwnBar
from quotecast.providers.base import ExtendedHistoryProvider, HistoryProvider

#: The bars of which the one in progress is made.
_FINER: Final[Mapping[Interval, Interval]] = {
    "M": "D", "W": "D", "D": "1h", "4h": "1h", "1h": "5m", "30m": "5m", "15m": "5m", "5m": "1m",
}  # fmt: skip
_TICK: Final = timedelta(milliseconds=1)
#: Our own bars are final so long after their end, and have quotes that came in the meantime.
_GRACE: Final = timedelta(seconds=GRACE_SECONDS)

#: Reads one symbol's bars that open between two times.
Read = Callable[[Interval, datetime, datetime], Awaitable[Sequence[Bar]]]
T = TypeVar("T", bound=MarketServices)


class DelayedMarket(Struct, frozen=True):
    """The mirrors and documents of the delayed feeds, and the seconds by which they are late."""

    mirrors: Mapping[Feed, Mirror]
    documents: Documents
    seconds: int


def delayed_services(whole: T, market: DelayedMarket) -> T:
    """Returns the services of which views of the delayed market are made; names are the views' own."""
    seconds = market.seconds
    view = replace(
        whole,
        mirrors=market.mirrors,
        documents=market.documents,
        past=Past(whole.past.store, clock=lambda: whole.clock() - seconds),
        delay_seconds=seconds,
    )
    if not isinstance(view, Services):
        return view
    return replace(
        view,
        history={
            feed: {name: _late_history(view, feed, each) for name, each in providers.items()}
            for feed, providers in view.history.items()
        },
        stored_bars=_LateStoredBars(view, view.stored_bars),
        cache=_LateCache(view.cache, seconds),
    )


def time_of_market(services: MarketServices, mirror: Mirror) -> datetime:
    """Returns the time of a feed; that of a simulated or recorded one is its newest quote's.

    The quotes of a provider that is late itself are late by both delays, and so are its bars.
    """
    info = mirror.info
    if info is not None and info.simulated:
        return mirror.derive(_newest) or datetime.fromtimestamp(0, UTC)
    late = services.delay_seconds if info is None else max(services.delay_seconds, info.delay_seconds)
    return datetime.fromtimestamp(services.clock() - late, UTC)


def _newest(mirror: Mirror) -> datetime | None:
    times = [quote.timestamp for quote in mirror.quotes().values() if quote.timestamp]
    return datetime.fromisoformat(max(times)) if times else None


def first_unsettled(
    calendar: Calendar, interval: Interval, now: datetime, *, late: timedelta = timedelta()
) -> datetime:
    """Returns the opening of the first bar that trades after `now`; trades may be `late` after a close."""
    day = next(calendar.until(now))
    if now < latest_close(calendar, day) + late:
        # A halt moves the close before now; the bar goes on when the exchange trades again.
        moment = min(now, day.close - _TICK)
    else:
        moment = calendar.first_from(day.date + timedelta(days=1)).open
    opened = opening_of_bar(calendar, interval, moment)
    assert opened is not None, "the market is open"  # noqa: S101 - narrows the type
    return opened


def _late_history(services: Services, feed: Feed, history: HistoryProvider) -> HistoryProvider:
    is_extended = isinstance(history, ExtendedHistoryProvider)
    return (_LateExtendedHistory if is_extended else _LateHistory)(services, feed, history)


class _LateHistory:
    """The bars of an upstream up to the time of the delayed market."""

    def __init__(self, services: Services, feed: Feed, history: HistoryProvider) -> None:
        self.name = history.name
        self._services = services
        self._mirror = services.mirrors[feed]
        self._history = history

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> Sequence[Bar]:
        """See HistoryProvider."""
        calendar = calendar_of_venue(self._mirror)
        return await self._settled(partial(self._history.bars, symbol), calendar, interval, start, end)

    async def _settled(
        self, read: Read, calendar: Calendar, interval: Interval, start: datetime, end: datetime
    ) -> list[Bar]:
        """Returns bars without what traded after the market's time; finer bars make the one in progress."""
        now = time_of_market(self._services, self._mirror)
        end = min(end, now + _TICK)
        if start >= end:
            return []
        # A closing auction comes after the close, and only bars of days have it.
        late = timedelta() if interval in LENGTHS else SETTLED_AFTER
        opened = first_unsettled(calendar, interval, now, late=late)
        bars = [each for each in await read(interval, start, end) if each.time < bar_time(opened)]
        finer = _FINER.get(interval)
        if finer is None or opened >= end:
            return bars
        try:
            parts = await self._settled(read, calendar, finer, opened, now + _TICK)
        except NotOffered:
            return bars
        made = aggregate_bars(parts, interval, calendar)
        return bars + [each for each in made if each.time == bar_time(opened)]


class _LateExtendedHistory(_LateHistory):
    """The same with the hours before and after the regular sessions."""

    async def extended_bars(
        self, symbol: str, interval: Interval, start: datetime, end: datetime
    ) -> Sequence[Bar]:
        """See ExtendedHistoryProvider."""
        history, calendar = self._history, calendar_of_venue(self._mirror)
        assert isinstance(history, ExtendedHistoryProvider)  # noqa: S101 - narrows the type
        assert isinstance(calendar, Exchange)  # noqa: S101 - narrows the type
        return await self._settled(
            partial(history.extended_bars, symbol), calendar.extended(), interval, start, end
        )


class _LateStoredBars:
    """The stored bars that were final at the time of the delayed market."""

    def __init__(self, services: MarketServices, stored: BarStore) -> None:
        self._services = services
        self._stored = stored

    async def read(
        self, series: str, symbols: Sequence[str], interval: LiveInterval, start: datetime, end: datetime
    ) -> Mapping[str, Sequence[OwnBar]]:
        """See BarStore."""
        mirror = next((each for each in self._services.mirrors.values() if series_of(each) == series), None)
        if mirror is None:
            return {}
        now = time_of_market(self._services, mirror) - _GRACE
        until = first_unsettled(calendar_of_venue(mirror), interval, now).timestamp()
        found = await self._stored.read(series, symbols, interval, start, end)
        return {symbol: [bar for bar in bars if bar.opened < until] for symbol, bars in found.items()}


class _LateCache:
    """Entries of each delay: those of the live market, or of a shorter delay before, are younger."""

    def __init__(self, cache: Cache, seconds: int) -> None:
        self._cache = cache
        self._seconds = seconds

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        """See Cache."""
        return await self._cache.read(f"{key}:delayed{self._seconds}", policy, fetch)
