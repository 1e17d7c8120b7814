"""Alpaca's timeframes: `1Min` to `59Min`, `1Hour` to `23Hour`, `1Day`, `1Week` and some `Month`s.

Minutes and hours count from midnight UTC, days of stocks from midnight in New York; weeks begin on Monday.
"""

import re
from collections.abc import Container
from datetime import UTC, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

from quotecast.simulation.vendors.alpaca.errors import BadQuery

Unit = Literal["minute", "day", "week", "month"]

_TEXT: Final = re.compile(
    r"(\d{0,2})(?:(?P<minute>Min|min|T)|(?P<hour>Hour|hour|H)|(?P<day>Day|D)|(?P<week>Week|W)|(?P<month>Month|M))"
)
#: The unit of each spelling, its length in that unit, and the counts that Alpaca has.
_UNITS: Final[dict[str | None, tuple[Unit, int, Container[int]]]] = {
    "minute": ("minute", 1, range(1, 60)),
    "hour": ("minute", 60, range(1, 24)),
    "day": ("day", 1, {1}),
    "week": ("week", 1, {1}),
    "month": ("month", 1, {1, 2, 3, 4, 6, 12}),
}


class Timeframe(Struct, frozen=True):
    """A length of bars: `count` minutes or months, or one day or week."""

    unit: Unit
    count: int

    def start_of(self, moment: datetime, zone: ZoneInfo) -> datetime:
        """Returns when the bar of an aware moment begins, in UTC; `zone` is that of the dates."""
        if self.unit == "minute":
            midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            return (moment - (moment - midnight) % timedelta(minutes=self.count)).astimezone(UTC)
        day = moment.astimezone(zone).date()
        if self.unit == "week":
            day -= timedelta(days=day.weekday())
        elif self.unit == "month":
            day = day.replace(month=day.month - (day.month - 1) % self.count, day=1)
        return datetime.combine(day, time(), zone).astimezone(UTC)


MINUTE: Final = Timeframe("minute", 1)
DAY: Final = Timeframe("day", 1)


def timeframe_of(text: str) -> Timeframe:
    """Returns a timeframe from Alpaca's text. Raises BadQuery for any other."""
    found = _TEXT.fullmatch(text)
    if found:
        unit, factor, allowed = _UNITS[found.lastgroup]
        count = int(found[1] or 1)
        if count in allowed:
            return Timeframe(unit, count * factor)
    raise BadQuery(f"invalid timeframe: {text}")
