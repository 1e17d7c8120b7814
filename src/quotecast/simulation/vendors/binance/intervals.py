"""The intervals of Binance's candles, and when they open: in UTC, weeks on Monday."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from quotecast.market.bars import Interval
from quotecast.simulation.vendors.market import Candle

_MINUTE: Final = 60_000
#: Lengths in milliseconds; that of a month is the longest.
LENGTHS: Final = {
    "1m": _MINUTE,
    "3m": 3 * _MINUTE,
    "5m": 5 * _MINUTE,
    "15m": 15 * _MINUTE,
    "30m": 30 * _MINUTE,
    "1h": 60 * _MINUTE,
    "2h": 120 * _MINUTE,
    "4h": 240 * _MINUTE,
    "6h": 360 * _MINUTE,
    "8h": 480 * _MINUTE,
    "12h": 720 * _MINUTE,
    "1d": 1440 * _MINUTE,
    "3d": 3 * 1440 * _MINUTE,
    "1w": 7 * 1440 * _MINUTE,
    "1M": 31 * 1440 * _MINUTE,
}
#: The market's interval of which candles of an interval consist.
PARTS: Final[dict[str, Interval]] = {
    "1m": "1m",
    "3m": "1m",
    "5m": "5m",
    "15m": "15m",
    "30m": "30m",
    "1h": "1h",
    "2h": "1h",
    "4h": "4h",
    "6h": "1h",
    "8h": "4h",
    "12h": "4h",
    "1d": "D",
    "3d": "D",
    "1w": "W",
    "1M": "M",
}
#: The first Monday since 1970, in milliseconds: weeks count from it.
_MONDAY: Final = 4 * 86_400_000


def opening(interval: str, moment: int) -> int:
    """Returns when the candle that contains a moment opens; both are Unix milliseconds."""
    if interval == "1M":
        first = _utc(moment).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return int(first.timestamp() * 1000)
    origin = _MONDAY if interval == "1w" else 0
    return moment - (moment - origin) % LENGTHS[interval]


def next_opening(interval: str, opened: int) -> int:
    """Returns when the candle after the one that opened at `opened` opens."""
    return opening(interval, opened + LENGTHS[interval])


def merge(candles: Sequence[Candle], interval: str) -> list[Candle]:
    """Returns candles of an interval from those of its parts, each with the start of its opening."""
    groups = itertools.groupby(candles, lambda candle: opening(interval, candle.start))
    return [_merged(start, list(group)) for start, group in groups]


def _merged(start: int, group: Sequence[Candle]) -> Candle:
    return replace(
        group[0],
        start=start,
        end=group[-1].end,
        high=max(each.high for each in group),
        low=min(each.low for each in group),
        close=group[-1].close,
        volume=sum(each.volume for each in group),
        trades=sum(each.trades for each in group),
    )


def _utc(moment: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment)
