"""From rows of an upstream to believable bars."""

from collections.abc import Iterable
from datetime import datetime
from itertools import compress
from typing import Protocol

from quotecast.market.bars import Bar, bar_time
from quotecast.market.numbers import Number, number, positive
from quotecast.market.own_bars import OwnBar, VenueBar
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.judgement import ABSURD_FACTOR, is_near, judge_closes
from quotecast.providers.validation.rows import readable


class CandleRow(Protocol):
    """A row of an upstream's bars; each upstream has its own field of the time."""

    @property
    def open(self) -> Number:
        """Returns the first price."""
        ...

    @property
    def high(self) -> Number:
        """Returns the highest price."""
        ...

    @property
    def low(self) -> Number:
        """Returns the lowest price."""
        ...

    @property
    def close(self) -> Number:
        """Returns the last price."""
        ...

    @property
    def volume(self) -> Number:
        """Returns the traded volume."""
        ...


def to_bar(candle: CandleRow, opened: datetime | None) -> Bar | None:
    """Returns the bar, its high and low widened by open and close; None for an invalid row.

    Alpaca's open and close count trades that its high and low leave out. A row is invalid when its time, a
    price or the volume is missing, a price is zero, the low is above the high, or open or close is far beyond
    both.
    """
    first, high, low, close = map(positive, (candle.open, candle.high, candle.low, candle.close))
    volume = number(candle.volume)
    if opened is None or first is None or high is None or low is None or close is None or volume is None:
        return None
    highest, lowest = max(first, high, close), min(first, low, close)
    if low > high or highest > high * ABSURD_FACTOR or lowest < low / ABSURD_FACTOR:
        return None
    return Bar(bar_time(opened), float(first), float(highest), float(lowest), float(close), float(volume))


def minute_of_venue(key: str, bar: Bar, opened: datetime, *, near: float, final: bool) -> VenueBar | None:
    """Returns the venue's bar of a minute; None for one that goes ten times as far as a price, or a tenth."""
    if not is_near(bar.high, near) or not is_near(bar.low, near):
        return None
    own = OwnBar(int(opened.timestamp()), bar.open, bar.high, bar.low, bar.close, bar.volume, 0)
    return VenueBar(key, own, final)


def believable_bars(bars: Iterable[Bar | None], refused: RefusalCounter) -> list[Bar]:
    """Returns the believable bars, ascending, the last one of each time; counts the others by reason.

    `unreadable` bars are None. The close of an `absurd` bar is more than ten times or less than a tenth of
    both neighbours' closes: after a real leap the market stays there for a while. This check leaves out highs
    and lows, which go that far in a crash. The result has no bars of volume 0, and does not count them: they
    repeat the close before where nothing traded.
    """
    by_time = {bar.time: bar for bar in readable(bars, refused)}
    ascending = [by_time[time] for time in sorted(by_time) if by_time[time].volume]
    valid = list(compress(ascending, judge_closes([bar.close for bar in ascending])))
    refused.count("absurd", len(ascending) - len(valid))
    return valid
