"""When quotes are asked for: often while US stocks trade, seldom while they do not."""

from datetime import timedelta
from typing import Final

from quotecast.market.sessions import NEW_YORK, Unscheduled, session_at, trading_day, trading_days_from
from quotecast.providers.alpaca.stock_state import to_utc

IN_SESSION_SECONDS: Final = 15.0
CLOSED_SECONDS: Final = 300.0
#: After so many polls without an answer the upstream is silent.
SILENT_POLLS: Final = 1.5
#: So long after an opening or a close, the calendar is believed rather than the exchange's clock.
CLOCK_TOLERANCE: Final = timedelta(minutes=3)


def poll_seconds(now: float, unscheduled: Unscheduled | None = None) -> float:
    """Seconds from one poll to the next: 15 before, in and after hours; else 300, or up to the next session.

    `unscheduled` is what the exchange does against its calendar.
    """
    if _in_session(now, unscheduled):
        return IN_SESSION_SECONDS
    moment = to_utc(now)
    days = trading_days_from(moment.astimezone(NEW_YORK).date())
    start = next(day.pre_open for day in days if day.pre_open > moment)
    return min(CLOSED_SECONDS, (start - moment).total_seconds())


def silence_seconds(now: float, unscheduled: Unscheduled | None = None) -> float:
    """How long no answer is no reason to worry: a poll and a half.

    A session that has just begun is given the time to be asked about.
    """
    settled = now - SILENT_POLLS * IN_SESSION_SECONDS
    trading = _in_session(now, unscheduled) and _in_session(settled, unscheduled)
    return SILENT_POLLS * (IN_SESSION_SECONDS if trading else CLOSED_SECONDS)


def is_scheduled_open(now: float) -> bool:
    """Whether the exchange opened some minutes ago, if it keeps to its calendar."""
    moment = to_utc(now)
    day = trading_day(moment.astimezone(NEW_YORK).date())
    return day is not None and day.open + CLOCK_TOLERANCE <= moment < day.close


def _in_session(now: float, unscheduled: Unscheduled | None) -> bool:
    moment = to_utc(now)
    trading = session_at(moment) != "closed"
    if unscheduled is None or unscheduled.date != moment.astimezone(NEW_YORK).date():
        return trading
    return unscheduled.is_open or (trading and unscheduled.open is not None)
