"""Events of Binance's streams."""

from typing import Any, Final

from quotecast.simulation.vendors.binance.rows import NAMES, aggregate_row, day_row, is_sale, quantity
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Price

_TICKER: Final = tuple(NAMES.items())
#: The fields of a `24hrMiniTicker` in the order of the event.
_MINI: Final = ("lastPrice", "openPrice", "highPrice", "lowPrice", "volume", "quoteVolume")


def ticker_event(row: Row) -> Row:
    """Returns a row of the 24-hour statistics as an event."""
    fields = {short: row[name] for name, short in _TICKER if name in row}
    return {"e": "24hrTicker", "E": row["closeTime"], **fields}


def ticker(symbol: str, price: Price) -> Row:
    """Returns an event of `@ticker`."""
    return ticker_event(day_row(symbol, price))


def mini_ticker(symbol: str, price: Price) -> Row:
    """Returns an event of `@miniTicker`."""
    row = day_row(symbol, price)
    return {"e": "24hrMiniTicker", "E": price.time, "s": symbol, **{NAMES[name]: row[name] for name in _MINI}}


def book_ticker(symbol: str, price: Price) -> Row:
    """Returns an event of `@bookTicker`, which has no name and no time."""
    return {
        "u": price.number,
        "s": symbol,
        "b": f"{price.bid:.8f}",
        "B": f"{quantity(price.bid):.8f}",
        "a": f"{price.ask:.8f}",
        "A": f"{quantity(price.ask):.8f}",
    }


def trade(symbol: str, price: Price) -> Row:
    """Returns an event of `@trade`."""
    return {
        "e": "trade",
        "E": price.time,
        "s": symbol,
        "t": price.number,
        "p": f"{price.price:.8f}",
        "q": f"{price.size:.8f}",
        "T": price.time,
        "m": is_sale(price),
        "M": True,
    }


def aggregate_trade(symbol: str, price: Price) -> Row:
    """Returns an event of `@aggTrade`."""
    return {"e": "aggTrade", "E": price.time, "s": symbol, **aggregate_row(price)}


def kline(symbol: str, interval: str, row: list[Any], at: Price, *, closed: bool) -> Row:
    """Returns an event of `@kline_<interval>` from a row of `klines`."""
    opened, first, high, low, last, volume, end, turnover, count, taker, taker_turnover, _ = row
    return {
        "e": "kline",
        "E": at.time,
        "s": symbol,
        "k": {
            "t": opened,
            "T": end,
            "s": symbol,
            "i": interval,
            "f": at.number - count + 1,
            "L": at.number,
            "o": first,
            "c": last,
            "h": high,
            "l": low,
            "v": volume,
            "n": count,
            "x": closed,
            "q": turnover,
            "V": taker,
            "Q": taker_turnover,
            "B": "0",
        },
    }


def server_shutdown(moment: int) -> Row:
    """Returns the event that announces the end of a connection."""
    return {"e": "serverShutdown", "E": moment}
