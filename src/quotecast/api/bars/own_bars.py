"""Bars made from our own quotes: the stored ones, then the newest final ones, then those in progress.

Only the stored ones come through the cache; the others are in each worker's mirror. `LiveDay` puts own bars
in the place of an upstream's for the trading day in progress; earlier days have the upstream's bars.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from quotecast.api.bars.market import Market, calendar_of_venue
from quotecast.api.bars.sources import EPOCH, OWN, PAST_POLICY, HistoryPart, Source, Upstream, window_key
from quotecast.api.market.services import Services, series_of
from quotecast.cache.base import Cached, Policy
from quotecast.errors import DatabaseAway, UnreadableState, UpstreamError
from quotecast.feed.mirror import Mirror
from quotecast.market.aggregate import fold_bars
from quotecast.market.bar_windows import BarWindow
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.own_bars import LIVE_INTERVALS, LiveInterval, OwnBar

#: How long a stored copy is fresh. The mirror has the final bars of half an hour, so there is no gap between
#: the copy and the mirror.
LIVE_POLICY: Final = Policy(fresh_seconds=60, stale_seconds=86_400)
#: The time after which the bars of a window are written: they wait at most a day for a database that is away.
_WRITTEN_AFTER: Final = timedelta(days=2)
#: No trading day is longer: a night has an hour more when summer time ends.
_LONGEST_DAY: Final = timedelta(hours=25)
_VERSION: Final = 1
#: The stored bars of which the other intervals are folded.
_FINER: Final[Mapping[Interval, LiveInterval]] = {
    **{interval: interval for interval in LIVE_INTERVALS},
    "30m": "15m",
    "4h": "1h",
    "W": "D",
    "M": "D",
}

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(list[OwnBar]).decode


class OwnBars:
    """The own bars of one instrument, as a Source."""

    name = OWN
    settled_after = _WRITTEN_AFTER

    def __init__(self, services: Services, market: Market) -> None:
        self._services = services
        self._mirror = services.mirrors[market.feed]
        self._series = series_of(self._mirror)
        self._market = market

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source; the bar in progress has every update, so it closes with the current price."""
        series = f"{self._series}:{self._market.symbol}:{_FINER[interval]}.{interval}"
        past = window.end + _WRITTEN_AFTER <= self._market.moment
        cached = await self._stored(
            window_key(OWN, series, window, self._market),
            PAST_POLICY if past else LIVE_POLICY,
            _FINER[interval],
            max(window.start, EPOCH),
            window.end,
        )
        found = self._with_recent(_unpack(cached.body), interval, window.start, window.end)
        return HistoryPart(found, cached.status, cached.age_seconds, past, bool(found))

    async def since(self, interval: Interval, start: datetime) -> list[Bar]:
        """Returns the bars of the trading day in progress that open at `start` or later, ascending.

        While the database is away, only the newest.
        """
        stored: list[OwnBar] = []
        end = start + _LONGEST_DAY
        if start.timestamp() < self._mirror.bars.known_from:
            finer = _FINER[interval]
            key = f"{OWN}:since{_VERSION}:{self._series}:{self._market.symbol}:{finer}:{start:%Y%m%dT%H%M}"
            with contextlib.suppress(UpstreamError):
                stored = _unpack((await self._stored(key, LIVE_POLICY, finer, start, end)).body)
        # A longer bar that opened before is not whole.
        first = bar_time(start)
        return [bar for bar in self._with_recent(stored, interval, start, end) if bar.time >= first]

    async def _stored(
        self, key: str, policy: Policy, finer: LiveInterval, start: datetime, end: datetime
    ) -> Cached:
        async def fetch() -> bytes:
            symbol = self._market.symbol
            with as_upstream():
                found = await self._services.stored_bars.read(self._series, [symbol], finer, start, end)
            return _pack(list(found.get(symbol, ())))

        return await self._services.cache.read(key, policy, fetch)

    def _with_recent(
        self, stored: Sequence[OwnBar], interval: Interval, start: datetime, end: datetime
    ) -> list[Bar]:
        """Returns the bars of an interval, ascending, from stored ones and the mirror's in [start, end)."""
        finer = _FINER[interval]
        bars = {bar.opened: bar for bar in stored}
        first, last = start.timestamp(), end.timestamp()
        for bar in recent_bars(self._mirror, self._market.symbol, finer, after=int(first)):
            if first <= bar.opened < last:
                bars[bar.opened] = bar
        ascending = [bars[opened] for opened in sorted(bars)]
        if finer != interval:
            ascending = fold_bars(ascending, interval, self._market.calendar)
        return [_to_bar(bar) for bar in ascending]


class OwnAfterPast:
    """Own bars behind those of the upstream, as a Source: in each window own bars go from the first one on.

    Prices of doviz are published by nobody else, so a simulated past is the only one that there is.
    """

    name = OWN
    settled_after = _WRITTEN_AFTER

    def __init__(self, own: OwnBars, past: Source) -> None:
        self._own = own
        self._past = past

    async def read(self, interval: Interval, window: BarWindow) -> HistoryPart:
        """See Source."""
        past = await self._past.read(interval, window)
        try:
            own = await self._own.read(interval, window)
        except UpstreamError:
            return past
        if not own.bars:
            return past
        first, *others = own.bars
        earlier = [bar for bar in past.bars if bar.time < first.time]
        whole = next((bar for bar in past.bars if bar.time == first.time), None)
        if earlier and whole is not None:
            # Of the day, or the minute, in which own bars begin they have the end only.
            high, low = max(whole.high, first.high), min(whole.low, first.low)
            first = replace(first, open=whole.open, high=high, low=low)
        bars = [*earlier, first, *others]
        return replace(own, bars=bars, past=own.past and past.past)


@contextlib.contextmanager
def as_upstream() -> Iterator[None]:
    """Raises UpstreamError instead of DatabaseAway, so that the cache may serve an older copy."""
    try:
        yield
    except DatabaseAway as error:
        raise UpstreamError("the stored bars are not available now", retry_after=error.retry_after) from error


def recent_bars(mirror: Mirror, symbol: str, interval: LiveInterval, *, after: int = 0) -> Iterator[OwnBar]:
    """Yields the mirror's bars of a symbol, ascending: the newest final ones and those in progress.

    Final ones end after a Unix time.
    """
    book = mirror.bars
    yield from book.final(symbol, interval, max(book.known_from, after))
    entry = mirror.find(symbol)
    try:
        progress = entry.progress if entry is not None else None
    except UnreadableState:
        return
    if progress is None:
        return
    newest = book.in_progress(symbol, progress, interval)
    # For two seconds after a minute the bar of the minute before is not final, and may be another one.
    before = book.in_progress(symbol, replace(progress, minute=None), interval)
    if before is not None and newest is not None and before.opened < newest.opened:
        yield before
    if newest is not None:
        yield newest


def newest_bars(mirror: Mirror, symbol: str, interval: LiveInterval) -> list[Bar]:
    """Returns the bars of a symbol that this worker has in memory, ascending."""
    return [_to_bar(bar) for bar in recent_bars(mirror, symbol, interval)]


def _to_bar(bar: OwnBar) -> Bar:
    return Bar(_time(bar.opened), bar.open, bar.high, bar.low, bar.close, bar.volume or 0.0)


# All symbols' bars have the same times.
@lru_cache(maxsize=8192)
def _time(opened: int) -> str:
    return bar_time(datetime.fromtimestamp(opened, UTC))


class LiveDay:
    """An upstream's bars, and own ones since the trading day in progress began, as a Source.

    Own bars are those of the live feed, so that history and feed agree. An upstream's bars of that day come
    later, count trades of other venues, or are corrected.
    """

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
    """Returns when the own bars of the trading day begin; None where nobody knows it.

    None also from midnight to the opening of a trading day: after a split the upstream's bars are in new
    shares by then, and own ones in old shares.
    """
    mirror = services.mirrors[market.feed]
    info = mirror.info
    if info is None or not info.bars_from:
        return None
    calendar = calendar_of_venue(mirror)
    day = next(calendar.until(market.moment))
    if calendar.first_from(day.date + timedelta(days=1)).midnight <= market.moment:
        return None
    begun = datetime.fromtimestamp(info.bars_from, UTC)
    return day.midnight if begun <= day.open else begun
