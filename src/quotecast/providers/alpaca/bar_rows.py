"""Alpaca's bar rows: the requests for each interval, and the bars of their rows after validation.

Alpaca aligns intraday rows to UTC and includes extended hours, so an hourly row may begin before the regular
session does. A half-hour row never straddles the opening. Longer intraday bars are therefore aggregated from
half hours, weeks and months from days.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Final, Literal

from msgspec import Raw, Struct

from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import NEW_YORK_DAYS, Calendar, Exchange
from quotecast.market.numbers import instant
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca import wire
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import believable_bars, to_bar
from quotecast.providers.validation.rows import decode_rows

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
_MIDNIGHT: Final = time()


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


#: Each request with its rows, still encoded.
RowsByRequest = Sequence[tuple[BarRequest, Sequence[Raw]]]


def bars(
    answers: RowsByRequest, calendar: Exchange, interval: Interval, end: datetime, refused: RefusalCounter
) -> list[Bar]:
    """Returns the bars of the sessions that open before `end`, ascending; counts the rows it rejects.

    The counts are by reason: `malformed` is not a row, `unreadable` lacks prices or time, `misplaced` lies
    outside its request, and `absurd` has a close more than ten times or less than a tenth of its neighbours'.
    The bars exclude hours outside the sessions, days on which the exchange is closed, and rows of volume 0.
    """
    rows = [
        (request.timeframe, bar)
        for request, raws in answers
        for bar in _session_bars(request, decode_rows(raws, wire.AlpacaBar, refused), calendar, end, refused)
    ]
    timeframes = {bar.time: timeframe for timeframe, bar in rows if bar}
    believed = believable_bars((bar for _, bar in rows), refused)
    exact = [bar for bar in believed if timeframes[bar.time] == TIMEFRAMES.get(interval)]
    finer = [bar for bar in believed if timeframes[bar.time] != TIMEFRAMES.get(interval)]
    merged = [*exact, *aggregate_bars(finer, interval, calendar)]
    return [bar for bar in merged if datetime.fromisoformat(bar.time) < end]


def _session_bars(
    request: BarRequest,
    rows: Sequence[wire.AlpacaBar],
    calendar: Exchange,
    end: datetime,
    refused: RefusalCounter,
) -> Iterator[Bar | None]:
    """Yields the bars of the sessions that open before `end`; None for an unreadable row."""
    for row in rows:
        start = instant(row.time)
        if start is None:
            yield None
        elif not request.first <= start < request.end:
            refused.count("misplaced")
        # The session check precedes price parsing, because most rows lie in extended hours.
        elif _is_in_session(calendar, start, request.timeframe, end):
            yield to_bar(row, start)


def _is_in_session(calendar: Exchange, start: datetime, timeframe: str, end: datetime) -> bool:
    """Returns whether a row that begins at `start` belongs to a session that opens before `end`."""
    local = start.astimezone(NEW_YORK)
    day = calendar.hours(local.date())
    if day is None:
        return False
    if timeframe == DAY:
        return local.time() == _MIDNIGHT and day.open < end
    return day.open <= start < day.close
