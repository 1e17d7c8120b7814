"""Price bars: their lengths, their opening times and the bar in progress."""

from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.calendars import Calendar

Interval = Literal["1m", "5m", "15m", "30m", "1h", "4h", "D", "W", "M"]

#: Every interval, the finest first; `1m` is a minute, `M` a month.
INTERVALS: Final[tuple[Interval, ...]] = get_args(Interval)

#: Lengths of intraday bars; the calendar decides the length of days, weeks and months.
LENGTHS: Final[dict[Interval, timedelta]] = {
    "1m": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "4h": timedelta(hours=4),
}


class Bar(Struct, frozen=True, gc=False):
    """Prices and volume of one interval; `time` is its opening, ISO 8601 in UTC, ending with Z."""

    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float


def opening_of_bar(calendar: Calendar, interval: Interval, moment: datetime) -> datetime | None:
    """Returns the opening, in UTC, of the bar that contains an aware moment; None outside trading hours.

    Intraday bars count from midnight, but the first one opens with the session. Longer bars open at midnight
    of their first trading day; weeks begin on Monday.
    """
    day = next(calendar.until(moment))
    if moment >= day.close:
        return None
    length = LENGTHS.get(interval)
    if length is None:
        return calendar.first_from(_first_date(interval, day.date)).midnight
    return max(day.open, moment - (moment - day.midnight) % length).astimezone(UTC)


def bars_with_price(last: Bar | None, opened: datetime, price: float) -> list[Bar]:
    """Returns the last bar and the bar in progress since `opened`, updated with a new price.

    Both may be the same bar. A bar that begins with the price has volume 0. A last bar that opened after
    `opened` stays unchanged.
    """
    time = bar_time(opened)
    if last is None:
        return [_first_bar(time, price)]
    if last.time < time:
        return [last, _first_bar(time, price)]
    if last.time > time:
        return [last]
    return [replace(last, close=price, high=max(last.high, price), low=min(last.low, price))]


def bar_time(moment: datetime) -> str:
    """Returns a moment as ISO 8601 in UTC with seconds, ending with Z."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _first_bar(time: str, price: float) -> Bar:
    return Bar(time, price, price, price, price, 0.0)


def _first_date(interval: Interval, day: date) -> date:
    match interval:
        case "W":
            return day - timedelta(days=day.weekday())
        case "M":
            return day.replace(day=1)
        case _:
            return day
