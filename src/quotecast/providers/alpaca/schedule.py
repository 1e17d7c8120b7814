"""Poll intervals: short while US stocks trade, long while they do not."""

from datetime import timedelta
from typing import Final

from quotecast.market.sessions import NEW_YORK, Unscheduled, session_at, trading_day, trading_days_from
from quotecast.providers.alpaca.stock_state import to_utc

IN_SESSION_SECONDS: Final = 15.0
CLOSED_SECONDS: Final = 300.0
#: Poll intervals without a response after which the upstream counts as silent.
SILENT_POLLS: Final = 1.5
#: Time after an opening or a close during which the calendar overrides the exchange's clock.
CLOCK_TOLERANCE: Final = timedelta(minutes=3)


def poll_seconds(now: float, unscheduled: Unscheduled | None = None) -> float:
    """Returns the seconds from one poll to the next.

    15 in regular and extended hours; otherwise 300, or fewer up to the next session. `unscheduled` is the
    exchange's deviation from its calendar.
    """
    if _in_session(now, unscheduled):
        return IN_SESSION_SECONDS
    moment = to_utc(now)
    days = trading_days_from(moment.astimezone(NEW_YORK).date())
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
    date = moment.astimezone(NEW_YORK).date()
    if unscheduled is not None and unscheduled.date == date:
        return unscheduled.is_open and unscheduled.applies_at(moment)
    day = trading_day(date)
    return day is not None and day.open + CLOCK_TOLERANCE <= moment < day.close


def _in_session(now: float, unscheduled: Unscheduled | None) -> bool:
    moment = to_utc(now)
    trading = session_at(moment) != "closed"
    if unscheduled is None or unscheduled.date != moment.astimezone(NEW_YORK).date():
        return trading
    return unscheduled.is_open or (trading and unscheduled.open is not None)
