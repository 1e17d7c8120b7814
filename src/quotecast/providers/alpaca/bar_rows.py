"""Bars from Alpaca's rows, after validation."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from itertools import compress
from typing import Final

from msgspec import Raw, Struct

from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import Bar, Interval
from quotecast.market.calendars import Exchange
from quotecast.market.numbers import instant
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.bar_requests import DAY, TIMEFRAMES, BarRequest
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import to_bar
from quotecast.providers.validation.judgement import judge_closes
from quotecast.providers.validation.rows import decode_rows

_MIDNIGHT: Final = time()

#: Each request with its rows, still encoded.
RowsByRequest = Sequence[tuple[BarRequest, Sequence[Raw]]]


class _TimedBar(Struct, frozen=True):
    start: datetime
    bar: Bar
    timeframe: str


class _Hours(Struct, frozen=True):
    """The calendar's sessions that open before `end`."""

    calendar: Exchange
    end: datetime

    def contains(self, start: datetime, timeframe: str) -> bool:
        """Returns whether a row that begins at `start` belongs to one of the sessions."""
        local = start.astimezone(NEW_YORK)
        day = self.calendar.hours(local.date())
        if day is None:
            return False
        if timeframe == DAY:
            return local.time() == _MIDNIGHT and day.open < self.end
        return day.open <= start < day.close


def bars(
    answers: RowsByRequest, calendar: Exchange, interval: Interval, end: datetime, refused: RefusalCounter
) -> list[Bar]:
    """Returns the bars of the sessions that open before `end`, ascending; counts the rows it rejects.

    The counts are by reason: `malformed` is not a row, `unreadable` lacks prices or time, `misplaced` lies
    outside its request, and `absurd` has a close more than ten times or less than a tenth of its neighbours'.
    The bars exclude hours outside the sessions, days on which the exchange is closed, and rows of volume 0.
    """
    hours = _Hours(calendar, end)
    rows = {
        row.start: row for request, raws in answers for row in _session_bars(request, raws, hours, refused)
    }
    ascending = [rows[start] for start in sorted(rows) if rows[start].bar.volume]
    believed = list(compress(ascending, judge_closes([row.bar.close for row in ascending])))
    refused.count("absurd", len(ascending) - len(believed))
    return _merge_bars(believed, calendar, interval, end)


def _session_bars(
    request: BarRequest, raws: Iterable[Raw], hours: _Hours, refused: RefusalCounter
) -> Iterator[_TimedBar]:
    for row in decode_rows(raws, wire.AlpacaBar, refused):
        start = instant(row.time)
        if start is None:
            refused.count("unreadable")
        elif not request.first <= start < request.end:
            refused.count("misplaced")
        # The session check precedes price parsing, because most rows lie in extended hours.
        elif hours.contains(start, request.timeframe):
            if bar := to_bar(row, start):
                yield _TimedBar(start, bar, request.timeframe)
            else:
                refused.count("unreadable")


def _merge_bars(
    rows: Sequence[_TimedBar], calendar: Exchange, interval: Interval, end: datetime
) -> list[Bar]:
    """Returns the rows of the interval itself, then the bars aggregated from finer rows."""
    timeframe = TIMEFRAMES.get(interval)
    exact = [row.bar for row in rows if row.timeframe == timeframe]
    finer = [row.bar for row in rows if row.timeframe != timeframe]
    merged = [*exact, *aggregate_bars(finer, interval, calendar)]
    return [bar for bar in merged if datetime.fromisoformat(bar.time) < end]
