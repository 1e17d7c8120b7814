"""Pages of bars, collected window by window."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.api.answers.answers import Status, cache_status
from quotecast.api.bars.market import Market
from quotecast.api.bars.queries import BarQuery, opening_of
from quotecast.api.bars.sources import EPOCH, OWN, TICK, HistoryPart, Source
from quotecast.market.bar_windows import BarWindow, next_window, window_at, window_before
from quotecast.market.bars import Bar, bar_time, opening_of_bar

#: Windows that one page reads at most: a page of years without trades is short or empty, and has a next one.
MAX_WINDOWS: Final = 4
#: Windows of a whole range; the longest one is half a year of five-minute bars.
RANGE_WINDOWS: Final = 12
#: Sorts behind all times.
_END_OF_TIME: Final = "~"


class BarPage(Struct, frozen=True):
    """Bars in the query's order, and the query for the page that follows; None after the last one."""

    bars: list[Bar]
    rest: BarQuery | None
    status: Status
    age_seconds: int
    #: Whether no bar changes any more.
    past: bool
    #: Whether the source had more than the bar of the current price.
    history: bool
    #: The name of the source.
    source: str


#: The page of an instrument without bars.
NO_BARS: Final = BarPage([], None, "HIT", 0, past=False, history=False, source=OWN)


async def read_page(source: Source, market: Market, query: BarQuery, most: int = MAX_WINDOWS) -> BarPage:
    """Returns a page of bars. Raises SymbolNotFound, NotOffered, UpstreamError or PastOutOfPlan.

    Ascending without a start, the page has the newest bars, and no other page follows.
    """
    if query.order == "asc" and query.start is None:
        page = await read_page(source, market, replace(query, order="desc"), most)
        return replace(page, bars=page.bars[::-1], rest=None)
    query = _within_reach(market, query)
    found: list[Bar] = []
    parts: list[HistoryPart] = []
    rest: BarQuery | None = None
    low = "" if query.start is None else time_of(query.start)
    high = _END_OF_TIME if query.end is None else time_of(query.end)
    for window in _windows(market, query):
        if len(parts) == most or len(found) >= query.limit:
            rest = _rest(query, int(window.start.timestamp()), int(window.end.timestamp()))
            break
        parts.append(await source.read(query.interval, window))
        bars = [bar for bar in parts[-1].bars if low <= bar.time < high]
        found += bars if query.order == "asc" else bars[::-1]
    if len(found) > query.limit:
        rest = _rest(query, opening_of(found[query.limit]), opening_of(found[query.limit - 1]))
    page = BarPage(
        found[: query.limit],
        rest,
        cache_status({part.status for part in parts}),
        max((part.age_seconds for part in parts), default=0),
        all(part.past for part in parts),
        any(part.history for part in parts),
        source.name,
    )
    return replace(page, past=page.past or _is_settled(source, market, query, page))


def _within_reach(market: Market, query: BarQuery) -> BarQuery:
    """Returns the query from the start of the plan's past on. Raises PastOutOfPlan for an earlier start."""
    reach, now = market.reach, market.moment.timestamp()
    if reach is None:
        return query
    if query.start is None:
        return replace(query, start=reach.start(now))
    reach.require(query.start, now)
    return query


def _is_settled(source: Source, market: Market, query: BarQuery, page: BarPage) -> bool:
    """Returns whether a page ends before every bar that may still change, in a window that has some of those.

    A stale window may lack settled bars.
    """
    end = page.rest.start if query.order == "asc" and page.rest is not None else query.end
    opened = opening_of_bar(market.calendar, query.interval, market.traded)
    if end is None or page.status == "STALE" or (opened is not None and opened.timestamp() < end):
        return False
    return datetime.fromtimestamp(end, UTC) + source.settled_after <= market.moment


def _windows(market: Market, query: BarQuery) -> Iterator[BarWindow]:
    """Yields the windows that the query touches, in its order."""
    interval, calendar = query.interval, market.calendar
    end = market.moment + TICK
    if query.end is not None:
        end = min(end, datetime.fromtimestamp(query.end, UTC))
    start = EPOCH if query.start is None else datetime.fromtimestamp(query.start, UTC)
    if query.order == "asc":
        window = window_at(interval, calendar, start)
        while window.start < end:
            yield window
            window = next_window(interval, calendar, window)
    else:
        window = window_at(interval, calendar, end - TICK)
        while window.end > start:
            yield window
            window = window_before(interval, calendar, window)


def _rest(query: BarQuery, first: int, end: int) -> BarQuery:
    """Returns the query that goes on from a Unix time, or back before one."""
    return replace(query, start=first) if query.order == "asc" else replace(query, end=end)


def time_of(seconds: int) -> str:
    """Returns the `time` of a bar that opens at a Unix time."""
    return bar_time(datetime.fromtimestamp(seconds, UTC))
