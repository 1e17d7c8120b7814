"""Bars as the API answers them."""

from typing import Final, Literal, get_args

from msgspec import Struct

Interval = Literal["1m", "5m", "15m", "30m", "1h", "4h", "D", "W", "M"]

#: Every length of a bar, the finest first; `1m` is a minute, `M` a month.
INTERVALS: Final[tuple[Interval, ...]] = get_args(Interval)


class Bar(Struct, frozen=True, gc=False):
    """Prices and volume of one interval; `time` is when it opened, ISO 8601 in UTC, ending with Z."""

    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float
