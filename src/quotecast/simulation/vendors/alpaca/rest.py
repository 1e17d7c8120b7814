"""Alpaca's REST APIs of market data and trading: keys, rates, and the answers of all paths."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from quotecast.simulation.vendors.alpaca.broker import Broker
from quotecast.simulation.vendors.alpaca.errors import (
    FORBIDDEN,
    NOT_FOUND,
    RECENT_SIP,
    TOO_MANY,
    UNAVAILABLE,
    BadQuery,
    RecentTape,
)
from quotecast.simulation.vendors.alpaca.market_data import MarketData
from quotecast.simulation.vendors.alpaca.market_source import MarketSource
from quotecast.simulation.vendors.alpaca.query import check_symbol
from quotecast.simulation.vendors.alpaca.trading import Trading
from quotecast.simulation.vendors.http import Answer, HttpRequest

#: Calls per minute of the free plan and of the paid one.
FREE_CALLS: Final = 200
PAID_CALLS: Final = 10_000
#: Headers of the keys.
KEY: Final = "APCA-API-KEY-ID"
SECRET: Final = "APCA-API-SECRET-KEY"  # noqa: S105 (a header's name)
_WINDOW_SECONDS: Final = 60
_OF_STOCK: Final = re.compile(
    r"/v2/stocks/([^/]+)/(snapshot|bars|trades|quotes|bars/latest|trades/latest|quotes/latest)"
)
_ASSET: Final = "/v2/assets/"

Route = Callable[[Mapping[str, str]], Answer]


class AlpacaRest:
    """Answers the requests of clients whose key and secret `accepts` accepts.

    `clock` returns Unix time. `free` selects the plan without the last 15 minutes of the consolidated tape.
    `more` has paths of a whole market.
    """

    def __init__(
        self,
        source: MarketSource,
        clock: Callable[[], float],
        accepts: Callable[[str, str], bool],
        *,
        free: bool = False,
        trading: Trading | None = None,
        more: Mapping[str, Route] | None = None,
    ) -> None:
        self.source = source
        self.clock = clock
        self._trading = trading
        self._more = more or {}
        self._accepts = accepts
        self.free = free
        self.calls_per_minute = FREE_CALLS if free else PAID_CALLS
        #: Most rows in a page, whatever `limit` the client sends.
        self.rows_per_page = 10_000
        self._used: list[float] = []

    def answer(self, request: HttpRequest) -> Answer:
        """Returns the answer to a request, with the headers of its rate limit."""
        public = request.path.startswith("/v1beta3/crypto/")
        if not public and not self._knows(request):
            return FORBIDDEN
        now = self.clock()
        self._used = [used for used in self._used if now - used < _WINDOW_SECONDS]
        over = len(self._used) >= self.calls_per_minute
        self._used.append(now)
        return self._with_limits(TOO_MANY if over else self._answer(request), self._used[0])

    def refuse(self, *, overloaded: bool) -> Answer:
        """Returns the refusal of a request: too many of them, or maintenance."""
        self._used = self._used[-self.calls_per_minute :]
        return self._with_limits(TOO_MANY, self.clock(), left=0) if overloaded else UNAVAILABLE

    def _knows(self, request: HttpRequest) -> bool:
        key, secret = (request.headers.get(name, "") for name in (KEY, SECRET))
        return bool(secret) and self._accepts(key, secret)

    def _with_limits(self, answer: Answer, since: float, left: int | None = None) -> Answer:
        if left is None:
            left = max(self.calls_per_minute - len(self._used), 0)
        limits = {
            "X-RateLimit-Limit": str(self.calls_per_minute),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": str(int(since) + _WINDOW_SECONDS),
        }
        return replace(answer, headers=limits)

    def _answer(self, request: HttpRequest) -> Answer:
        key = request.headers.get(KEY)
        if key and self._trading and (traded := self._trading.answer(request, key)):
            return traded
        if request.method not in {"GET", "HEAD"}:
            return NOT_FOUND
        try:
            route = self._route_of(request.path)
            return route(request.query) if route else NOT_FOUND
        except RecentTape:
            return RECENT_SIP
        except BadQuery as error:
            return Answer.of({"message": str(error)}, 400)

    def _route_of(self, path: str) -> Route | None:
        now = datetime.fromtimestamp(self.clock(), UTC)
        data = MarketData(self.source, now, free=self.free, rows_per_page=self.rows_per_page)
        broker = Broker(self.source, now)
        fixed = {**broker.routes(), **data.routes(), **self._more}
        if path in fixed:
            return fixed[path]
        if path.startswith(_ASSET):
            return lambda _: broker.asset(path.removeprefix(_ASSET))
        if found := _OF_STOCK.fullmatch(path):
            symbol = check_symbol(found[1])
            return lambda query: data.of_stock(symbol, found[2], query)
        return None
