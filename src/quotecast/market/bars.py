"""Bars as the API answers them."""

from msgspec import Struct


class Bar(Struct, frozen=True, gc=False):
    """Prices and volume of one interval; `time` is when it opened, ISO 8601 in UTC, ending with Z."""

    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float
