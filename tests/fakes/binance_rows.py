"""Binance's rows, events and candles."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fakes.http import Row

MINUTES: Final = {"1m": 1, "5m": 5, "15m": 15, "30m": 30, "1h": 60, "4h": 240, "1d": 1440, "1w": 10_080}
#: The first Monday since 1970, in milliseconds: Binance counts weeks from it.
MONDAY: Final = 4 * 86_400_000
INTERVALS: Final = {*MINUTES, "1M"}
#: Field names of a row, and those of an event.
NAMES: Final = {
    "symbol": "s",
    "priceChange": "p",
    "priceChangePercent": "P",
    "lastPrice": "c",
    "bidPrice": "b",
    "askPrice": "a",
    "openPrice": "o",
    "highPrice": "h",
    "lowPrice": "l",
    "volume": "v",
    "quoteVolume": "q",
    "openTime": "O",
    "closeTime": "C",
}


def listing_row(base: str, quote: str = "USDT", **changes: Any) -> Row:
    """Returns a row of `exchangeInfo`."""
    row = {
        "symbol": f"{base}{quote}",
        "status": "TRADING",
        "baseAsset": base,
        "quoteAsset": quote,
        "isSpotTradingAllowed": True,
        "filters": [{"filterType": "PRICE_FILTER", "tickSize": "0.01"}],
        "permissionSets": [],
    }
    return row | changes


def statistics(symbol: str, price: str = "100.00", opened: str = "80.00", **changes: Any) -> Row:
    """Returns a row of the 24-hour statistics."""
    now, before = float(price), float(opened)
    row = {
        "symbol": symbol,
        "priceChange": f"{now - before:.8f}",
        "priceChangePercent": f"{100 * (now - before) / before:.3f}",
        "weightedAvgPrice": price,
        "prevClosePrice": opened,
        "lastPrice": price,
        "bidPrice": f"{now * 0.99:.8f}",
        "askPrice": f"{now * 1.01:.8f}",
        "openPrice": opened,
        "highPrice": f"{max(now, before):.8f}",
        "lowPrice": f"{min(now, before):.8f}",
        "volume": "1234.5",
        "quoteVolume": "98765.4",
        "openTime": 0,
        "closeTime": None,
        "firstId": 1,
        "lastId": 2,
        "count": 2,
    }
    return row | changes


def event(row: Row) -> Row:
    """Returns a row of the 24-hour statistics as a stream event."""
    fields = {short: row[name] for name, short in NAMES.items() if name in row}
    return {"e": "24hrTicker", "E": row["closeTime"]} | fields


def kline(opened: int, closes: int) -> list[Any]:
    """Returns the candle that opened at that Unix time in milliseconds; its prices follow from the hour."""
    price = 1000 + opened // 60_000 % 1000
    prices = [f"{price}.00", f"{price + 3}.00", f"{price - 2}.00", f"{price + 1}.50"]
    return [opened, *prices, "12.5", closes - 1, "12500.0", 9, "6.0", "6000.0", "0"]


def openings(interval: str, start: int) -> Iterator[int]:
    """Yields the opening times of an interval's candles, from a Unix time in milliseconds on."""
    if interval == "1M":
        yield from (opened for opened in _months(start) if opened >= start)
        return
    origin = MONDAY if interval == "1w" else 0
    length = MINUTES[interval] * 60_000
    yield from itertools.count(-(-(start - origin) // length) * length + origin, length)


def _months(start: int) -> Iterator[int]:
    month = datetime.fromtimestamp(start / 1000, UTC).replace(
        day=1, hour=0, minute=0, second=0, microsecond=0
    )
    while True:
        yield int(month.timestamp() * 1000)
        month = (month + timedelta(days=32)).replace(day=1)
