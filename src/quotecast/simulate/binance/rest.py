"""The paths of Binance's REST interface: their parameters and what they weigh."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from msgspec import Struct

from quotecast.simulate.binance import answers
from quotecast.simulate.binance.answers import MAX_DEPTH, MAX_ROWS, Call

#: Parameters that `exchangeInfo` accepts; Binance.US accepts fewer.
LISTING_PARAMETERS: Final = frozenset(
    {"symbol", "symbols", "permissions", "showPermissionSets", "symbolStatus"}
)
LISTING: Final = "/api/v3/exchangeInfo"
SYSTEM_STATUS: Final = "/sapi/v1/system/status"
#: Weights of a depth by the number of levels, and that of any more.
_DEPTH_WEIGHTS: Final = ((100, 5), (500, 25), (1000, 50))
_MAX_DEPTH_WEIGHT: Final = 250

_Weight = Callable[[Mapping[str, str]], int]


class Path(Struct, frozen=True):
    """A path: what answers it, the parameters that it has, and the weight of a request."""

    answer: Callable[[Call], Any]
    parameters: Collection[str]
    weight: _Weight


def _fixed(weight: int) -> _Weight:
    return lambda _: weight


def _by_symbols(*weights: tuple[int, int]) -> _Weight:
    """Returns a weight from pairs of the most symbols and what so many weigh, ascending."""

    def weight(query: Mapping[str, str]) -> int:
        names = query["symbols"].count(",") + 1 if "symbols" in query else MAX_ROWS
        count = 1 if "symbol" in query else names
        return next((value for most, value in weights if count <= most), weights[-1][1])

    return weight


def _of_depth(query: Mapping[str, str]) -> int:
    text = query.get("limit", "100")
    limit = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_DEPTH)) else MAX_DEPTH
    return next((weight for most, weight in _DEPTH_WEIGHTS if limit <= most), _MAX_DEPTH_WEIGHT)


_DAY: Final = _by_symbols((20, 2), (100, 40), (MAX_ROWS, 80))
_PRICES: Final = _by_symbols((1, 2), (MAX_ROWS, 4))
_BARS: Final = ("symbol", "interval", "startTime", "endTime", "timeZone", "limit")
_TICKERS: Final = ("symbol", "symbols", "symbolStatus")
_AGGREGATES: Final = ("symbol", "fromId", "startTime", "endTime", "limit")

PATHS: Final[Mapping[str, Path]] = {
    "/api/v3/ping": Path(answers.ping, (), _fixed(1)),
    "/api/v3/time": Path(answers.server_time, (), _fixed(1)),
    SYSTEM_STATUS: Path(answers.system_status, (), _fixed(1)),
    LISTING: Path(answers.listing, LISTING_PARAMETERS, _fixed(20)),
    "/api/v3/ticker/24hr": Path(answers.day, (*_TICKERS, "type"), _DAY),
    "/api/v3/ticker/price": Path(answers.prices, _TICKERS, _PRICES),
    "/api/v3/ticker/bookTicker": Path(answers.books, _TICKERS, _PRICES),
    "/api/v3/klines": Path(answers.klines, _BARS, _fixed(2)),
    "/api/v3/uiKlines": Path(answers.klines, _BARS, _fixed(2)),
    "/api/v3/avgPrice": Path(answers.average, ("symbol",), _fixed(2)),
    "/api/v3/trades": Path(answers.trades, ("symbol", "limit"), _fixed(25)),
    "/api/v3/historicalTrades": Path(answers.trades, ("symbol", "limit", "fromId"), _fixed(25)),
    "/api/v3/aggTrades": Path(answers.aggregates, _AGGREGATES, _fixed(4)),
    "/api/v3/depth": Path(answers.depth, ("symbol", "limit", "symbolStatus"), _of_depth),
}
