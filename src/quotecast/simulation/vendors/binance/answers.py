"""The answers of Binance's REST interface; each takes a call and returns what its JSON says."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from quotecast.simulation.market.trades import PAUSE
from quotecast.simulation.vendors.binance import rows
from quotecast.simulation.vendors.binance.book import DEPTH, snapshot
from quotecast.simulation.vendors.binance.errors import Problem
from quotecast.simulation.vendors.binance.intervals import LENGTHS
from quotecast.simulation.vendors.binance.limits import MAX_WEIGHT
from quotecast.simulation.vendors.binance.parameters import Parameters
from quotecast.simulation.vendors.binance.source import MarketSource, newest_start
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Price

MAX_ROWS: Final = 1000
MAX_DEPTH: Final = 5000
_TYPES: Final = ("FULL", "MINI")
_STATUSES: Final = ("TRADING", "END_OF_DAY", "HALT", "BREAK", "CANCEL_ONLY")
#: Minutes of `avgPrice`.
_AVERAGE_MINUTES: Final = 5
_LIMITS: Final = (
    ("REQUEST_WEIGHT", "MINUTE", 1, MAX_WEIGHT),
    ("ORDERS", "SECOND", 10, 100),
    ("ORDERS", "DAY", 1, 200_000),
    ("RAW_REQUESTS", "MINUTE", 5, 61_000),
)


class Call(Struct, frozen=True):
    """A request at a moment in Unix milliseconds."""

    source: MarketSource
    parameters: Parameters
    moment: int
    #: Rows of candles that one call returns.
    max_rows: int

    def is_known(self, symbol: str) -> bool:
        """Returns whether Binance lists a symbol now."""
        return self.source.is_listed(symbol, self.moment)

    def symbol(self) -> str:
        """Returns the mandatory symbol."""
        return self.parameters.symbol(self.is_known)

    def symbols(self) -> list[str] | None:
        """Returns the symbols that the client names; None if it names none."""
        return self.parameters.symbols(self.is_known)


def ping(_: Call) -> Row:
    """Answers `ping`."""
    return {}


def server_time(call: Call) -> Row:
    """Answers `time`."""
    return {"serverTime": call.moment}


def system_status(_: Call) -> Row:
    """Answers `/sapi/v1/system/status`."""
    return {"status": 0, "msg": "normal"}


def listing(call: Call) -> Row:
    """Answers `exchangeInfo`."""
    wanted = call.symbols()
    status = call.parameters.text("symbolStatus")
    if status is not None and status not in _STATUSES:
        raise Problem.invalid("symbolStatus")
    listed = [
        row
        for row in call.source.listing(call.moment)
        if status in (None, row["status"]) and (wanted is None or row["symbol"] in wanted)
    ]
    if call.parameters.text("showPermissionSets") == "false":
        listed = [row | {"permissionSets": []} for row in listed]
    return {
        "timezone": "UTC",
        "serverTime": call.moment,
        "rateLimits": [
            {"rateLimitType": kind, "interval": unit, "intervalNum": count, "limit": limit}
            for kind, unit, count, limit in _LIMITS
        ],
        "exchangeFilters": [],
        "symbols": listed,
    }


def day(call: Call) -> Any:
    """Answers `ticker/24hr`."""
    kind = call.parameters.choice("type", _TYPES, "FULL")
    found = _day_rows(call)
    return _each(rows.mini_row, found) if kind == "MINI" else found


def prices(call: Call) -> Any:
    """Answers `ticker/price`."""
    return _each(rows.price_row, _day_rows(call))


def books(call: Call) -> Any:
    """Answers `ticker/bookTicker`."""
    return _each(rows.book_row, _day_rows(call))


def klines(call: Call) -> list[list[Any]]:
    """Answers `klines` and `uiKlines`."""
    parameters = call.parameters
    parameters.needed("symbol")
    interval = parameters.needed("interval")
    if interval not in LENGTHS:
        raise Problem(-1120, "Invalid interval.")
    symbol = call.symbol()
    parameters.utc_only()
    limit = parameters.limit(500, MAX_ROWS)
    limit = min(limit, call.max_rows)
    start, end = parameters.number("startTime"), parameters.number("endTime")
    last = call.moment if end is None else min(end, call.moment)
    if start is None:
        opens = newest_start(interval, limit, last), last
        return call.source.klines(symbol, interval, opens, call.moment)[-limit:]
    first = max(start, call.source.opened)
    last = min(last, first + limit * LENGTHS[interval])
    if first > last:
        return []
    return call.source.klines(symbol, interval, (first, last), call.moment)[:limit]


def average(call: Call) -> Row:
    """Answers `avgPrice`."""
    start = newest_start("1m", _AVERAGE_MINUTES, call.moment)
    candles = call.source.klines(call.symbol(), "1m", (start, call.moment), call.moment)
    volume = sum(float(row[5]) for row in candles)
    price = sum(float(row[7]) for row in candles) / volume if volume else 0.0
    return {"mins": _AVERAGE_MINUTES, "price": rows.decimal(price), "closeTime": call.moment}


def trades(call: Call) -> list[Row]:
    """Answers `trades` and `historicalTrades`, which have no times."""
    return [rows.trade_row(price) for price in _trades(call)]


def aggregates(call: Call) -> list[Row]:
    """Answers `aggTrades`."""
    return [rows.aggregate_row(price) for price in _trades(call)]


def depth(call: Call) -> Row:
    """Answers `depth`."""
    limit = call.parameters.limit(DEPTH, MAX_DEPTH)
    return snapshot(call.source.book(call.symbol(), call.moment), limit)


def _trades(call: Call) -> list[Price]:
    """Returns the trades from an id or a time on, or else the newest."""
    symbol, limit = call.symbol(), call.parameters.limit(500, MAX_ROWS)
    start, end = call.parameters.number("startTime"), call.parameters.number("endTime")
    first = call.parameters.number("fromId")
    if first is not None and (start is not None or end is not None):
        raise Problem(-1128, "Combination of optional parameters invalid.")
    last = (call.moment if end is None else min(end, call.moment)) // PAUSE
    if start is not None:
        first = -(-start // PAUSE)
    if first is not None:
        last = min(last, first + limit - 1)
    found = call.source.trades(symbol, last, limit)
    return [price for price in found if first is None or price.number >= first]


def _day_rows(call: Call) -> Any:
    """Returns a row for `symbol`, and a list for `symbols` or without both."""
    wanted = call.symbols()
    names = call.source.symbols(call.moment) if wanted is None else wanted
    found = [call.source.day_row(symbol, call.moment) for symbol in names]
    return found[0] if call.parameters.text("symbol") else found


def _each(change: Callable[[Row], Row], found: Any) -> Any:
    return [change(row) for row in found] if isinstance(found, list) else change(found)
