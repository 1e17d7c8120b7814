"""Rows of Coinbase Exchange's REST, from prices, candles and pairs of the market.

Source of the format: Coinbase Exchange documentation, "Products", "Currencies".
"""

from collections.abc import Sequence
from functools import lru_cache
from time import gmtime, strftime
from typing import Literal

from quotecast.market.reference import Pair
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Candle, Price

Status = Literal["online", "offline", "delisted"]
Side = Literal["buy", "sell"]
#: Time in Unix seconds, low, high, open, close, volume.
CandleRow = tuple[float, ...]


def product_of(symbol: str) -> str:
    """Returns Coinbase's id of a pair."""
    return symbol.replace("/", "-")


def symbol_of(product: str) -> str:
    """Returns the pair of an id."""
    return product.replace("-", "/")


def product_row(
    pair: Pair, decimals: int, status: Status = "online", *, is_disabled: bool = False, message: str = ""
) -> Row:
    """Returns a row of `/products`."""
    return {
        "id": product_of(pair.ticker),
        "base_currency": pair.base,
        "quote_currency": pair.quote,
        "quote_increment": f"{10**-decimals:.{decimals}f}",
        "base_increment": "0.00000001",
        "display_name": product_of(pair.ticker),
        "min_market_funds": "1",
        "margin_enabled": False,
        "post_only": False,
        "limit_only": False,
        "cancel_only": False,
        "status": status,
        "status_message": message,
        "trading_disabled": is_disabled,
        "fx_stablecoin": False,
        "max_slippage_percentage": "0.02000000",
        "auction_mode": False,
        "high_bid_limit_percentage": "",
    }


def currency_row(code: str, name: str, *, is_fiat: bool = False) -> Row:
    """Returns a row of `/currencies`."""
    increment = "0.01" if is_fiat else "0.00000001"
    return {
        "id": code,
        "name": name,
        "min_size": increment,
        "status": "online",
        "message": "",
        "max_precision": increment,
        "convertible_to": [],
        "details": {"type": "fiat" if is_fiat else "crypto", "symbol": None, "display_name": code},
        "default_network": "",
        "supported_networks": [],
        "display_name": code,
    }


def ticker_row(price: Price, decimals: int) -> Row:
    """Returns the answer of `/products/{id}/ticker`."""
    return {
        "ask": f"{price.ask:.{decimals}f}",
        "bid": f"{price.bid:.{decimals}f}",
        "volume": f"{price.volume:.8f}",
        "trade_id": price.number,
        "price": f"{price.price:.{decimals}f}",
        "size": f"{price.size:.8f}",
        "time": trade_time(price),
        "rfq_volume": "0.000000",
    }


def stats_row(price: Price, decimals: int, month_volume: float) -> Row:
    """Returns the answer of `/products/{id}/stats`; `month_volume` is that of 30 days."""
    return {**_day_row(price, decimals), "volume_30day": f"{month_volume:.8f}"}


def all_stats_row(price: Price, decimals: int, month_volume: float) -> Row:
    """Returns a product's entry of `/products/stats`."""
    return {
        "stats_30day": {"volume": f"{month_volume:.8f}"},
        "stats_24hour": _day_row(price, decimals),
    }


def _day_row(price: Price, decimals: int) -> Row:
    return {
        "open": f"{price.open:.{decimals}f}",
        "high": f"{price.high:.{decimals}f}",
        "low": f"{price.low:.{decimals}f}",
        "last": f"{price.price:.{decimals}f}",
        "volume": f"{price.volume:.8f}",
    }


def trade_row(price: Price, decimals: int) -> Row:
    """Returns a row of `/products/{id}/trades`; its side is that of the order in the book."""
    return {
        "trade_id": price.number,
        "side": maker_side(price.number),
        "size": f"{price.size:.8f}",
        "price": f"{price.price:.{decimals}f}",
        "time": trade_time(price),
    }


def candle_row(candle: Candle) -> CandleRow:
    """Returns a row of `/products/{id}/candles`."""
    return (
        candle.start // 1000,
        candle.low,
        candle.high,
        candle.open,
        candle.close,
        round(candle.volume, 8),
    )


def merge_rows(rows: Sequence[CandleRow], granularity: int) -> list[CandleRow]:
    """Returns the longer candles of ascending ones."""
    merged: dict[int, CandleRow] = {}
    for row in rows:
        start = int(row[0]) // granularity * granularity
        _, low, high, opened, close, volume = row
        if start in merged:
            _, lowest, highest, opened, _, before = merged[start]
            low, high, volume = min(lowest, low), max(highest, high), round(before + volume, 8)
        merged[start] = (start, low, high, opened, close, volume)
    return list(merged.values())


def maker_side(number: int) -> Side:
    """Returns the side of the order that waited in the book, of a trade's number."""
    return "buy" if number * 2_654_435_761 >> 12 & 1 else "sell"


def taker_side(number: int) -> Side:
    """Returns the side of the order that came to the book."""
    return "sell" if maker_side(number) == "buy" else "buy"


def trade_time(price: Price) -> str:
    """Returns the time of a trade, with microseconds that its number makes up."""
    return f"{_seconds(price.time // 1000)}.{price.time % 1000:03}{price.number * 37 % 1000:03}Z"


def iso_time(moment: int) -> str:
    """Returns Unix milliseconds with microseconds."""
    return f"{_seconds(moment // 1000)}.{moment % 1000:03}000Z"


@lru_cache(maxsize=64)
def _seconds(seconds: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(seconds))
