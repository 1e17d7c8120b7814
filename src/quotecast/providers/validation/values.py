"""Numbers and times as upstreams write them, read with suspicion."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

Number = str | float | int | None

#: How far ahead of ours an upstream's clock may be.
MAX_SKEW: Final = timedelta(minutes=1)

_NUMBER: Final = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?")
# No market trades beyond these, and within them no quotient overflows a float.
_LEAST: Final = Decimal("1e-18")
_MOST: Final = Decimal("1e18")
#: Digits of a second beyond those that a datetime holds.
_FINER: Final = re.compile(r"(\.[0-9]{6})[0-9]+")


def signed_decimal(value: Number) -> Decimal | None:
    """A decimal between -10^18 and 10^18, exactly as written; None for anything else."""
    text = str(value)
    if isinstance(value, bool) or not _NUMBER.fullmatch(text):
        return None
    decimal = Decimal(text)
    return decimal if abs(decimal) <= _MOST else None


def number(value: Number) -> Decimal | None:
    """Likewise, not below zero."""
    decimal = signed_decimal(value)
    return None if decimal is None or decimal < 0 else decimal


def positive(value: Number) -> Decimal | None:
    """Likewise, above zero."""
    decimal = signed_decimal(value)
    return None if decimal is None or decimal < _LEAST else decimal


def to_float(decimal: Decimal | None) -> float | None:
    """The nearest float; None stays None."""
    return None if decimal is None else float(decimal)


def percent_change(now: Decimal, before: Decimal) -> float:
    """By how much `now` is above `before`, which is above zero, in percent, rounded to four digits."""
    return round(float((now / before - 1) * 100), 4)


def instant(text: str | None) -> datetime | None:
    """A moment in ISO 8601, in UTC unless it names an offset; None when it cannot be read.

    Upstreams write up to nine digits of a second; those beyond the sixth are dropped.
    """
    try:
        told = datetime.fromisoformat(_FINER.sub(r"\1", text or ""))
        return told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def from_milliseconds(value: float | None) -> datetime | None:
    """A moment in milliseconds since 1970; None when there is none or it is no moment."""
    try:
        return None if value is None else datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def timestamp_of(told: datetime | None, received: float) -> str:
    """The moment as the API writes it; `received`, a Unix time, where it is missing or in the future."""
    here = datetime.fromtimestamp(received, UTC)
    moment = here if told is None or told - here > MAX_SKEW else told
    return moment.isoformat().replace("+00:00", "Z")
