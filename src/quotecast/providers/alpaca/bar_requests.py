"""Which rows of Alpaca's are asked for, and of which tape, to make bars of.

Rows of part of a day are counted in UTC there and hold what is traded before and after the session, so an
hour's row may begin before the session does. Half hours never do: longer bars are made of them, weeks and
months of days.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from quotecast.market.bars import Interval, opening, stamp
from quotecast.market.calendars import NEW_YORK_DAYS, Calendar

#: The whole tape, or that of one exchange.
DataFeed = Literal["iex", "sip"]

DAY: Final = "1Day"
MINUTE: Final = "1Min"
#: The rows that each interval is made of.
ROWS: Final[Mapping[Interval, Interval]] = {
    "1m": "1m",
    "5m": "5m",
    "15m": "15m",
    "30m": "30m",
    "1h": "30m",
    "4h": "30m",
    "D": "D",
    "W": "D",
    "M": "D",
}
#: What the upstream calls the intervals of which it has rows for us.
TIMEFRAMES: Final[Mapping[Interval, str]] = {
    "1m": MINUTE,
    "5m": "5Min",
    "15m": "15Min",
    "30m": "30Min",
    "D": DAY,
}
_TICK: Final = timedelta(microseconds=1)


class BarRequest(Struct, frozen=True):
    """The rows of one tape that begin from `first` to before `end`."""

    data_feed: DataFeed
    timeframe: str
    first: datetime
    end: datetime

    def parameters(self, ticker: str) -> dict[str, str]:
        """What is asked for them; both times are inclusive there."""
        return {
            "symbols": ticker,
            "timeframe": self.timeframe,
            "start": stamp(self.first),
            "end": stamp(self.end - _TICK),
            "adjustment": "split",
            "feed": self.data_feed,
            "sort": "asc",
        }


def full_range(data_feed: DataFeed, interval: Interval, first: datetime, end: datetime) -> list[BarRequest]:
    """All of one tape."""
    return [BarRequest(data_feed, TIMEFRAMES[ROWS[interval]], first, end)]


def delayed_range(
    calendar: Calendar, interval: Interval, first: datetime, end: datetime, settled: datetime
) -> list[BarRequest]:
    """The whole tape up to `settled`; the row that holds it is made of minutes."""
    day = next(calendar.until(end))
    if day.close <= settled:
        return full_range("sip", interval, first, min(end, settled))
    cut = (
        day.midnight if ROWS[interval] == "D" else opening(NEW_YORK_DAYS, ROWS[interval], settled) or settled
    )
    minute = settled.replace(second=0, microsecond=0)
    parts = [
        *full_range("sip", interval, first, min(cut, end)),
        BarRequest("sip", MINUTE, max(first, cut, day.open), min(minute, end)),
    ]
    return [part for part in parts if part.first < part.end]
