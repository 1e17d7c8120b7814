"""From an upstream's rows to bars that can be believed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import compress
from typing import Protocol

from quotecast.market.bars import Bar, stamp
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.judgement import ABSURD_FACTOR, judge_closes
from quotecast.providers.validation.values import Number, number, positive


class CandleRow(Protocol):
    """A row as upstreams tell bars; each names its time in its own way."""

    @property
    def open(self) -> Number:
        """The first price."""
        ...

    @property
    def high(self) -> Number:
        """The highest."""
        ...

    @property
    def low(self) -> Number:
        """The lowest."""
        ...

    @property
    def close(self) -> Number:
        """The last."""
        ...

    @property
    def volume(self) -> Number:
        """What was traded."""
        ...


def to_bar(candle: CandleRow, opened: datetime) -> Bar | None:
    """The bar, its high and low widened by open and close; None for one that cannot be.

    Alpaca's open and close count trades that its high and low leave out. A bar cannot be when a price is
    zero or missing, the low is above the high, open or close is far beyond both, or the volume is missing.
    """
    first, high, low, close = map(positive, (candle.open, candle.high, candle.low, candle.close))
    volume = number(candle.volume)
    if first is None or high is None or low is None or close is None or volume is None:
        return None
    highest, lowest = max(first, high, close), min(first, low, close)
    if low > high or highest > high * ABSURD_FACTOR or lowest < low / ABSURD_FACTOR:
        return None
    return Bar(stamp(opened), float(first), float(highest), float(lowest), float(close), float(volume))


def believable_bars(bars: Iterable[Bar | None], refused: RefusalCounter) -> list[Bar]:
    """The bars that can be believed, ascending, the last one of each time; others are counted by reason.

    `unreadable` are those that are None, `absurd` those whose close is more than ten times or less than a
    tenth of both neighbours': a market that leaps stays, for a while, where it leapt to. Highs and lows are
    not judged so: in a crash, they do go that far. A bar of volume 0 is a filler, which repeats the close
    before where nothing traded: it is left out, and not counted.
    """
    made = list(bars)
    by_time = {bar.time: bar for bar in made if bar}
    refused.count("unreadable", made.count(None))
    ascending = [by_time[time] for time in sorted(by_time) if by_time[time].volume]
    kept = list(compress(ascending, _verdicts(ascending)))
    refused.count("absurd", len(ascending) - len(kept))
    return kept


def _verdicts(ascending: Sequence[Bar]) -> list[bool]:
    return judge_closes([bar.close for bar in ascending])
