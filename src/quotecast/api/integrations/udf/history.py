"""Bars of a chart: those before a time, or those between two times."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quotecast.api.bars.market import Market
from quotecast.api.bars.pages import NO_BARS, BarPage
from quotecast.api.bars.queries import MAX_DAYS, BarQuery
from quotecast.api.bars.reading import read_bars
from quotecast.api.integrations.udf.resolutions import chart_time, opening_bound
from quotecast.api.market.services import Services
from quotecast.market.bars import LENGTHS, Bar, Interval
from quotecast.market.feeds import Feed

#: Bars of one answer at most; a chart asks again for those before them.
MAX_BARS: Final = 2000
#: Pages that one answer reads at most.
_PAGES: Final = 3


class HistoryQuery(Struct, frozen=True):
    """Bars in [start, end), in chart time; with a `count`, the last ones before `end`."""

    interval: Interval
    start: int
    end: int
    count: int | None


class ChartBars(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Bars as a table, ascending; `v` is absent without volumes.

    `no_data` means that there are none in the span. `nextTime` is then the time of the last bar before it;
    without it there is none.
    """

    s: Literal["ok", "no_data"]
    t: list[int] | UnsetType = UNSET
    o: list[float] | UnsetType = UNSET
    h: list[float] | UnsetType = UNSET
    l: list[float] | UnsetType = UNSET  # noqa: E741 - TradingView's name
    c: list[float] | UnsetType = UNSET
    v: list[float] | UnsetType = UNSET
    nextTime: int | UnsetType = UNSET  # noqa: N815 - TradingView's name


_NO_DATA: Final = ChartBars(s="no_data")
EXAMPLE_BARS: Final = ChartBars(
    s="ok",
    t=[1_795_188_300, 1_795_188_600],
    o=[189.5, 189.72],
    h=[189.8, 189.9],
    l=[189.41, 189.7],
    c=[189.72, 189.84],
    v=[120400.0, 8100.0],
)


class Found(Struct, frozen=True):
    """The newest bars of a span, descending, and where the search for more would go on."""

    bars: list[Bar]
    rest: BarQuery | None
    #: The page that has the oldest of the bars.
    last: BarPage = NO_BARS


async def read_history(services: Services, market: Market, wanted: HistoryQuery) -> tuple[ChartBars, BarPage]:
    """Returns the bars of a chart, and the page that has the oldest of them.

    Raises the upstream's error if there are no own bars either.
    """
    feed, interval, now = market.feed, wanted.interval, market.moment.timestamp()
    end = _bound(wanted, market)
    count = min(MAX_BARS, wanted.count or MAX_BARS)
    query = BarQuery(interval, None, end, count, "desc")
    if wanted.count is not None:
        found = await _read(services, market, query)
        return _table(feed, interval, found.bars[::-1]) if found.bars else _NO_DATA, found.last
    start = opening_bound(wanted.start, feed, interval)
    if start <= now and (end is None or start < end):
        # One query may not ask for a longer span.
        days, last = MAX_DAYS.get(interval), int(now) if end is None else min(int(now), end)
        begin = start if days is None else max(start, last - days * 86_400)
        found = await _read(services, market, replace(query, start=begin))
        if found.bars:
            return _table(feed, interval, found.bars[::-1]), found.last
    before = replace(query, end=start if end is None else min(start, end), limit=1)
    found = await _read(services, market, before)
    if not found.bars:
        return _NO_DATA, found.last
    next_time = chart_time(found.bars[0], feed, interval)
    return ChartBars(s="no_data", nextTime=next_time), found.last


def _bound(wanted: HistoryQuery, market: Market) -> int | None:
    """Returns the Unix time before which the wanted bars open; None for those up to the present.

    A venue east of Greenwich begins its day before that day's midnight UTC. A chart that polls asks up to its
    present time, and gets that day.
    """
    today = next(market.feed.spec.always_open.until(market.moment))
    if wanted.interval not in LENGTHS and wanted.end > today.midnight.timestamp():
        return None
    return opening_bound(wanted.end, market.feed, wanted.interval)


async def _read(services: Services, market: Market, query: BarQuery) -> Found:
    """Returns the newest bars of a span, page by page, until there are enough or none is left."""
    found = Found([], query if query.end is None or query.end > 0 else None)
    for _ in range(_PAGES):
        if found.rest is None or len(found.bars) >= query.limit:
            break
        wanted = replace(found.rest, limit=query.limit - len(found.bars))
        last = await read_bars(services, market, wanted, own_only=False)
        found = Found([*found.bars, *last.bars], last.rest, last)
    return found


def _table(feed: Feed, interval: Interval, bars: Sequence[Bar]) -> ChartBars:
    return ChartBars(
        s="ok",
        t=[chart_time(bar, feed, interval) for bar in bars],
        o=[bar.open for bar in bars],
        h=[bar.high for bar in bars],
        l=[bar.low for bar in bars],
        c=[bar.close for bar in bars],
        v=UNSET if feed is Feed.DOVIZ else [bar.volume for bar in bars],
    )
