"""A simulated Finnhub: REST below `/api/v1`, and a WebSocket of trades at `/`."""

import re
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Response

from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.finnhub.companies import Companies
from quotecast.simulation.vendors.finnhub.errors import (
    INVALID_MESSAGE,
    NO_KEY,
    TOO_MANY,
    TOO_MANY_SYMBOLS,
    UNAVAILABLE,
    WRONG_KEY,
)
from quotecast.simulation.vendors.finnhub.exchange import Exchange, Symbols
from quotecast.simulation.vendors.finnhub.rest import FinnhubRest
from quotecast.simulation.vendors.finnhub.rows import trade_row
from quotecast.simulation.vendors.http import Answer, HttpRequest, response_of
from quotecast.simulation.vendors.market import Market, Price
from quotecast.simulation.vendors.server import Client, VendorServer

#: Calls in a minute of the free plan and of a paid one, and in a second of any.
FREE_CALLS: Final = 60
PAID_CALLS: Final = 300
CALLS_PER_SECOND: Final = 30
_MINUTE: Final = 60_000
_SECOND: Final = 1000
#: Path prefix of the API.
VERSION: Final = "/api/v1"
#: Symbols of a connection, under the free plan and a paid one.
FREE_SYMBOLS: Final = 50
PAID_SYMBOLS: Final = 1000
#: Market time between two pings, in milliseconds.
_PING_EVERY: Final = 20_000
_PING: Final = b'{"type":"ping"}'
_SLASHES: Final = re.compile("/{2,}")


class FinnhubServer(VendorServer):
    """See VendorServer. `free` selects the free plan: fewer calls and symbols, and no premium paths."""

    def __init__(
        self,
        market: Market,
        clock: MarketClock,
        *,
        free: bool = False,
        companies: Companies | None = None,
        **options: Any,
    ) -> None:
        super().__init__(market, clock, **options)
        self.limits = CallLimits(FREE_CALLS if free else PAID_CALLS)
        self.rest = FinnhubRest(
            companies or Companies(market, clock), Exchange(market, clock), premium=not free
        )
        self._most_symbols = FREE_SYMBOLS if free else PAID_SYMBOLS
        self._symbols = Symbols(market)
        self._pinged_at = clock.moment()

    def route(self, request: HttpRequest) -> Answer:
        """See VendorServer."""
        refused = self._refused(request)
        if refused:
            return refused
        now = self.clock.moment()
        path = _SLASHES.sub("/", request.path)
        if not self.limits.admit(now):
            answer = TOO_MANY
        elif path.startswith(VERSION):
            answer = self.rest.answer(path.removeprefix(VERSION), request.query)
        else:
            answer = self.rest.answer("", {})
        return Answer(answer.body, answer.status, answer.content_type, self.limits.headers(now))

    def reject(self, reason: str) -> Answer:
        """See VendorServer."""
        return Answer.of({"error": reason}, 404)

    def refuse(self, refusal: Refusal) -> Answer:
        """See VendorServer."""
        if refusal == "maintenance":
            return UNAVAILABLE
        spent = {**self.limits.headers(self.clock.moment()), "X-Ratelimit-Remaining": "0"}
        return Answer(TOO_MANY.body, TOO_MANY.status, headers=spent)

    async def handle(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """See Server; a handshake needs a key, too."""
        refused = self._refused(request) if "Upgrade" in request.headers else None
        return response_of(refused) if refused else await super().handle(connection, request)

    async def obey(self, client: Client, command: str | bytes) -> None:
        """See VendorServer; there is no answer to a command that succeeds."""
        try:
            request = msgspec.json.decode(command)
        except (ValueError, RecursionError):
            request = None
        symbol = request.get("symbol") if isinstance(request, dict) else None
        if not isinstance(request, dict) or not isinstance(symbol, str):
            _complain(client, INVALID_MESSAGE)
        elif request.get("type") == "subscribe":
            self._follow(client, symbol)
        elif request.get("type") == "unsubscribe":
            self.unsubscribe(client, symbol)
        else:
            _complain(client, INVALID_MESSAGE)

    def publish(self, price: Price) -> None:
        """See VendorServer."""
        symbol = self._symbols.symbol_of(price.symbol)
        self.send(symbol, price, msgspec.json.encode({"data": [trade_row(symbol, price)], "type": "trade"}))

    def beat(self, moment: int) -> None:
        """See VendorServer."""
        if moment - self._pinged_at >= _PING_EVERY:
            self._pinged_at = moment
            for client in self.clients:
                client.answer(_PING)

    def _follow(self, client: Client, symbol: str) -> None:
        name = self._symbols.find(symbol, self.clock.moment())
        if name is None:
            _complain(client, f"Invalid symbol {symbol[:100]}")
        elif symbol not in client.topics and len(client.topics) >= self._most_symbols:
            _complain(client, TOO_MANY_SYMBOLS)
        else:
            self.subscribe(client, symbol, name)

    def _refused(self, request: HttpRequest) -> Answer | None:
        """Returns the refusal of a request without the right key."""
        given = request.headers.get("X-Finnhub-Token") or request.query.get("token", "")
        if self.accepts(given):
            return None
        return WRONG_KEY if given else NO_KEY


def _complain(client: Client, problem: str) -> None:
    client.answer(msgspec.json.encode({"msg": problem, "type": "error"}))


class CallLimits:
    """Counts calls by their moments in Unix milliseconds."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self.per_second = CALLS_PER_SECOND
        self._calls: deque[int] = deque()

    def admit(self, now: int) -> bool:
        """Counts a call, if it is within the limits."""
        calls = self._calls
        while calls and now - calls[0] >= _MINUTE:
            calls.popleft()
        in_a_second = sum(now - call < _SECOND for call in calls)
        if len(calls) >= self.per_minute or in_a_second >= self.per_second:
            return False
        calls.append(now)
        return True

    def headers(self, now: int) -> Mapping[str, str]:
        """Returns the headers of an answer."""
        first = self._calls[0] if self._calls else now
        return {
            "X-Ratelimit-Limit": str(self.per_minute),
            "X-Ratelimit-Remaining": str(self.per_minute - len(self._calls)),
            "X-Ratelimit-Reset": str((first + _MINUTE) // 1000),
        }
