"""The server of a simulated Alpaca: its REST APIs, and the streams of stocks, pairs and news."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Response

from quotecast.framing import Frame
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.alpaca.errors import MEANINGS, NOT_FOUND
from quotecast.simulation.vendors.alpaca.market_data import corporate_actions
from quotecast.simulation.vendors.alpaca.market_source import MarketSource
from quotecast.simulation.vendors.alpaca.query import time_of
from quotecast.simulation.vendors.alpaca.rest import KEY, SECRET, AlpacaRest
from quotecast.simulation.vendors.alpaca.streams import (
    COUNTED,
    MOST_SYMBOLS,
    STOCK_FEEDS,
    Endpoint,
    Session,
    Topics,
    endpoint_of,
)
from quotecast.simulation.vendors.alpaca.trading import Trading
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row, response_of
from quotecast.simulation.vendors.market import Market, Price
from quotecast.simulation.vendors.server import Client, VendorServer

#: Seconds that a client has to log in.
AUTH_SECONDS: Final = 10
#: Symbols of trades and quotes together under the free plan.
FREE_SYMBOLS: Final = 30
FREE_FEEDS: Final = frozenset({"iex", "test"})


class AlpacaServer(VendorServer):
    """Serves the paid plan, or with `free` the free one."""

    def __init__(self, market: Market, clock: MarketClock, *, free: bool = False, **options: Any) -> None:
        super().__init__(market, clock, **options)
        self.source = MarketSource(market, clock)
        self.trading = Trading(market, clock)
        self.rest = AlpacaRest(
            self.source,
            lambda: clock.moment() / 1000,
            self.accepts,
            free=free,
            trading=self.trading,
            more={"/v1/corporate-actions": partial(corporate_actions, market)},
        )
        #: Feeds of stocks that the plan includes.
        self.feeds = set(FREE_FEEDS if free else STOCK_FEEDS)
        self.symbol_limit = FREE_SYMBOLS if free else None
        #: Connections of a key to one stream.
        self.connection_limit = 1
        self._topics_of = Topics(market, self.source, clock.moment())
        self._read_at = clock.moment()
        self._is_down = False

    def route(self, request: HttpRequest) -> Answer:
        """See VendorServer."""
        return self.rest.answer(request)

    def has_method(self, request: HttpRequest) -> bool:
        """See VendorServer."""
        return super().has_method(request) or self.trading.has_method(request)

    def reject(self, reason: str) -> Answer:
        """See VendorServer."""
        return Answer.of({"code": 40410000, "message": reason}, 404)

    def refuse(self, refusal: Refusal) -> Answer:
        """See VendorServer."""
        return self.rest.refuse(overloaded=refusal == "rate-limited")

    async def handle(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """See Server; a handshake may find no stream."""
        if "Upgrade" in request.headers and not endpoint_of(request.path):
            return response_of(NOT_FOUND)
        return await super().handle(connection, request)

    def greet(self, client: Client) -> None:
        """See VendorServer; keys in the handshake's headers log the client in."""
        request = client.connection.request
        headers = request.headers if request else Headers()
        path = request.path.partition("?")[0] if request else ""
        endpoint = endpoint_of(path) or Endpoint("stocks")
        binary = "msgpack" in headers.get("Content-Type", "")
        client.state = Session(endpoint, self.clock.moment(), binary=binary)
        self.reply(client, {"T": "success", "msg": "connected"})
        if KEY in headers:
            self.log_in(client, headers[KEY], headers.get(SECRET))

    async def obey(self, client: Client, command: str | bytes) -> None:
        """See VendorServer."""
        session: Session = client.state
        if client not in self.clients:
            return
        found = session.decode(command)
        action = found.get("action")
        if session.key is None:
            if action == "auth":
                self.log_in(client, found.get("key"), found.get("secret"))
            else:
                self.fail(client, 401 if found else 400)
        elif action == "auth":
            self.complain(client, 403)
        elif action in {"subscribe", "unsubscribe"}:
            self._change(client, found, adds=action == "subscribe")
        else:
            self.complain(client, 400)

    def login_error(self, client: Client, key: Any, secret: Any) -> int | None:
        """Returns the error of a login; None for one that succeeds."""
        session: Session = client.state
        if not (isinstance(key, str) and isinstance(secret, str) and secret and self.accepts(key, secret)):
            return 402
        if session.endpoint.kind == "stocks" and session.endpoint.feed not in self.feeds:
            return 409
        others = (
            each
            for each in self.logged_in()
            if each.state.key == key and each.state.endpoint == session.endpoint
        )
        return 406 if sum(1 for _ in others) >= self.connection_limit else None

    def logged_in(self) -> Iterator[Client]:
        """Returns the clients that have logged in."""
        return (client for client in self.clients if client.state and client.state.key is not None)

    def acknowledge(self, client: Client) -> None:
        """Confirms a subscription."""
        self.reply(client, client.state.subscription())

    def reply(self, client: Client, *messages: Row) -> None:
        """Sends messages in one frame, at once."""
        binary = client.state.binary
        client.outbox.append(Frame(pack(*messages, binary=binary), binary=binary).plain)
        client.flush()

    def complain(self, client: Client, code: int) -> None:
        """Sends an error."""
        self.reply(client, {"T": "error", "code": code, "msg": MEANINGS.get(code, "unknown")})

    def fail(self, client: Client, code: int) -> None:
        """Sends an error and ends the client."""
        self.complain(client, code)
        self.forget(client)
        self.close(client)

    def end_slow(self, client: Client) -> None:
        """See VendorServer."""
        self.fail(client, 407)

    def followed(self) -> list[str]:
        """See VendorServer; channels that come by time alone follow no price."""
        return [symbol for symbol in super().followed() if symbol]

    def publish(self, price: Price) -> None:
        """See VendorServer."""
        for topic, binary, message in self._topics_of.messages(price, self.topics):
            self.send(topic, price, pack(message, binary=binary), binary=binary)

    def beat(self, moment: int) -> None:
        """See VendorServer: fills, bars, statuses and news, and the end of clients that do not log in."""
        self.trading.accounts.settle(moment)
        for each in self._topics_of.due_messages(moment, self.topics):
            self.send(each.topic, each.price, pack(each.message, binary=each.binary), binary=each.binary)
        self._send_news(moment)
        was_down, self._is_down = self._is_down, self.market.schedule.refusal(moment) == "maintenance"
        if self._is_down and not was_down:
            # Streams stay open during maintenance.
            for client in self.logged_in():
                self.complain(client, 500)
        patience = AUTH_SECONDS * 1000 * self.clock.speed
        for client in [*self.clients]:
            session: Session | None = client.state
            if session and session.key is None and moment - session.since >= patience:
                self.fail(client, 404)

    def log_in(self, client: Client, key: Any, secret: Any) -> None:
        """Lets a client in, or ends it."""
        error = self.login_error(client, key, secret)
        if error:
            self.fail(client, error)
            return
        client.state.key = key
        self.reply(client, {"T": "success", "msg": "authenticated"})

    def _change(self, client: Client, command: Row, *, adds: bool) -> None:
        session: Session = client.state
        channels = session.channels_after(command, adds=adds)
        if channels is None:
            self.complain(client, 400)
            return
        counted = [symbol for name in COUNTED for symbol in channels.get(name, ())]
        limit = self.symbol_limit
        over = limit is not None and (len(counted) > limit or "*" in counted)
        if over or sum(map(len, channels.values())) > MOST_SYMBOLS:
            self.complain(client, 405)
            return
        session.channels = channels
        wanted = self._topics_of.topics_of(session)
        for topic in [each for each in client.topics if each not in wanted]:
            self.unsubscribe(client, topic)
        for topic, symbol in wanted.items():
            self.subscribe(client, topic, symbol)
        self.acknowledge(client)

    def _send_news(self, moment: int) -> None:
        """Sends the stories since the last call, each once to a client of any of their symbols."""
        readers = [each for each in self.logged_in() if each.state.channels.get("news")]
        if moment // 1000 == self._read_at // 1000:
            return
        before, self._read_at = self._read_at, moment
        if not readers:
            return
        for story in reversed(self.source.stories()):
            if before < milliseconds(time_of(story["updated_at"])) <= moment:
                frames = [
                    Frame(pack(news_of(story, binary=binary), binary=binary), binary=binary).plain
                    for binary in (False, True)
                ]
                for client in readers:
                    if client.state.channels["news"] & {"*", *story["symbols"]}:
                        client.outbox.append(frames[client.state.binary])


def pack(*messages: Row, binary: bool) -> bytes:
    """Returns the payload of messages."""
    return msgspec.msgpack.encode(messages) if binary else msgspec.json.encode(messages)


def news_of(story: Row, *, binary: bool) -> Row:
    """Returns the message of a story; MessagePack has its times as timestamps."""
    times = {name: time_of(story[name]) for name in ("created_at", "updated_at")} if binary else {}
    return {"T": "n", **{name: value for name, value in story.items() if name != "images"}, **times}
