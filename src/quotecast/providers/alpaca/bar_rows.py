"""From Alpaca's rows to bars that can be believed."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from itertools import compress
from typing import Final

from msgspec import Raw, Struct

from quotecast.market.aggregate import aggregated
from quotecast.market.bars import Bar, Interval
from quotecast.market.calendars import Exchange
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.stretches import DAY, TIMEFRAMES, Stretch
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import to_bar
from quotecast.providers.validation.judgement import judge_closes
from quotecast.providers.validation.rows import decode_rows
from quotecast.providers.validation.values import instant

_MIDNIGHT: Final = time()

#: What came of each stretch.
Answers = Sequence[tuple[Stretch, Sequence[Raw]]]


class _Row(Struct, frozen=True):
    begun: datetime
    bar: Bar
    timeframe: str


class _Hours(Struct, frozen=True):
    """The regular sessions that open before `end`."""

    calendar: Exchange
    end: datetime

    def hold(self, begun: datetime, timeframe: str) -> bool:
        """Whether a row is of one of them."""
        local = begun.astimezone(NEW_YORK)
        day = self.calendar.hours(local.date())
        if day is None:
            return False
        if timeframe == DAY:
            return local.time() == _MIDNIGHT and day.open < self.end
        return day.open <= begun < day.close


def bars(
    answers: Answers, calendar: Exchange, interval: Interval, end: datetime, refused: RefusalCounter
) -> list[Bar]:
    """The bars of regular sessions that open before `end`, ascending; counts the rows that it refuses.

    `malformed` is no row, `unreadable` lacks prices or time, `misplaced` was not asked for, and `absurd` is a
    close more than ten times or less than a tenth of those around it. What is traded before and after the
    session, or on a day on which the exchange is closed, counts nowhere; nor does a row of volume 0.
    """
    hours = _Hours(calendar, end)
    rows = {row.begun: row for stretch, raws in answers for row in _regular(stretch, raws, hours, refused)}
    ascending = [rows[begun] for begun in sorted(rows) if rows[begun].bar.volume]
    believed = list(compress(ascending, judge_closes([row.bar.close for row in ascending])))
    refused.count("absurd", len(ascending) - len(believed))
    return _joined(believed, calendar, interval, end)


def _regular(stretch: Stretch, raws: Iterable[Raw], hours: _Hours, refused: RefusalCounter) -> Iterator[_Row]:
    for row in decode_rows(raws, wire.Bar, refused):
        begun = instant(row.time)
        if begun is None:
            refused.count("unreadable")
        elif not stretch.first <= begun < stretch.end:
            refused.count("misplaced")
        # Before its prices are read: most rows are of the hours before and after.
        elif hours.hold(begun, stretch.timeframe):
            if bar := to_bar(row, begun):
                yield _Row(begun, bar, stretch.timeframe)
            else:
                refused.count("unreadable")


def _joined(rows: Sequence[_Row], calendar: Exchange, interval: Interval, end: datetime) -> list[Bar]:
    """The rows that are bars as they stand, then those that are made of the others."""
    timeframe = TIMEFRAMES.get(interval)
    as_they_stand = [row.bar for row in rows if row.timeframe == timeframe]
    finer = [row.bar for row in rows if row.timeframe != timeframe]
    found = [*as_they_stand, *aggregated(finer, interval, calendar)]
    return [bar for bar in found if datetime.fromisoformat(bar.time) < end]
