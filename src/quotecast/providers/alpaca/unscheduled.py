"""Differences between the exchange's clock and its calendar: closures, halts and additional sessions."""

from datetime import UTC, date, datetime, time
from typing import Final

from msgspec.structs import replace

from quotecast.market.numbers import instant
from quotecast.market.sessions import (
    NEW_YORK,
    Unscheduled,
    next_close,
    next_open,
    trading_day,
    trading_days_until,
)
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.alpaca.schedule import CLOCK_TOLERANCE

#: Opening time in New York of a session that the calendar does not list.
OPENING: Final = time(9, 30)


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
