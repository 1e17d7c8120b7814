"""Numbers and times as text."""

from datetime import datetime, tzinfo
from decimal import Decimal

UNKNOWN = "-"


def number(value: float | None, *, signed: bool = False, grouped: bool = True) -> str:
    """Returns all decimals of a number, at least two."""
    if value is None:
        return UNKNOWN
    exact = Decimal(repr(value))
    decimals = max(2, -int(exact.as_tuple().exponent))
    return f"{exact:{'+' if signed else ''}{',' if grouped else ''}.{decimals}f}"


def percent(value: float | None) -> str:
    """Returns a share in percent, with its sign."""
    return UNKNOWN if value is None else f"{value:+.2f}%"


def clock_time(timestamp: str | None, now: datetime, zone: tzinfo | None = None) -> str:
    """Returns the local time of a timestamp, or its date if that is not today."""
    if timestamp is None:
        return UNKNOWN
    moment = datetime.fromisoformat(timestamp).astimezone(zone)
    return f"{moment:%H:%M:%S}" if moment.date() == now.astimezone(zone).date() else f"{moment:%d %b}"
