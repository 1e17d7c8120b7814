"""Checks of numbers and times as upstreams write them."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

Number = str | float | int | None

#: The most that an upstream's clock may be ahead of ours.
MAX_SKEW: Final = timedelta(minutes=1)

_NUMBER: Final = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?")
# No market trades beyond these, and within them no quotient overflows a float.
_LEAST: Final = Decimal("1e-18")
_MOST: Final = Decimal("1e18")
# Go writes a missing time as one of year 1, which has no date in New York.
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2200
#: Digits of a second beyond those that a datetime holds.
_FINER: Final = re.compile(r"(\.[0-9]{6})[0-9]+")


def signed_decimal(value: Number) -> Decimal | None:
    """Returns a decimal between -10^18 and 10^18, exactly as written; None for anything else."""
    text = str(value)
    if isinstance(value, bool) or not _NUMBER.fullmatch(text):
        return None
    decimal = Decimal(text)
    return decimal if abs(decimal) <= _MOST else None


def number(value: Number) -> Decimal | None:
    """Returns a decimal from 0 to 10^18, exactly as written; None for anything else."""
    decimal = signed_decimal(value)
    return None if decimal is None or decimal < 0 else decimal


def positive(value: Number) -> Decimal | None:
    """Returns a decimal from 10^-18 to 10^18, exactly as written; None for anything else."""
    decimal = signed_decimal(value)
    return None if decimal is None or decimal < _LEAST else decimal


def to_float(decimal: Decimal | None) -> float | None:
    """Returns the nearest float; None for None."""
    return None if decimal is None else float(decimal)


def percent_change(now: Decimal, before: Decimal) -> float:
    """Returns the change from `before`, which is above zero, to `now`, in percent with four decimals."""
    return round(float((now / before - 1) * 100), 4)


def instant(text: str | None) -> datetime | None:
    """Returns the moment of a text in ISO 8601, in UTC unless it names an offset; None for any other text.

    None also outside 1970 to 2200. Upstreams write up to nine digits of a second; a datetime holds six.
    """
    try:
        moment = datetime.fromisoformat(_FINER.sub(r"\1", text or ""))
        return _plausible(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def from_milliseconds(value: float | None) -> datetime | None:
    """Returns the moment of milliseconds since 1970; None for None, or outside 1970 to 2200."""
    try:
        return None if value is None else _plausible(datetime.fromtimestamp(value / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def timestamp_of(made: datetime | None, received: float) -> str:
    """Returns `made` as the API writes it; `received`, a Unix time, for None or a moment in the future."""
    here = datetime.fromtimestamp(received, UTC)
    moment = here if made is None or made - here > MAX_SKEW else made
    return moment.isoformat().replace("+00:00", "Z")


def _plausible(moment: datetime) -> datetime | None:
    return moment if _FIRST_YEAR <= moment.year <= _LAST_YEAR else None
