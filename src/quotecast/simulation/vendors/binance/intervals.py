"""The intervals of Binance's candles, and when they open: in UTC, weeks on Monday."""

from typing import Final

from quotecast.market.bars import Interval
from quotecast.simulation.vendors.market import utc

_MINUTE: Final = 60_000
#: Minutes of each interval, and the market's interval of which its candles consist.
_INTERVALS: Final[dict[str, tuple[int, Interval]]] = {
    "1m": (1, "1m"),
    "3m": (3, "1m"),
    "5m": (5, "5m"),
    "15m": (15, "15m"),
    "30m": (30, "30m"),
    "1h": (60, "1h"),
    "2h": (120, "1h"),
    "4h": (240, "4h"),
    "6h": (360, "1h"),
    "8h": (480, "4h"),
    "12h": (720, "4h"),
    "1d": (1440, "D"),
    "3d": (3 * 1440, "D"),
    "1w": (7 * 1440, "W"),
    "1M": (31 * 1440, "M"),
}
#: Lengths in milliseconds; that of a month is the longest.
LENGTHS: Final = {name: minutes * _MINUTE for name, (minutes, _) in _INTERVALS.items()}
PARTS: Final = {name: part for name, (_, part) in _INTERVALS.items()}
#: The first Monday since 1970, in milliseconds: weeks count from it.
_MONDAY: Final = 4 * 86_400_000


def opening(interval: str, moment: int) -> int:
    """Returns when the candle that contains a moment opens; both are Unix milliseconds."""
    if interval == "1M":
        first = utc(moment).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return int(first.timestamp() * 1000)
    origin = _MONDAY if interval == "1w" else 0
    return moment - (moment - origin) % LENGTHS[interval]


def next_opening(interval: str, opened: int) -> int:
    """Returns when the candle after the one that opened at `opened` opens."""
    return opening(interval, opened + LENGTHS[interval])
