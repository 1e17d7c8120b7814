"""Binance's candles.

Source of the format: Binance spot API documentation, "REST API: kline data" and "WebSocket streams: kline".
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from quotecast.market.bars import Bar, Interval
from quotecast.market.numbers import Number, from_milliseconds
from quotecast.providers.validation.candles import to_bar

#: The upstream's names of the intervals; `1m` is a minute, `1M` a month.
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
    """A row of `GET /api/v3/klines`, as far as needed; `open_time` is in milliseconds since 1970."""

    open_time: int
    open: Number
    high: Number
    low: Number
    close: Number
    volume: Number

    def to_bar(self) -> Bar | None:
        """Returns the bar; None for a row with an impossible time or invalid prices."""
        return to_bar(self, from_milliseconds(self.open_time))


class StreamedKline(Struct, frozen=True):
    """The candle of a `KlineEvent`; a `closed` one does not change any more."""

    open_time: int = field(name="t")
    open: Number = field(name="o")
    high: Number = field(name="h")
    low: Number = field(name="l")
    close: Number = field(name="c")
    volume: Number = field(name="v")
    closed: bool = field(name="x")


class KlineEvent(Struct, frozen=True):
    """An event of a `@kline_1m` stream."""

    symbol: str = field(name="s")
    kline: StreamedKline = field(name="k")
