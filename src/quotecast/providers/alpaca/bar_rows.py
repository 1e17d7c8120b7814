"""Bars from Alpaca's rows, after validation."""

from collections.abc import Iterator, Sequence
from datetime import datetime, time
from typing import Final

from msgspec import Raw

from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import Bar, Interval
from quotecast.market.calendars import Exchange
from quotecast.market.numbers import instant
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.bar_requests import DAY, TIMEFRAMES, BarRequest
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.candles import believable_bars, to_bar
from quotecast.providers.validation.rows import decode_rows

_MIDNIGHT: Final = time()

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
