"""Bars made from the quotes of a feed: one-minute bars, and coarser ones as folds of them.

A bar in progress and a final bar have the same form. A fold of the same one-minute bars in order of time is
the same coarser bar, bit for bit.
"""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from msgspec import Struct

LiveInterval = Literal["1m", "5m", "15m", "1h", "D"]

#: The intervals of live bars, the finest first.
LIVE_INTERVALS: Final[tuple[LiveInterval, ...]] = get_args(LiveInterval)
COARSE: Final = LIVE_INTERVALS[1:]

MINUTE: Final = 60
#: Decimals of a volume.
_VOLUME_DECIMALS: Final = 8


class OwnBar(Struct, frozen=True, gc=False, array_like=True):
    """Prices of one interval; `opened` is Unix time in seconds, `updates` counts quotes.

    Volume is None where the feed has none.
    """

    opened: int
    open: float
    high: float
    low: float
    close: float
    volume: float | None
    updates: int


class VenueBar(Struct, frozen=True, gc=False):
    """The venue's own bar of a minute, as far as it goes; each replaces the one before.

    `key` is the quote's, and `updates` of the bar is 0. A `final` one has every trade.
    """

    key: str
    bar: OwnBar
    final: bool


class Part(Struct, frozen=True, gc=False, array_like=True):
    """The final part of a coarser bar in progress, which ends at the Unix time `ends`."""

    bar: OwnBar
    ends: int


class Progress(Struct, frozen=True, gc=False, array_like=True):
    """A symbol's newest one-minute bar, and the one before it if it may not be final yet.

    There is none before the first update in trading hours. `seen` is the quote's volume up to which the bars
    count, and `day` the trading day of that volume.
    """

    minute: OwnBar | None
    ended: OwnBar | None
    seen: float | None
    day: int


#: A minute's place in the coarser intervals: opening and end of each, in Unix time.
Slot = Mapping[LiveInterval, tuple[int, int]]

#: The parts of one symbol.
Parts = dict[LiveInterval, Part]


class Closing(Struct, frozen=True, gc=False, array_like=True):
    """The bars that end at `through`, Unix time, by interval and symbol: they are final.

    `slot` is the place of the minute that ends there; it is empty if no bar of a minute does.
    """

    through: int
    bars: Mapping[LiveInterval, Mapping[str, OwnBar]]
    slot: dict[LiveInterval, tuple[int, int]]


def series_name(feed: str, market: str) -> str:
    """Returns the name of a feed's stored bars: those of two markets never mix. The real market is ""."""
    return f"{feed}.{market}" if market else feed


def extend(bar: OwnBar | None, piece: OwnBar, opened: int) -> OwnBar:
    """Returns the bar that opened at `opened`, extended by its next piece; a fold begins with None."""
    if bar is None:
        return OwnBar(opened, piece.open, piece.high, piece.low, piece.close, piece.volume, piece.updates)
    return OwnBar(
        opened,
        bar.open,
        max(bar.high, piece.high),
        min(bar.low, piece.low),
        piece.close,
        add_volumes(bar.volume, piece.volume),
        bar.updates + piece.updates,
    )


def add_volumes(first: float | None, second: float | None) -> float | None:
    """Returns the sum; None only if neither is known."""
    if first is None or second is None:
        return second if first is None else first
    return tidy_volume(first + second)


def tidy_volume(volume: float) -> float:
    """Returns a volume without the rounding error of a sum or a difference."""
    return volume if volume.is_integer() else round(volume, _VOLUME_DECIMALS)


def close_parts(parts: dict[str, Parts], closing: Closing) -> None:
    """Takes a closing's bars into the parts of coarser bars in progress."""
    for key, bar in closing.bars.get("1m", {}).items():
        own = parts.setdefault(key, {})
        for interval, (opened, ends) in closing.slot.items():
            before = own.get(interval)
            continued = before.bar if before is not None and before.bar.opened == opened else None
            own[interval] = Part(extend(continued, bar, opened), ends)
    for interval in COARSE:
        for key in closing.bars.get(interval, ()):
            parts.get(key, {}).pop(interval, None)
