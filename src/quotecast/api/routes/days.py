"""Days in queries and bodies: YYYY-MM-DD."""

import re
from datetime import date, datetime, timedelta
from typing import Final

from litestar.params import QueryParameter

from quotecast.errors import InvalidValue

#: fromisoformat also accepts the basic format and week dates of ISO 8601.
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
#: Offset of UTC+14, where each day begins first.
_FIRST_DAYLIGHT: Final = timedelta(hours=14)


def day_parameter(name: str, description: str, example: str) -> QueryParameter:
    """Returns the parameter of an optional day, for `str | None`."""
    return QueryParameter(
        name=name, description=description, schema_extra={"format": "date", "examples": [example]}
    )


def day_of(field: str, text: str) -> date:
    """Returns the day. Raises InvalidValue."""
    try:
        return date.fromisoformat(text if _DAY.fullmatch(text) else "")
    except ValueError:
        raise InvalidValue(field, "Must be a date as YYYY-MM-DD, such as 2026-11-20") from None


def past_day(field: str, text: str, now: datetime, earliest: date) -> date:
    """Returns a day from `earliest` to today, wherever on earth that is. Raises InvalidValue."""
    day = day_of(field, text)
    if not earliest <= day <= (now + _FIRST_DAYLIGHT).date():
        raise InvalidValue(field, f"Must be from {earliest} to today")
    return day
