"""The common part of vendors' servers: clients, their subscriptions, the pump of prices, and scenarios."""

import asyncio
import contextlib
import hmac
from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, cycle, islice
from typing import Any, Final, Generic, TypeVar

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.protocol import State

from quotecast.framing import Frame
from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest, Server, response_of
from quotecast.simulation.vendors.market import Market, Price

Message = TypeVar("Message")
#: Messages that may wait; with one more, the one that is due first arrives at once.
MAX_DELAYED: Final = 500_000
#: Milliseconds between two rounds of messages.
TICK_MS: Final = 20
#: Seconds of the rate that a late tick makes up for.
_CATCH_UP_SECONDS: Final = 0.25
#: Bytes that may wait for a client that does not read.
_MAX_WAITING_BYTES: Final = 16 << 20
_MAX_CLIENTS: Final = 2000


class Client:
    """A WebSocket client. It receives answers at once, and messages of its topics at the end of a tick."""

    __slots__ = ("connection", "outbox", "state", "topics")

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        #: The market's symbol of each topic that it follows.
        self.topics: dict[str, str] = {}
        self.outbox: list[bytes] = []
        #: What the vendor knows of the client, such as its login.
        self.state: Any = None

    def answer(self, payload: bytes) -> None:
        """Sends a text message at once, after those that wait."""
        self.outbox.append(Frame(payload).plain)
        self.flush()

    def flush(self) -> None:
        """Writes what waits in one piece; the connection has no compression, so a frame is plain bytes."""
        transport = self.connection.transport
        # After a close frame the library may have ended our side of the transport.
        if self.outbox and self.connection.state is State.OPEN and not transport.is_closing():
            transport.write(b"".join(self.outbox))
        self.outbox.clear()

    @property
    def is_slow(self) -> bool:
        """Returns whether the client reads too slowly."""
        return self.connection.transport.get_write_buffer_size() > _MAX_WAITING_BYTES


class VendorServer(Server):
    """A vendor's server. A subclass knows its paths, commands and wire format.

    `rate` is the number of prices per second that it sends; each becomes as many messages as it has topics.
    `key` and `secret` are the only ones that it accepts; without them it accepts any.
    """

    def __init__(
        self,
        market: Market,
        clock: MarketClock,
        *,
        rate: float = 50.0,
        port: int = 0,
        host: str = "127.0.0.1",
        key: str | None = None,
        secret: str | None = None,
    ) -> None:
        super().__init__(port, host)
        self.market = market
        self.clock = clock
        self.rate = rate
        self._key = key
        self._secret = secret
        self.clients: set[Client] = set()
        #: The clients of each topic.
        self.topics: dict[str, set[Client]] = {}
        #: The number of topics of each followed symbol.
        self._followed: Counter[str] = Counter()
        #: The followed symbols in turn; None when they have changed.
        self._turn: Iterator[str] | None = None
        self._ticked_at = market.present = clock.moment()
        self._credit = 0.0
        self._delayed: Delayed[tuple[Client, bytes]] = Delayed()
        self._closing: set[asyncio.Task[None]] = set()

    def route(self, request: HttpRequest) -> Answer:
        """Returns the answer of a path."""
        raise NotImplementedError

    def has_method(self, request: HttpRequest) -> bool:
        """Returns whether the vendor has such a request at all: by default GET and HEAD."""
        return request.method in {"GET", "HEAD"}

    def reject(self, reason: str) -> Answer:
        """Returns the vendor's answer to what is not simulated."""
        raise NotImplementedError

    def refuse(self, refusal: Refusal) -> Answer:
        """Returns the vendor's own refusal."""
        raise NotImplementedError

    def greet(self, client: Client) -> None:
        """Sends what a new client receives first."""

    async def obey(self, client: Client, command: str | bytes) -> None:
        """Carries out a client's command."""
        raise NotImplementedError

    def publish(self, price: Price) -> None:
        """Sends the messages of a new price, by `send`."""
        raise NotImplementedError

    def beat(self, moment: int) -> None:
        """Sends what comes by time alone, such as heartbeats, at each tick."""

    def accepts(self, key: str, secret: str = "") -> bool:
        """Returns whether a login is right; a key without a secret may come without one."""
        expected = ((self._key, key), (self._secret, secret))
        return bool(key) and all(
            wanted is None or hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace"))
            for wanted, given in expected
        )

    def knows(self, key: str) -> bool:
        """Returns whether a key is right; its client signs with the secret instead of sending it."""
        return self.accepts(key, self._secret or "")

    async def handle(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """See Server; a scenario refuses handshakes as it refuses requests."""
        if "Upgrade" in request.headers:
            refusal = self.market.schedule.refusal(self.clock.moment())
            if refusal:
                return response_of(self.refuse(refusal))
            if len(self.clients) >= _MAX_CLIENTS:
                return response_of(Answer(b"too many connections", 503, "text/plain"))
        return await super().handle(connection, request)

    def respond(self, request: HttpRequest) -> Answer:
        """Returns the answer of a path, unless a scenario refuses requests."""
        refusal = self.market.schedule.refusal(self.clock.moment())
        if refusal:
            return self.refuse(refusal)
        if not self.has_method(request):
            return self.reject(f"{request.method} {request.path} is not simulated")
        return self.route(request)

    async def talk(self, connection: ServerConnection) -> None:
        """Serves one client to its end."""
        client = Client(connection)
        self.clients.add(client)
        try:
            with contextlib.suppress(ConnectionClosed):
                self.greet(client)
                async for command in connection:
                    await self.obey(client, command)
        finally:
            self.forget(client)

    def subscribe(self, client: Client, topic: str, symbol: str) -> None:
        """Adds a topic, of the market's `symbol`, to a client."""
        if topic not in client.topics:
            client.topics[topic] = symbol
            self.topics.setdefault(topic, set()).add(client)
            self._followed[symbol] += 1
            self._turn = None

    def unsubscribe(self, client: Client, topic: str) -> None:
        """Removes a topic from a client."""
        symbol = client.topics.pop(topic, None)
        if symbol is None:
            return
        self.topics[topic].discard(client)
        if not self.topics[topic]:
            del self.topics[topic]
        self._followed[symbol] -= 1
        if not self._followed[symbol]:
            del self._followed[symbol]
        self._turn = None

    def forget(self, client: Client) -> None:
        """Removes a client that has left."""
        for topic in [*client.topics]:
            self.unsubscribe(client, topic)
        self.clients.discard(client)

    def followed(self) -> list[str]:
        """Returns the market's symbols that clients follow, sorted."""
        return sorted(self._followed)

    def send(self, topic: str, price: Price, payload: bytes, *, binary: bool = False) -> None:
        """Sends a message of a price to the clients of a topic, as scenarios let it through."""
        clients = self.topics.get(topic)
        if not clients:
            return
        frame, schedule = Frame(payload, binary=binary).plain, self.market.schedule
        if not schedule.planned:
            for client in clients:
                client.outbox.append(frame)
            return
        moment = self.clock.moment()
        for delay in schedule.delays(moment, price.symbol, price.number):
            for client in clients:
                if delay:
                    self._delayed.push(moment + delay, (client, frame))
                else:
                    client.outbox.append(frame)

    def end_scenarios(self) -> None:
        """Ends all scenarios; delayed messages arrive at the next tick, in the order of their times."""
        self.market.schedule.clear()
        self._delayed.hurry()

    def close(self, client: Client, code: int = 1000, reason: str = "") -> None:
        """Closes a client's connection, without waiting for the client."""
        closing = asyncio.create_task(client.connection.close(code, reason))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def abort_all(self) -> None:
        """Breaks every connection without a close frame."""
        for client in [*self.clients]:
            client.connection.transport.abort()

    def tick(self) -> None:
        """Sends all that is new since the last tick."""
        before, moment = self._ticked_at, self.clock.moment()
        self._ticked_at = self.market.present = moment
        schedule = self.market.schedule
        if schedule.drops(before, moment):
            self.abort_all()
        if not schedule.is_silent(moment):
            # Delayed messages are older than those of this tick.
            for client, frame in self._delayed.pop_due(moment):
                client.outbox.append(frame)
            self._publish_since(before, moment)
            self.beat(moment)
        for client in [*self.clients]:
            if client.is_slow:
                self.end_slow(client)
            client.flush()

    def end_slow(self, client: Client) -> None:
        """Ends a client that reads too slowly."""
        client.connection.transport.abort()

    def _publish_since(self, before: int, moment: int) -> None:
        """Sends the prices between two moments, at most as many as the rate allows."""
        rate = self.rate * self.market.schedule.rate(moment)
        seconds = (moment - before) / 1000 / self.clock.speed
        self._credit = min(self._credit + seconds * rate, max(1.0, _CATCH_UP_SECONDS * rate))
        symbols = len(self._followed)
        if not symbols:
            return
        if self._turn is None:
            self._turn = cycle(self.followed())
        rounds = max(1, -(-int(self._credit) // symbols))
        for number in range(1, rounds + 1):
            then = before + (moment - before) * number // rounds
            for symbol in islice(self._turn, min(symbols, int(self._credit))):
                price = self.market.next_price(symbol, then)
                if price is not None:
                    self._credit -= 1
                    self.publish(price)

    async def run(self) -> None:
        """Ticks indefinitely."""
        while True:
            await asyncio.sleep(TICK_MS / 1000)
            self.tick()


class Delayed(Generic[Message]):
    """Delayed messages; those that are due at the same time keep the order of their `push`."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, Message]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, due: int, message: Message) -> None:
        """Adds a message that is due at a moment in Unix milliseconds."""
        heappush(self._waiting, (due, next(self._numbers), message))

    def pop_due(self, moment: int) -> Iterator[Message]:
        """Removes and returns the messages that are due, and those over the bound."""
        while self._waiting and (self._waiting[0][0] <= moment or len(self._waiting) > MAX_DELAYED):
            yield heappop(self._waiting)[2]

    def hurry(self) -> None:
        """Makes all messages due now, in their order."""
        self._waiting = [(0, number, message) for number, (_, _, message) in enumerate(sorted(self._waiting))]
