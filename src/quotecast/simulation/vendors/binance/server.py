"""A simulated Binance: REST and streams on one port."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Response

from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.binance import answers
from quotecast.simulation.vendors.binance.answers import MAX_DEPTH, MAX_ROWS, Call
from quotecast.simulation.vendors.binance.errors import (
    ELSEWHERE,
    IN_MAINTENANCE,
    MAINTENANCE,
    NO_PATH,
    Problem,
)
from quotecast.simulation.vendors.binance.events import server_shutdown
from quotecast.simulation.vendors.binance.limits import Weights
from quotecast.simulation.vendors.binance.parameters import Parameters
from quotecast.simulation.vendors.binance.publisher import ARRAYS, Publisher
from quotecast.simulation.vendors.binance.sessions import (
    COMBINED,
    TOO_MANY,
    Refused,
    Sessions,
    is_stream_path,
    read_command,
    session_of,
)
from quotecast.simulation.vendors.binance.source import MarketSource
from quotecast.simulation.vendors.binance.trading import Trading
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row, response_of
from quotecast.simulation.vendors.market import DAY, Market, Price
from quotecast.simulation.vendors.server import Client, VendorServer

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
#: Milliseconds before the end of a connection at which Binance announces it.
_NOTICE: Final = 600_000
#: The weight of a signed request.
_SIGNED_WEIGHT: Final = 20
#: Parameters of signed requests, which public paths ignore.
_IGNORED: Final = frozenset({"timestamp", "recvWindow", "signature"})


class BinanceServer(VendorServer):
    """A simulated Binance; with `restricted` it answers every request with 451, as in some countries."""

    def __init__(
        self,
        market: Market,
        clock: MarketClock,
        *,
        source: MarketSource | None = None,
        restricted: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(market, clock, **options)
        self.source = source or MarketSource(market)
        self.restricted = restricted
        self.weights = Weights(clock.moment())
        #: Parameters that `exchangeInfo` accepts; Binance.US accepts fewer.
        self.listing_parameters: Collection[str] = LISTING_PARAMETERS
        self.rows_per_call = MAX_ROWS
        self.publisher = Publisher(self.source, self.deliver)
        self.sessions = Sessions(self, self.source, self.publisher)
        self.trading = Trading(market, self.source, clock, accepts=self.knows, secret=self._secret)

    async def handle(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """See Server; streams have paths of their own."""
        if self.restricted:
            return response_of(ELSEWHERE)
        if "Upgrade" in request.headers and not is_stream_path(request.path):
            return response_of(NO_PATH)
        return await super().handle(connection, request)

    def respond(self, request: HttpRequest) -> Answer:
        """See VendorServer; the status of the system has an answer during maintenance too."""
        refusal = self.market.schedule.refusal(self.clock.moment())
        if request.path == SYSTEM_STATUS and refusal == "maintenance":
            return IN_MAINTENANCE
        return super().respond(request)

    def route(self, request: HttpRequest) -> Answer:
        """See VendorServer; each answer has the weight that this minute's requests have used."""
        path, moment = PATHS.get(request.path), self.clock.moment()
        if self.trading.has(request):
            refused = self.weights.spend(_SIGNED_WEIGHT, moment)
            answer = refused or self.trading.answer(request)
        elif path is None:
            return NO_PATH
        else:
            refused = self.weights.spend(path.weight(request.query), moment)
            answer = refused or self._answer(path, request, moment)
        used = str(self.weights.used)
        weights = {"X-MBX-USED-WEIGHT": used, "X-MBX-USED-WEIGHT-1M": used}
        return replace(answer, headers={**answer.headers, **weights})

    def has_method(self, request: HttpRequest) -> bool:
        """See VendorServer."""
        return super().has_method(request) or self.trading.has(request)

    def reject(self, reason: str) -> Answer:
        """See VendorServer."""
        return Problem(-1020, reason).answer

    def refuse(self, refusal: Refusal) -> Answer:
        """See VendorServer."""
        return MAINTENANCE if refusal == "maintenance" else self.weights.refuse(self.clock.moment())

    def greet(self, client: Client) -> None:
        """See VendorServer; nothing comes first, and the path may name streams."""
        request = client.connection.request
        self.sessions.open(client, request.path if request else "/ws", self.clock.moment())

    async def obey(self, client: Client, command: str | bytes) -> None:
        """See VendorServer."""
        if self.sessions.is_too_fast(client):
            await client.connection.close(1008, "Too many requests")
        else:
            client.answer(msgspec.json.encode(self.reply(client, command)))

    def reply(self, client: Client, text: str | bytes) -> Row:
        """Returns the answer to a command."""
        number = None
        try:
            command = read_command(text)
            number = command.get("id")
            return {"result": self.sessions.carry_out(client, command), "id": number}
        except Refused as error:
            problem = {"code": error.code, "msg": error.text}
            is_limit = error.code == TOO_MANY
            return {"error": problem, "id": number} if is_limit else {**problem, "id": number}

    def forget(self, client: Client) -> None:
        """See VendorServer."""
        self.sessions.leave(client, self.sessions.names(client))
        super().forget(client)

    def publish(self, price: Price) -> None:
        """See VendorServer."""
        self.publisher.publish(price)

    def deliver(self, name: str, price: Price, event: Any) -> None:
        """Sends an event to the clients of a stream, encoded once."""
        payload, combined = msgspec.json.encode(event), COMBINED + name
        if name in self.topics:
            self.send(name, price, payload)
        if combined in self.topics:
            self.send(combined, price, b'{"stream":"%b","data":%b}' % (name.encode(), payload))

    def beat(self, moment: int) -> None:
        """See VendorServer; orders fill, too."""
        self.trading.accounts.settle(moment)
        arrays = {name for name in ARRAYS if name in self.topics or COMBINED + name in self.topics}
        if arrays:
            self.publisher.publish_arrays(arrays, moment)
        for client in self.clients:
            self._age(client, moment)

    def _age(self, client: Client, moment: int) -> None:
        """Announces the end of a connection ten minutes before its 24 hours are over, and then closes it."""
        session = session_of(client)
        if moment >= session.opened + DAY - _NOTICE and not session.warned:
            session.warned = True
            event = server_shutdown(moment)
            shown = {"stream": "!serverShutdown", "data": event} if session.combined else event
            client.answer(msgspec.json.encode(shown))
        if moment >= session.opened + DAY and not session.closed:
            session.closed = True
            self.close(client, 1001, "24 hours")

    def _answer(self, path: Path, request: HttpRequest, moment: int) -> Answer:
        legal = self.listing_parameters if request.path == LISTING else path.parameters
        try:
            parameters = Parameters(request.query, {*legal, *_IGNORED})
            return Answer.of(path.answer(Call(self.source, parameters, moment, self.rows_per_call)))
        except Problem as problem:
            return problem.answer
