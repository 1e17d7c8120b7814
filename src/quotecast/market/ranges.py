"""Ranges of bar requests: how far back they reach, their intervals, and the spellings of both."""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Final, Literal, get_args

from quotecast.market.bars import INTERVALS, LENGTHS, Interval
from quotecast.market.calendars import Calendar

Range = Literal["1D", "5D", "1M", "3M", "6M", "YTD", "1Y", "5Y"]

RANGES: Final[tuple[Range, ...]] = get_args(Range)

_SESSIONS: Final[dict[Range, int]] = {"1D": 1, "5D": 5}
_MONTHS: Final[dict[Range, int]] = {"1M": 1, "3M": 3, "6M": 6, "1Y": 12, "5Y": 60}
_DEFAULTS: Final[dict[Range, Interval]] = {"1D": "5m", "5D": "15m", "1M": "1h", "5Y": "W"}
_FINEST: Final[dict[Range, Interval]] = {
    "1D": "1m",
    "5D": "1m",
    "1M": "1m",
    "3M": "5m",
    "6M": "5m",
    "YTD": "15m",
    "1Y": "15m",
    "5Y": "1h",
}

#: Other spellings of intervals. Letter case matters only for `1m` and `1M`.
_SPELLINGS: Final[dict[str, Interval]] = {
    "1min": "1m",
    "5min": "5m",
    "15min": "15m",
    "30min": "30m",
    "1h": "1h",
    "4h": "4h",
    "1hour": "1h",
    "4hour": "4h",
    "d": "D",
    "1d": "D",
    "1day": "D",
    "w": "W",
    "1w": "W",
    "1week": "W",
    "1month": "M",
}


def parse_range(text: str) -> Range | None:
    """Returns the range of a client's spelling; None for an unknown one."""
    folded = text.strip().upper()
    return next((each for each in RANGES if each == folded), None)


def parse_interval(text: str) -> Interval | None:
    """Returns the interval of a client's spelling; None for an unknown one."""
    text = text.strip()
    if text == "1M":
        return "M"
    exact = next((each for each in INTERVALS if each == text), None)
    return exact or _SPELLINGS.get(text.lower())


def default_interval(span: Range) -> Interval:
    """Returns the interval of a range for a request without one."""
    return _DEFAULTS.get(span, "D")


def intervals_of(span: Range, offered: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Returns the offered intervals that are coarse enough for a range; both lists have the finest first."""
    return offered[offered.index(_FINEST[span]) :]


def start_of(span: Range, calendar: Calendar, moment: datetime) -> datetime:
    """Returns the start of a range that ends at an aware moment: the opening of a trading day.

    Days count back from the latest one that has opened, so a closed venue's range is not empty.
    """
    days = calendar.until(moment)
    if span in _SESSIONS:
        return next(islice(days, _SESSIONS[span] - 1, None)).open
    latest = next(days).date
    first = latest.replace(month=1, day=1) if span == "YTD" else _months_before(latest, _MONTHS[span])
    return calendar.first_from(first).open


def start_of_newest(count: int, interval: Interval, moment: datetime) -> datetime:
    """Returns a moment, in UTC, within the oldest of the `count` newest bars; the market never closes."""
    moment, before = moment.astimezone(UTC), count - 1
    match interval:
        case "M":
            month = _months_before(moment.date().replace(day=1), before)
            return datetime(month.year, month.month, 1, tzinfo=UTC)
        case "W":
            return moment - timedelta(weeks=before)
        case "D":
            return moment - timedelta(days=before)
        case _:
            return moment - before * LENGTHS[interval]


def _months_before(day: date, months: int) -> date:
    """Returns the same day of an earlier month, or that month's last day."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
