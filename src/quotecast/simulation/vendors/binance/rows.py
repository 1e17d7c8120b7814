"""Binance's rows of REST and events of streams, from prices and candles of the market."""

from typing import Any, Final

from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.vendors.binance.intervals import next_opening
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import DAY, Candle, Price

#: Trades in 24 hours.
_DAILY_TRADES: Final = DAY // PAUSE
#: Field names of a row of the statistics, and those of an event, in the order of the event.
NAMES: Final = {
    "symbol": "s",
    "priceChange": "p",
    "priceChangePercent": "P",
    "weightedAvgPrice": "w",
    "prevClosePrice": "x",
    "lastPrice": "c",
    "lastQty": "Q",
    "bidPrice": "b",
    "bidQty": "B",
    "askPrice": "a",
    "askQty": "A",
    "openPrice": "o",
    "highPrice": "h",
    "lowPrice": "l",
    "volume": "v",
    "quoteVolume": "q",
    "openTime": "O",
    "closeTime": "C",
    "firstId": "F",
    "lastId": "L",
    "count": "n",
}
#: The fields of a short row (`type=MINI`).
MINI: Final = (
    "symbol",
    "openPrice",
    "highPrice",
    "lowPrice",
    "lastPrice",
    "volume",
    "quoteVolume",
    "openTime",
    "closeTime",
    "firstId",
    "lastId",
    "count",
)
_BOOK: Final = ("symbol", "bidPrice", "bidQty", "askPrice", "askQty")


def decimal(value: float) -> str:
    """Returns a number as Binance writes prices and quantities."""
    return f"{value:.8f}"


def quantity(price: float) -> float:
    """Returns the quantity in the book at a price: the same one at any time."""
    return ((round(price * 1e8) * 2_654_435_761 >> 16) % 900 + 100) / 1000


def listing_row(base: str, quote: str = "USDT", *, decimals: int = 2, **changes: Any) -> Row:
    """Returns a row of `exchangeInfo`."""
    row = {
        "symbol": f"{base}{quote}",
        "status": "TRADING",
        "baseAsset": base,
        "baseAssetPrecision": 8,
        "quoteAsset": quote,
        "quotePrecision": 8,
        "quoteAssetPrecision": 8,
        "baseCommissionPrecision": 8,
        "quoteCommissionPrecision": 8,
        "orderTypes": ["LIMIT", "LIMIT_MAKER", "MARKET", "STOP_LOSS_LIMIT", "TAKE_PROFIT_LIMIT"],
        "icebergAllowed": True,
        "ocoAllowed": True,
        "otoAllowed": True,
        "quoteOrderQtyMarketAllowed": True,
        "allowTrailingStop": True,
        "cancelReplaceAllowed": True,
        "amendAllowed": True,
        "isSpotTradingAllowed": True,
        "isMarginTradingAllowed": False,
        "filters": _filters(decimals),
        "permissions": [],
        "permissionSets": [["SPOT"]],
        "defaultSelfTradePreventionMode": "EXPIRE_MAKER",
        "allowedSelfTradePreventionModes": ["EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH"],
    }
    return row | changes


def _filters(decimals: int) -> list[Row]:
    tick = decimal(10**-decimals)
    step = "0.00001000"
    return [
        {"filterType": "PRICE_FILTER", "minPrice": tick, "maxPrice": "1000000.00000000", "tickSize": tick},
        {"filterType": "LOT_SIZE", "minQty": step, "maxQty": "9000000.00000000", "stepSize": step},
        {"filterType": "ICEBERG_PARTS", "limit": 10},
        {
            "filterType": "MARKET_LOT_SIZE",
            "minQty": "0.00000000",
            "maxQty": "90000.00000000",
            "stepSize": "0.00000000",
        },
        {
            "filterType": "NOTIONAL",
            "minNotional": "5.00000000",
            "applyMinToMarket": True,
            "maxNotional": "9000000.00000000",
            "applyMaxToMarket": False,
            "avgPriceMins": 5,
        },
        {"filterType": "MAX_NUM_ORDERS", "maxNumOrders": 200},
    ]


def day_row(symbol: str, price: Price) -> Row:
    """Returns a row of the 24-hour statistics."""
    change = price.price - price.previous
    average = (price.high + price.low + price.open + price.price) / 4
    return {
        "symbol": symbol,
        "priceChange": f"{change:.8f}",
        "priceChangePercent": f"{100 * change / price.previous:.3f}",
        "weightedAvgPrice": f"{average:.8f}",
        "prevClosePrice": f"{price.previous:.8f}",
        "lastPrice": f"{price.price:.8f}",
        "lastQty": f"{price.size:.8f}",
        "bidPrice": f"{price.bid:.8f}",
        "bidQty": f"{quantity(price.bid):.8f}",
        "askPrice": f"{price.ask:.8f}",
        "askQty": f"{quantity(price.ask):.8f}",
        "openPrice": f"{price.open:.8f}",
        "highPrice": f"{price.high:.8f}",
        "lowPrice": f"{price.low:.8f}",
        "volume": f"{price.volume:.8f}",
        "quoteVolume": f"{price.volume * average:.8f}",
        "openTime": price.time - DAY,
        "closeTime": price.time,
        "firstId": price.number - _DAILY_TRADES + 1,
        "lastId": price.number,
        "count": _DAILY_TRADES,
    }


def mini_row(row: Row) -> Row:
    """Returns the short form of a row of the statistics."""
    return {name: row[name] for name in MINI}


def price_row(row: Row) -> Row:
    """Returns a row of `ticker/price` from one of the statistics."""
    return {"symbol": row["symbol"], "price": row["lastPrice"]}


def book_row(row: Row) -> Row:
    """Returns a row of `ticker/bookTicker` from one of the statistics."""
    return {name: row[name] for name in _BOOK}


def trade_row(price: Price) -> Row:
    """Returns a row of `trades`."""
    return {
        "id": price.number,
        "price": decimal(price.price),
        "qty": decimal(price.size),
        "quoteQty": decimal(price.price * price.size),
        "time": price.time,
        "isBuyerMaker": is_sale(price),
        "isBestMatch": True,
    }


def aggregate_row(price: Price) -> Row:
    """Returns a row of `aggTrades`; each trade is an aggregate of its own."""
    return {
        "a": price.number,
        "p": decimal(price.price),
        "q": decimal(price.size),
        "f": price.number,
        "l": price.number,
        "T": price.time,
        "m": is_sale(price),
        "M": True,
    }


def is_sale(price: Price) -> bool:
    """Returns whether the buyer's order waited in the book, from the trade's number."""
    return bool(price.number * 2_654_435_761 >> 20 & 1)


def kline_row(candle: Candle, interval: str) -> list[Any]:
    """Returns a row of `klines`."""
    turnover = candle.volume * (candle.open + candle.high + candle.low + candle.close) / 4
    prices = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    return [
        candle.start,
        *map(decimal, prices),
        next_opening(interval, candle.start) - 1,
        decimal(turnover),
        candle.trades,
        decimal(candle.volume / 2),
        decimal(turnover / 2),
        "0",
    ]
