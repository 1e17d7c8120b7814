"""A simulated Kraken: public REST, and WebSockets of both versions (`/` and `/v2`)."""

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import msgspec
from msgspec import Struct

from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Answer, HttpRequest
from quotecast.simulation.vendors.kraken import version1, version2
from quotecast.simulation.vendors.kraken.data import KrakenData
from quotecast.simulation.vendors.kraken.feeds import Feed, Maker
from quotecast.simulation.vendors.kraken.rest import (
    PREFIX,
    RATE_LIMIT,
    TOO_MANY_CALLS,
    UNAVAILABLE,
    KrakenRest,
    failure,
)
from quotecast.simulation.vendors.kraken.trading import PREFIX as PRIVATE
from quotecast.simulation.vendors.kraken.trading import Trading
from quotecast.simulation.vendors.market import Market, Price
from quotecast.simulation.vendors.server import Client, VendorServer
from quotecast.simulation.vendors.token_bucket import TokenBucket

#: Market time without a message after which a heartbeat comes.
_HEARTBEAT_MS: Final = 1000
#: States after maintenance, and how long each one lasts.
_REOPENING: Final = ("cancel_only", "post_only")
_REOPENING_MS: Final = 5000


class Session(Struct):
    """The version that a client speaks, and when it received its latest message."""

    version: ModuleType
    heard_at: int
    #: Whether it follows the states of pairs.
    has_pairs: bool = False


class KrakenServer(VendorServer):
    """See VendorServer. `calls` is how many requests may come at once; one more is free each second."""

    def __init__(
        self,
        market: Market,
        clock: MarketClock,
        *,
        data: KrakenData | None = None,
        calls: int = 15,
        **options: Any,
    ) -> None:
        super().__init__(market, clock, **options)
        self.data = data or KrakenData(market, clock)
        #: The state of the exchange: `online`, `maintenance`, `cancel_only` or `post_only`.
        self.system = "online"
        self._ended_at = 0
        self._rest = KrakenRest(self.data)
        self.trading = Trading(self.data, accepts=self.knows, secret=self._secret)
        #: States of pairs, while clients follow them.
        self._states: dict[str, str] = {}
        self._makers: dict[str, dict[str, Maker]] = {}
        self._calls = TokenBucket(1.0, calls, lambda: self.clock.moment() / 1000)

    def respond(self, request: HttpRequest) -> Answer:
        """See VendorServer; the state of the exchange has an answer at all times."""
        if request.path == f"{PREFIX}SystemStatus":
            return self._rest.status(self._system(self.clock.moment()))
        return super().respond(request)

    def route(self, request: HttpRequest) -> Answer:
        """See VendorServer."""
        if not self._calls.take():
            return RATE_LIMIT
        if request.path.startswith(PRIVATE):
            return self.trading.answer(request)
        return self._rest.answer(request)

    def has_method(self, request: HttpRequest) -> bool:
        """See VendorServer; private methods come by POST alone, public ones by POST too, as a form."""
        if request.path.startswith(PRIVATE):
            return self.trading.has(request)
        return super().has_method(request) or (request.method == "POST" and request.path.startswith(PREFIX))

    def reject(self, reason: str) -> Answer:
        """See VendorServer."""
        return failure(f"EGeneral:Unknown method: {reason}")

    def refuse(self, refusal: Refusal) -> Answer:
        """See VendorServer."""
        return UNAVAILABLE if refusal == "maintenance" else TOO_MANY_CALLS

    def greet(self, client: Client) -> None:
        """See VendorServer."""
        request = client.connection.request
        path = request.path if request else ""
        version = version2 if path.partition("?")[0].rstrip("/") == "/v2" else version1
        client.state = Session(version, self.clock.moment())
        client.answer(version.status(self.system))

    async def obey(self, client: Client, command: str | bytes) -> None:
        """See VendorServer."""
        try:
            request = msgspec.json.decode(command)
        except (ValueError, RecursionError):
            request = None
        client.state.version.obey(self, client, request if isinstance(request, dict) else None)

    def follow(self, client: Client, feed: Feed, make: Callable[[], Maker]) -> Maker | None:
        """See Desk."""
        topic = feed.topic
        if topic in client.topics:
            return None
        makers = self._makers.setdefault(feed.symbol, {})
        if topic not in makers:
            makers[topic] = make()
        self.subscribe(client, topic, feed.symbol)
        return makers[topic]

    def unfollow(self, client: Client, feed: Feed) -> bool:
        """See Desk."""
        if feed.topic not in client.topics:
            return False
        self.unsubscribe(client, feed.topic)
        return True

    def unsubscribe(self, client: Client, topic: str) -> None:
        """See VendorServer."""
        symbol = client.topics.get(topic, "")
        super().unsubscribe(client, topic)
        if topic not in self.topics:
            self._makers.get(symbol, {}).pop(topic, None)

    def publish(self, price: Price) -> None:
        """See VendorServer."""
        if self.system == "maintenance":
            return
        for topic, make in self._makers[price.symbol].items():
            payload = make(price)
            if payload is not None:
                self.send(topic, price, payload)

    def beat(self, moment: int) -> None:
        """See VendorServer: fills, changes of state, and heartbeats where nothing else came."""
        self.trading.accounts.settle(moment)
        system = self._system(moment)
        if system != self.system:
            self.announce(system)
        if self.market.schedule.planned:
            self._announce_pairs()
        for client in self.clients:
            session: Session | None = client.state
            if session is None:
                continue
            if client.outbox:
                session.heard_at = moment
            elif client.topics and moment - session.heard_at >= _HEARTBEAT_MS:
                session.heard_at = moment
                client.answer(session.version.HEARTBEAT)

    def _announce_pairs(self) -> None:
        """Sends pairs whose state has changed."""
        followers = [client for client in self.clients if client.state and client.state.has_pairs]
        if not followers:
            self._states = {}
            return
        before, self._states = self._states, {each: self.data.status(each) for each in self.market.pairs}
        changed = [each for each, state in self._states.items() if before.get(each, state) != state]
        if changed:
            rows = {"assets": [], "pairs": version2.pair_rows(self.data, changed)}
            payload = version2.message("instrument", "update", rows)
            for client in followers:
                client.answer(payload)

    def announce(self, system: str) -> None:
        """Sends the new state of the exchange to every client."""
        self.system = system
        for client in self.clients:
            if client.state is not None:
                client.answer(client.state.version.status(system))

    def _system(self, moment: int) -> str:
        """Returns the state of the exchange at a moment; it reopens by steps."""
        if self.market.schedule.refusal(moment) == "maintenance":
            return "maintenance"
        if self.system == "maintenance":
            self._ended_at = moment
        step = (moment - self._ended_at) // _REOPENING_MS
        return _REOPENING[step] if self._ended_at and step < len(_REOPENING) else "online"
