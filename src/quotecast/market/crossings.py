"""Crossings of thresholds by the measures of a symbol.

A measure crosses a threshold upward when it was below and is not any more, and downward when it was above
and is not any more: a value that equals the threshold has crossed it. An unknown value crosses nothing.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from quotecast.market.own_bars import MINUTE, Closing, OwnBar
from quotecast.market.quotes import Quote, StockQuote

Measure = Literal["price", "5m", "15m", "1h", "day"]

#: Seconds of the measures that compare a price with an earlier one.
WINDOWS: Final[Mapping[Measure, int]] = {"5m": 5 * MINUTE, "15m": 15 * MINUTE, "1h": 60 * MINUTE}
#: Closings in which earlier prices are looked up: two hours, if something changes every minute.
PAST_CLOSINGS: Final = 120
#: Our last close of a day and the provider's differ by less than this factor, unless shares were split since.
_SPLIT: Final = 1.2
#: Decimals of a change in percent, so that 101.1 after 100 is 1.1 %.
_DECIMALS: Final = 9


class CrossingId(NamedTuple):
    """Names a crossing in its feed; ids only grow. `moment` is in milliseconds of Unix time."""

    moment: int
    number: int

    def __str__(self) -> str:
        return f"{self.moment}-{self.number}"


#: Before the first crossing.
NO_CROSSING: Final = CrossingId(0, 0)


class Crossing(Struct, frozen=True, gc=False, array_like=True):
    """A step of a symbol's measure from the value `before` over one threshold or several.

    `at` is the Unix time at which the ingest heard the quote.
    """

    moment: int
    number: int
    ticker: str
    measure: Measure
    before: float
    value: float
    price: float
    at: float

    @property
    def id(self) -> CrossingId:
        """The name of the crossing in its feed."""
        return CrossingId(self.moment, self.number)


class Thresholds(Struct, frozen=True, gc=False, array_like=True):
    """The sorted thresholds of one measure of a symbol: those that wait for a rise, and for a fall."""

    measure: Measure
    up: tuple[float, ...] = ()
    down: tuple[float, ...] = ()

    def are_crossed(self, before: float, value: float) -> bool:
        """Returns whether a step from one value to another crosses any."""
        if value > before:
            return bisect_right(self.up, value) > bisect_right(self.up, before)
        return bisect_left(self.down, value) < bisect_left(self.down, before)


#: The thresholds of a feed, by symbol.
Levels = Mapping[str, Sequence[Thresholds]]


class PastPrices:
    """The closes of a feed's one-minute bars in its newest PAST_CLOSINGS closings."""

    def __init__(self) -> None:
        self.closings: deque[Closing] = deque(maxlen=PAST_CLOSINGS)
        self._ends: deque[int] = deque(maxlen=PAST_CLOSINGS)

    def add(self, closings: Iterable[Closing]) -> None:
        """Takes closings that follow the last one, the oldest first."""
        for closing in closings:
            self.closings.append(closing)
            self._ends.append(closing.through)

    def bar(self, key: str, moment: int) -> OwnBar | None:
        """Returns a symbol's last bar that ended by the Unix time `moment`; None without any."""
        for place in range(bisect_right(self._ends, moment) - 1, -1, -1):
            bar: OwnBar | None = self.closings[place].bars.get("1m", _NO_BARS).get(key)
            if bar is not None:
                return bar
        return None


_NO_BARS: Final[dict[str, OwnBar]] = {}


class Reading(NamedTuple):
    """A quote, and the opening of the symbol's newest one-minute bar then; negative without any."""

    quote: Quote
    minute: int


def step_of(
    measure: Measure, before: Reading, now: Reading, past: PastPrices, midnight: int
) -> tuple[float | None, float | None]:
    """Returns a measure of a quote and of the next one; None where it is unknown.

    A window reaches back from the symbol's newest bar: so the values follow from what the bus stores, and a
    successor has the same. `midnight` is that of the present day in New York, as Unix time.
    """
    if measure == "price":
        return before.quote.price, now.quote.price
    if measure == "day":
        return before.quote.change_percent, now.quote.change_percent
    key, window = now.quote.key, WINDOWS[measure]
    later = past.bar(key, now.minute - window)
    earlier = later if before.minute == now.minute else past.bar(key, before.minute - window)
    return _change(before.quote, earlier, midnight), _change(now.quote, later, midnight)


def _change(quote: Quote, past: OwnBar | None, midnight: int) -> float | None:
    """Returns the change since a bar; None for a stock's bar of before today in shares of before a split."""
    if past is None or not past.close:
        return None
    if past.opened < midnight and isinstance(quote, StockQuote):
        ratio = past.close / (quote.previous_close or quote.price)
        if not 1 / _SPLIT < ratio < _SPLIT:
            return None
    return round((quote.price - past.close) / past.close * 100, _DECIMALS)


def is_one_source(before: Quote, quote: Quote) -> bool:
    """Returns whether two quotes of a symbol have the same provider, as far as quotes name it."""
    if isinstance(before, StockQuote) or isinstance(quote, StockQuote):
        return True
    return before.provider == quote.provider
