"""The streams of each client of a simulated Binance, and the commands that change them."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import msgspec
from msgspec import Struct, field

from quotecast.simulation.vendors.binance.publisher import ARRAYS, Publisher, stream_of
from quotecast.simulation.vendors.binance.source import MarketSource
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.server import Client, VendorServer

#: The topics of clients whose messages name their stream begin with it.
COMBINED: Final = "stream/"
#: The code of a subscription beyond the limit.
TOO_MANY: Final = 4
#: The instrument whose prices stand for a stream of all symbols.
_ANCHOR: Final = "BTC/USDT"
_METHODS: Final = ("SUBSCRIBE", "UNSUBSCRIBE", "LIST_SUBSCRIPTIONS", "SET_PROPERTY", "GET_PROPERTY")
_VARIANTS: Final = ", ".join(f"`{method}`" for method in _METHODS)


class Refused(Exception):
    """A command that Binance refuses: a code and a message."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Session(Struct):
    """A client: when it connected (Unix milliseconds), the times of its last commands, and its streams."""

    opened: int
    combined: bool
    times: deque[float]
    #: Names in the order of subscription.
    streams: dict[str, None] = field(default_factory=dict)
    #: Whether the server has announced the end of the connection, and has closed it.
    warned: bool = False
    closed: bool = False


def is_stream_path(path: str) -> bool:
    """Returns whether Binance serves streams at a path."""
    return path in ("/ws", "/stream") or path.startswith("/ws/")


def read_command(text: str | bytes) -> Row:
    """Returns a command. Raises Refused for a text that is not a JSON object."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise Refused(3, f"Invalid JSON: {error}") from error


class Sessions:
    """Follows and leaves streams for clients."""

    def __init__(self, server: VendorServer, source: MarketSource, publisher: Publisher) -> None:
        self._server = server
        self._source = source
        self._publisher = publisher
        self.messages_per_second = 5
        self.streams_per_connection = 1024
        #: Clients send at the pace of the machine, not of the market.
        self.seconds: Callable[[], float] = time.monotonic

    def open(self, client: Client, target: str, moment: int) -> None:
        """Begins the session of a client, with the streams that its path names."""
        path, _, query = target.partition("?")
        combined = path.startswith("/stream")
        client.state = Session(moment, combined, deque(maxlen=self.messages_per_second))
        text = dict(parse_qsl(query)).get("streams", "") if combined else unquote(path.removeprefix("/ws"))
        self.follow(client, [name for name in text.split("/") if name][: self.streams_per_connection])

    def is_too_fast(self, client: Client) -> bool:
        """Notes a message; returns whether the client sends more than the limit in a second."""
        times, now = session_of(client).times, self.seconds()
        if len(times) == times.maxlen and now - times[0] < 1:
            return True
        times.append(now)
        return False

    def carry_out(self, client: Client, command: Row) -> Any:
        """Returns the `result` of a command. Raises Refused."""
        number, params = command.get("id"), command.get("params")
        if not (number is None or isinstance(number, str) or (type(number) is int and number >= 0)):
            raise Refused(2, "Invalid request: request ID must be an unsigned integer")
        if "method" not in command:
            raise Refused(2, "Invalid request: missing field `method`")
        match command["method"]:
            case "SUBSCRIBE":
                self.follow(client, _streams(params))
            case "UNSUBSCRIBE":
                self.leave(client, _streams(params))
            case "LIST_SUBSCRIPTIONS":
                return self.names(client)
            case "SET_PROPERTY":
                self._combine(client, params)
            case "GET_PROPERTY":
                return _is_combined(client, params)
            case method:
                text = f"Invalid request: unknown variant `{method}`, expected one of {_VARIANTS}"
                raise Refused(2, text)
        return None

    def follow(self, client: Client, names: list[str]) -> None:
        """Subscribes to streams; a name without a stream stays silent. Raises Refused beyond the limit."""
        streams = session_of(client).streams
        if len({*streams, *names}) > self.streams_per_connection:
            raise Refused(TOO_MANY, "Too many subscriptions")
        for name in names:
            if name not in streams:
                streams[name] = None
                stream = stream_of(name)
                if name in ARRAYS:
                    self._server.subscribe(client, _topic(client, name), _ANCHOR)
                elif stream and (market_name := self._source.name_of(stream.symbol)):
                    self._server.subscribe(client, _topic(client, name), market_name)
                    self._publisher.add(market_name, stream)

    def leave(self, client: Client, names: list[str]) -> None:
        """Unsubscribes from streams."""
        for name in names:
            if name not in session_of(client).streams:
                continue
            self._server.unsubscribe(client, _topic(client, name))
            stream, topics = stream_of(name), self._server.topics
            if stream and name not in topics and COMBINED + name not in topics:
                self._publisher.remove(self._source.name_of(stream.symbol) or "", stream)
            del session_of(client).streams[name]

    def names(self, client: Client) -> list[str]:
        """Returns the streams of a client."""
        return [*session_of(client).streams]

    def _combine(self, client: Client, params: Any) -> None:
        """Decides whether the client's messages name their stream."""
        if not isinstance(params, list) or len(params) != 2:
            raise Refused(2, "Invalid request: property name and value expected")
        _check_property(params[0])
        if not isinstance(params[1], bool):
            raise Refused(1, "Invalid value type: expected Boolean")
        names = self.names(client)
        self.leave(client, names)
        session_of(client).combined = params[1]
        self.follow(client, names)


def session_of(client: Client) -> Session:
    """Returns the session of a client."""
    session: Session = client.state
    return session


def _topic(client: Client, name: str) -> str:
    return COMBINED + name if session_of(client).combined else name


def _is_combined(client: Client, params: Any) -> bool:
    """Returns whether the client's messages name their stream."""
    if not isinstance(params, list) or not params:
        raise Refused(2, "Invalid request: property name must be a string")
    if len(params) > 1:
        raise Refused(2, "Invalid request: too many parameters")
    _check_property(params[0])
    return session_of(client).combined


def _check_property(name: Any) -> None:
    if not isinstance(name, str):
        raise Refused(2, "Invalid request: property name must be a string")
    if name != "combined":
        raise Refused(0, "Unknown property")


def _streams(params: Any) -> list[str]:
    if not isinstance(params, list) or not all(isinstance(name, str) for name in params):
        raise Refused(2, "Invalid request: params must be an array of stream names")
    return params
