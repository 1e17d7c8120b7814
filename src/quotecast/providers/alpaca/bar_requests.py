"""Requests for Alpaca's bar rows: timeframe, data feed and time range for each interval.

Alpaca aligns intraday rows to UTC and includes extended hours, so an hourly row may begin before the regular
session does. A half-hour row never straddles the opening. Longer intraday bars are therefore aggregated from
half hours, weeks and months from days.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from quotecast.market.bars import Interval, bar_time, opening_of_bar
from quotecast.market.calendars import NEW_YORK_DAYS, Calendar

#: `sip` is the consolidated tape of all US exchanges, `iex` the trades of the IEX exchange alone.
DataFeed = Literal["iex", "sip"]

DAY: Final = "1Day"
MINUTE: Final = "1Min"
#: The row interval from which each interval is aggregated.
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
#: Alpaca's timeframe of each row interval.
TIMEFRAMES: Final[Mapping[Interval, str]] = {
    "1m": MINUTE,
    "5m": "5Min",
    "15m": "15Min",
    "30m": "30Min",
    "D": DAY,
}
_TICK: Final = timedelta(microseconds=1)


class BarRequest(Struct, frozen=True):
    """A request for the rows of one data feed that begin in [`first`, `end`)."""

    data_feed: DataFeed
    timeframe: str
    first: datetime
    end: datetime

    def parameters(self, ticker: str) -> dict[str, str]:
        """Returns the query parameters; Alpaca's `start` and `end` are both inclusive."""
        return {
            "symbols": ticker,
            "timeframe": self.timeframe,
            "start": bar_time(self.first),
            "end": bar_time(self.end - _TICK),
            "adjustment": "split",
            "feed": self.data_feed,
        }


def full_range(data_feed: DataFeed, interval: Interval, first: datetime, end: datetime) -> list[BarRequest]:
    """Returns the request for the whole range from one data feed."""
    return [BarRequest(data_feed, TIMEFRAMES[ROWS[interval]], first, end)]


def delayed_range(
    calendar: Calendar, interval: Interval, first: datetime, end: datetime, settled: datetime
) -> list[BarRequest]:
    """Returns requests for consolidated-tape rows that end by `settled`.

    The free plan withholds newer trades, so minute rows replace the row that contains `settled`.
    """
    day = next(calendar.until(end))
    if day.close <= settled:
        return full_range("sip", interval, first, min(end, settled))
    cut = (
        day.midnight
        if ROWS[interval] == "D"
        else opening_of_bar(NEW_YORK_DAYS, ROWS[interval], settled) or settled
    )
    minute = settled.replace(second=0, microsecond=0)
    parts = [
        *full_range("sip", interval, first, min(cut, end)),
        BarRequest("sip", MINUTE, max(first, cut, day.open), min(minute, end)),
    ]
    return [part for part in parts if part.first < part.end]
