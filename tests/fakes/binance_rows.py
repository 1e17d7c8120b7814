"""Rows and candles of a fake Binance: the simulated vendor's, with figures that a test gives."""

from collections.abc import Iterator
from typing import Any

from fakes.http import Row
from quotecast.simulation.vendors.binance import events, rows
from quotecast.simulation.vendors.binance.intervals import next_opening, opening
from quotecast.simulation.vendors.market import Candle, Price

event = events.ticker_event
listing_row = rows.listing_row


def statistics(symbol: str, price: str = "100.00", opened: str = "80.00", **changes: Any) -> Row:
    """Returns a row of the 24-hour statistics; its time is None, which the fake replaces by that of now."""
    now, before = float(price), float(opened)
    made = Price(
        symbol=symbol,
        time=0,
        number=2,
        price=now,
        size=0.01,
        bid=now * 0.99,
        ask=now * 1.01,
        open=before,
        high=max(now, before),
        low=min(now, before),
        previous=before,
        volume=1234.5,
    )
    return rows.day_row(symbol, made) | {"openTime": 0, "closeTime": None} | changes


def kline(opened: int, interval: str = "1m") -> list[Any]:
    """Returns the candle that opened at that Unix time in milliseconds; its prices follow from the hour."""
    price = 1000.0 + opened // 60_000 % 1000
    candle = Candle(
        start=opened,
        end=next_opening(interval, opened),
        open=price,
        high=price + 3,
        low=price - 2,
        close=price + 1.5,
        volume=12.5,
        trades=9,
    )
    return rows.kline_row(candle, interval)


def klines(interval: str, start: int, end: int) -> Iterator[list[Any]]:
    """Yields the candles that open between two times."""
    opened = opening(interval, start)
    while opened <= end:
        if opened >= start:
            yield kline(opened, interval)
        opened = next_opening(interval, opened)
