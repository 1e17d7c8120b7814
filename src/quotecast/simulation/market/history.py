"""Bars of every interval, computed from the tape."""

from collections.abc import Callable, Iterator
from datetime import date
from itertools import groupby
from time import gmtime, strftime
from typing import Final

from msgspec.structs import replace

from quotecast.market.bars import Bar, Interval
from quotecast.simulation.market.candles import HOUR, MINUTE, TickCandle, merge
from quotecast.simulation.market.hours import local_ordinal, midnight_of
from quotecast.simulation.market.listings import Listing
from quotecast.simulation.market.tape import Tape

_MILLISECONDS: Final[dict[str, int]] = {
    "1m": MINUTE,
    "5m": 5 * MINUTE,
    "15m": 15 * MINUTE,
    "30m": 30 * MINUTE,
    "1h": HOUR,
    "4h": 4 * HOUR,
}
#: Returns the first date of an interval that contains a date, both as ordinals.
_FIRST_DATE: Final[dict[str, Callable[[int], int]]] = {
    "D": lambda ordinal: ordinal,
    "W": lambda ordinal: ordinal - date.fromordinal(ordinal).weekday(),
    "M": lambda ordinal: date.fromordinal(ordinal).replace(day=1).toordinal(),
}


def bars(tape: Tape, interval: Interval, start: int, end: int, markup: float = 1.0) -> Iterator[Bar]:
    """Returns the bars from the one that contains `start` to the one in progress at `end`, ascending.

    `start` and `end` are Unix milliseconds. The bar in progress covers trades up to `end`. Intraday bars
    align to local midnight; `D`, `W` and `M` start at local midnight of their first trading day. `markup`
    multiplies prices, as a bank does.
    """
    return (_bar(tape.listing, candle, markup) for candle in candles(tape, interval, start, end))


def candles(tape: Tape, interval: Interval, start: int, end: int) -> Iterator[TickCandle]:
    """Returns the candles of `bars`: times in Unix milliseconds, prices in ticks."""
    size = _MILLISECONDS.get(interval)
    return tape.candles(size, start, end) if size else _from_days(tape, interval, start, end)


def _from_days(tape: Tape, interval: str, start: int, end: int) -> Iterator[TickCandle]:
    first_date, zone = _FIRST_DATE[interval], tape.hours.zone
    begin = midnight_of(first_date(local_ordinal(start, zone)), zone)
    for _, group in groupby(tape.days(begin, end), lambda day: first_date(day[0].ordinal)):
        days = list(group)
        yield replace(merge(candle for _, candle in days), start=days[0][0].midnight)


def _bar(listing: Listing, candle: TickCandle, markup: float) -> Bar:
    scale = listing.scale
    if markup != 1.0:
        marked = {name: round(getattr(candle, name) * markup) for name in ("open", "high", "low", "close")}
        candle = replace(candle, **marked)
    return Bar(
        # Formatting with gmtime takes a third of the time of a datetime, which matters for years of bars.
        time=strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(candle.start // 1000)),
        open=candle.open / scale,
        high=candle.high / scale,
        low=candle.low / scale,
        close=candle.close / scale,
        volume=candle.volume / listing.volume_scale,
    )
