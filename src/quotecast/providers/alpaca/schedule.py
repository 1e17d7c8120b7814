"""The exchange's hours: poll intervals, and differences between its clock and its calendar.

Polls are frequent while US stocks trade, and rare while they do not. The differences are closures, halts and
additional sessions.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from msgspec.structs import replace

from quotecast.market.numbers import instant
from quotecast.market.sessions import (
    NEW_YORK,
    Unscheduled,
    next_close,
    next_open,
    session_at,
    trading_day,
    trading_days_from,
    trading_days_until,
)
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.alpaca.stock_state import to_utc

IN_SESSION_SECONDS: Final = 15.0
CLOSED_SECONDS: Final = 300.0
#: Poll intervals without a response after which the upstream counts as silent.
SILENT_POLLS: Final = 1.5
#: Time after an opening or a close during which the calendar overrides the exchange's clock.
CLOCK_TOLERANCE: Final = timedelta(minutes=3)
#: Opening time in New York of a session that the calendar does not list.
OPENING: Final = time(9, 30)


def poll_seconds(now: float, unscheduled: Unscheduled | None = None) -> float:
    """Returns the seconds from one poll to the next.

    15 in regular and extended hours; otherwise 300, or fewer up to the next session. `unscheduled` is the
    exchange's deviation from its calendar.
    """
    if _in_session(now, unscheduled):
        return IN_SESSION_SECONDS
    moment = to_utc(now)
    days = trading_days_from(_local_date(moment))
    start = next(day.pre_open for day in days if day.pre_open > moment)
    return min(CLOSED_SECONDS, (start - moment).total_seconds())


def silence_seconds(now: float, unscheduled: Unscheduled | None = None) -> float:
    """Returns the seconds without a response after which the feed counts as stale: 1.5 poll intervals.

    A session that has just begun keeps the long interval until its first poll has had time to complete.
    """
    settled = now - SILENT_POLLS * IN_SESSION_SECONDS
    trading = _in_session(now, unscheduled) and _in_session(settled, unscheduled)
    return SILENT_POLLS * (IN_SESSION_SECONDS if trading else CLOSED_SECONDS)


def is_expected_open(now: float, unscheduled: Unscheduled | None) -> bool:
    """Returns whether the exchange should be open: by `unscheduled` on its date, else by the calendar.

    By the calendar, the exchange counts as open only CLOCK_TOLERANCE after the opening.
    """
    moment = to_utc(now)
    today = _local_date(moment)
    if unscheduled is not None and unscheduled.date == today:
        return unscheduled.is_open and unscheduled.applies_at(moment)
    day = trading_day(today)
    return day is not None and day.open + CLOCK_TOLERANCE <= moment < day.close


def _in_session(now: float, unscheduled: Unscheduled | None) -> bool:
    moment = to_utc(now)
    trading = session_at(moment) != "closed"
    if unscheduled is None or unscheduled.date != _local_date(moment):
        return trading
    return unscheduled.is_open or (trading and unscheduled.open is not None)


def unscheduled_day(
    clock: MarketClock, now: datetime, *, traded: bool, before: Unscheduled | None
) -> Unscheduled | None:
    """Returns the exchange's deviation from its calendar on the latest trading day; None without one.

    `traded` says whether stocks have traded since the calendar's last opening. With trades, a closed exchange
    is a halt; without trades, the day has no session. `before` is the previous result: a deviation lasts
    until the next opening.
    """
    opening = instant(clock.next_open) or next_open(now)
    if clock.is_open:
        return _unscheduled_session(now, opening, instant(clock.next_close) or next_close(now))
    closing = instant(clock.next_close)
    # During a halt the clock's next close may lie before its next open; the calendar's close replaces it.
    upcoming = opening, closing if closing and closing > opening else next_close(opening)
    day = next(day for day in trading_days_until(_local_date(now)) if day.open <= now)
    if before and before.date >= day.date and (before.open or not traded):
        close = min(now, before.close or now) if before.is_open else before.close
        return replace(before, close=close, is_open=False, next_open=upcoming[0], next_close=upcoming[1])
    closed = Unscheduled(date=day.date, is_open=False, next_open=upcoming[0], next_close=upcoming[1])
    if now < day.open + CLOCK_TOLERANCE:
        return None
    if not traded:
        return closed
    return replace(closed, open=day.open, close=now) if now < day.close - CLOCK_TOLERANCE else None


def _unscheduled_session(now: datetime, opening: datetime, close: datetime) -> Unscheduled | None:
    """Returns the session in progress; None when it is the calendar's."""
    today = _local_date(now)
    day = trading_day(today)
    if day and day.open - CLOCK_TOLERANCE <= now < day.close + CLOCK_TOLERANCE:
        return None
    opening_today = day.open if day else datetime.combine(today, OPENING, NEW_YORK).astimezone(UTC)
    return Unscheduled(
        date=today,
        open=min(opening_today, now),
        close=close,
        is_open=True,
        next_open=opening,
        next_close=close,
    )


def _local_date(moment: datetime) -> date:
    return moment.astimezone(NEW_YORK).date()
