"""Kraken's rows: of REST and WebSocket version 1 with texts, of version 2 with numbers.

Source: Kraken documentation, "REST API: Market Data" and "WebSockets API v1, v2".
"""

from datetime import UTC, datetime
from math import isnan
from typing import Any, Final

from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.kraken.names import KrakenPair, long_name, short_name
from quotecast.simulation.vendors.market import Candle, Price

#: Decimals of quantities.
LOT_DECIMALS: Final = 8
#: Quantity at the best bid and ask, in sizes of the newest trade.
_DEPTH: Final = 5


def moment_text(moment: int) -> str:
    """Returns Unix milliseconds as Kraken writes moments: `2026-11-19T13:37:21.250000Z`."""
    written = datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="microseconds")
    return written.replace("+00:00", "Z")


def ticker_row(price: Price) -> Row:
    """Returns a row of the channel `ticker`."""
    last = number(price.price)
    return {
        "symbol": price.symbol,
        "bid": price.bid,
        "bid_qty": round(price.size * _DEPTH, LOT_DECIMALS),
        "ask": price.ask,
        "ask_qty": round(price.size * _DEPTH, LOT_DECIMALS),
        "last": last,
        "volume": price.volume,
        "vwap": round((price.high + price.low) / 2, 8),
        "low": price.low,
        "high": price.high,
        "change": number(round(price.price - price.previous, 8)),
        "change_pct": number(round((price.price / price.previous - 1) * 100, 2)),
        "timestamp": moment_text(price.time),
    }


def trade_row(price: Price) -> Row:
    """Returns a row of the channel `trade`."""
    return {
        "symbol": price.symbol,
        "side": "buy" if is_buy(price) else "sell",
        "price": number(price.price),
        "qty": price.size,
        "ord_type": "limit" if is_limit(price) else "market",
        "trade_id": price.number,
        "timestamp": moment_text(price.time),
    }


def candle_row(symbol: str, minutes: int, candle: Candle) -> Row:
    """Returns a row of the channel `ohlc`."""
    return {
        "symbol": symbol,
        "open": candle.open,
        "high": candle.high,
        "low": candle.low,
        "close": candle.close,
        "trades": candle.trades,
        "volume": round(candle.volume, LOT_DECIMALS),
        "vwap": round(average(candle), 8),
        "interval_begin": moment_text(candle.start).replace(".000000Z", ".000000000Z"),
        "interval": minutes,
        "timestamp": moment_text(candle.start + minutes * 60_000),
    }


def ohlc_row(candle: Candle, decimals: int) -> list[Any]:
    """Returns a row of the REST method `OHLC`."""
    prices = (candle.open, candle.high, candle.low, candle.close, average(candle))
    texts = [text(each, decimals) for each in prices]
    return [candle.start // 1000, *texts, text(candle.volume, LOT_DECIMALS), candle.trades]


def rest_ticker(row: Row, decimals: int) -> Row:
    """Returns the REST row of a row of the channel `ticker`."""

    def price(name: str) -> str:
        return text(float(row[name]), decimals)

    def offer(side: str) -> list[str]:
        quantity = row[f"{side}_qty"]
        return [price(side), str(max(1, int(quantity))), text(quantity, 3)]

    volume = text(row["volume"], LOT_DECIMALS)
    return {
        "a": offer("ask"),
        "b": offer("bid"),
        "c": [price("last"), text(row["bid_qty"] / _DEPTH, LOT_DECIMALS)],
        "v": [volume, volume],
        "p": [price("vwap")] * 2,
        "t": [1000, 1000],
        "l": [price("low")] * 2,
        "h": [price("high")] * 2,
        "o": text(float(row["last"]) - float(row["change"]), decimals),
    }


def rest_trade(price: Price, decimals: int) -> list[Any]:
    """Returns a row of the REST method `Trades`."""
    return [
        text(price.price, decimals),
        text(price.size, LOT_DECIMALS),
        price.time / 1000,
        "b" if is_buy(price) else "s",
        "l" if is_limit(price) else "m",
        "",
        price.number,
    ]


def pair_row(pair: KrakenPair, decimals: int, status: str) -> Row:
    """Returns a row of the REST method `AssetPairs`."""
    tick = text(10**-decimals, decimals)
    return {
        "altname": pair.altname,
        "wsname": pair.wsname,
        "aclass_base": "currency",
        "base": pair.base,
        "aclass_quote": "currency",
        "quote": pair.quote,
        "lot": "unit",
        "cost_decimals": 5,
        "pair_decimals": decimals,
        "lot_decimals": LOT_DECIMALS,
        "lot_multiplier": 1,
        "leverage_buy": [],
        "leverage_sell": [],
        "fees": [[0, 0.4], [10_000, 0.35]],
        "fees_maker": [[0, 0.25], [10_000, 0.2]],
        "fee_volume_currency": "ZUSD",
        "margin_call": 80,
        "margin_stop": 40,
        "ordermin": "0.0001",
        "costmin": "0.5",
        "tick_size": tick,
        "status": status,
    }


def instrument_row(pair: KrakenPair, decimals: int, status: str) -> Row:
    """Returns a pair of the channel `instrument`."""
    base, quote = pair.symbol.split("/")
    return {
        "symbol": pair.symbol,
        "base": base,
        "quote": quote,
        "status": status,
        "has_index": False,
        "marginable": False,
        "price_precision": decimals,
        "price_increment": 10**-decimals,
        "qty_precision": LOT_DECIMALS,
        "qty_increment": 10**-LOT_DECIMALS,
        "qty_min": 0.0001,
        "cost_precision": 5,
        "cost_min": "0.5",
    }


def instrument_asset(name: str) -> Row:
    """Returns an asset of the channel `instrument`; `name` is `BTC` or `USD`."""
    row = asset_row(short_name(name))
    return {
        "id": name,
        "status": "enabled",
        "precision": row["decimals"],
        "precision_display": row["display_decimals"],
        "borrowable": False,
        "collateral_value": 0.0,
        "margin_rate": 0.0,
    }


def asset_row(short: str) -> Row:
    """Returns a row of the REST method `Assets`; `short` is `XBT` or `USD`."""
    is_currency = long_name(short).startswith("Z") and short != "ZEC"
    return {
        "aclass": "currency",
        "altname": short,
        "decimals": 4 if is_currency else 10,
        "display_decimals": 2 if is_currency else 5,
        "status": "enabled",
    }


def is_buy(price: Price) -> bool:
    """Returns whether a trade was a purchase at the ask, as its number decides."""
    return price.number * 2_654_435_761 >> 12 & 1 == 0


def is_limit(price: Price) -> bool:
    """Returns whether the order behind a trade had a limit, as its number decides."""
    return price.number * 2_654_435_761 >> 14 & 1 == 0


def average(candle: Candle) -> float:
    """Returns the volume-weighted price of a candle, of which the market knows no more than its extent."""
    return (candle.open + candle.high + candle.low + candle.close) / 4


def text(value: float, decimals: int) -> str:
    """Returns a number with that many decimals."""
    return "NaN" if isnan(value) else f"{value:.{decimals}f}"


def number(value: float) -> float | str:
    """Returns a number; NaN as text, because JSON has no such number."""
    return "NaN" if isnan(value) else value
