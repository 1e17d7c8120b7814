"""Binance's candles, and which of them can be believed.

Source of the format: Binance spot API documentation, "REST API: kline data".
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Final

import msgspec
from msgspec import Raw, Struct

from quotecast.market.bars import Bar, Interval, stamp
from quotecast.providers.judgement import believable
from quotecast.providers.values import Number, from_milliseconds, number, positive

#: What the upstream calls the intervals: letter case tells `1m` from `1M`.
INTERVALS: Final[Mapping[Interval, str]] = {
    "1m": "1m",
    "5m": "5m",
    "15m": "15m",
    "30m": "30m",
    "1h": "1h",
    "4h": "4h",
    "D": "1d",
    "W": "1w",
    "M": "1M",
}


class Kline(Struct, frozen=True, array_like=True):
    """A row of `GET /api/v3/klines`, as far as it is of use; `open_time` is in milliseconds since 1970."""

    open_time: int
    open: Number
    high: Number
    low: Number
    close: Number
    volume: Number

    def to_bar(self) -> Bar | None:
        """The bar; None unless prices are above zero and within high and low, and the volume is no less."""
        moment = from_milliseconds(self.open_time)
        opened, high, low, close = map(positive, (self.open, self.high, self.low, self.close))
        volume = number(self.volume)
        if moment is None or opened is None or high is None or low is None or close is None or volume is None:
            return None
        if not low <= min(opened, close) <= max(opened, close) <= high:
            return None
        return Bar(stamp(moment), float(opened), float(high), float(low), float(close), float(volume))


_kline: Final = msgspec.json.Decoder(Kline)


def klines(rows: Iterable[Raw], refused: Counter[str]) -> list[Kline]:
    """The candles of an answer; what is none is counted as `malformed`."""
    found = []
    for raw in rows:
        try:
            found.append(_kline.decode(raw))
        except (ValueError, RecursionError):
            refused["malformed"] += 1
    return found


def bars(candles: Iterable[Kline], refused: Counter[str]) -> list[Bar]:
    """The bars that can be believed, ascending, one for each time; others are counted by reason.

    `unreadable` are those that `Kline.to_bar` refuses, `absurd` those whose close is more than ten times
    or less than a tenth of both neighbours': a market that leaps stays, for a while, where it leapt to. Highs
    and lows are not judged so: in a crash, they do go that far.
    """
    made = [(candle.open_time, candle.to_bar()) for candle in candles]
    readable = {time: bar for time, bar in made if bar}
    refused["unreadable"] += sum(bar is None for _, bar in made)
    ascending = [readable[time] for time in sorted(readable)]
    believed = list(compress(ascending, believable([bar.close for bar in ascending])))
    refused["absurd"] += len(ascending) - len(believed)
    return believed
