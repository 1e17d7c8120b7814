"""The server of a simulated Coinbase Exchange: REST, and the WebSocket feed at `/`."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from quotecast.simulation.market.scenarios.base import Refusal
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.coinbase import errors
from quotecast.simulation.vendors.coinbase.commands import STATUS, Command, read_command
from quotecast.simulation.vendors.coinbase.errors import CommandError
from quotecast.simulation.vendors.coinbase.messages import Numbered, ProductFeed
from quotecast.simulation.vendors.coinbase.rest import CoinbaseRest
from quotecast.simulation.vendors.coinbase.rows import product_of, symbol_of
from quotecast.simulation.vendors.coinbase.source import MarketSource
from quotecast.simulation.vendors.http import Answer, HttpRequest
from quotecast.simulation.vendors.market import Market, Price
from quotecast.simulation.vendors.server import Client, VendorServer
from quotecast.simulation.vendors.token_bucket import TokenBucket

#: Requests that a client without a key may send, per second and at once.
REQUESTS_PER_SECOND: Final = 10.0
REQUESTS_AT_ONCE: Final = 15
#: Commands that a WebSocket client may send in a second.
COMMANDS_PER_SECOND: Final = 100.0
#: Seconds in which a client has to subscribe.
SUBSCRIBE_SECONDS: Final = 5.0
#: Milliseconds of market time between two heartbeats, messages of status and ticker_batch, and books.
_HEARTBEAT_MS: Final = 1000
_BATCH_MS: Final = 5000
_BOOK_MS: Final = 50


class CoinbaseServer(VendorServer):
    """A Coinbase Exchange with the pairs of a market.

    `requests_per_second` limits all requests together; None means no limit. `source` has the rows of the
    answers, the market's by default; `options` are those of VendorServer.
    """

    def __init__(
        self,
        market: Market,
        clock: MarketClock,
        *,
        requests_per_second: float | None = REQUESTS_PER_SECOND,
        source: MarketSource | None = None,
        **options: Any,
    ) -> None:
        super().__init__(market, clock, **options)
        self.source = source or MarketSource(market, clock)
        self.subscribe_seconds = SUBSCRIBE_SECONDS
        self._rest = CoinbaseRest(self.source, self._sequence)
        self._requests = (
            TokenBucket(requests_per_second, REQUESTS_AT_ONCE, self._seconds) if requests_per_second else None
        )
        self._feeds: dict[str, ProductFeed] = {}
        #: The last period of heartbeats, of batches and of books.
        self._beats = [clock.moment() // every for every in (_HEARTBEAT_MS, _BATCH_MS, _BOOK_MS)]

    def route(self, request: HttpRequest) -> Answer:
        """See VendorServer."""
        if "User-Agent" not in request.headers:
            return errors.NO_USER_AGENT
        if self._requests and not self._requests.take():
            return errors.RATE_LIMITED
        return self._rest.answer(request)

    def reject(self, reason: str) -> Answer:
        """See VendorServer."""
        return Answer.of({"message": reason}, 404)

    def refuse(self, refusal: Refusal) -> Answer:
        """See VendorServer."""
        return errors.MAINTENANCE if refusal == "maintenance" else errors.RATE_LIMITED

    def greet(self, client: Client) -> None:
        """Starts the time in which the client has to subscribe."""
        deadline = asyncio.create_task(self._expect_subscription(client))
        client.state = Session(deadline, TokenBucket(COMMANDS_PER_SECOND, COMMANDS_PER_SECOND, self._seconds))

    def forget(self, client: Client) -> None:
        """See VendorServer."""
        super().forget(client)
        if client.state is not None:
            client.state.deadline.cancel()

    async def obey(self, client: Client, command: str | bytes) -> None:
        """See VendorServer; a command that it refuses ends the connection."""
        try:
            client.state.count_command()
            self._carry_out(client, read_command(command))
        except CommandError as error:
            client.answer(error.payload())
            await client.connection.close()

    def publish(self, price: Price) -> None:
        """See VendorServer."""
        feed = self._feed(product_of(price.symbol))
        # The first ticker may have shown it, and a scenario that has just begun undoes trades.
        if feed.newest and price.number <= feed.newest.price.number:
            return
        newest, topics = feed.number(price), self.topics
        if (topic := f"ticker:{feed.product}") in topics:
            self.send(topic, price, feed.ticker(newest))
        if (topic := f"matches:{feed.product}") in topics:
            self.send(topic, price, feed.writer.match(newest))
        if f"level2:{feed.product}" in topics:
            self._send_book("level2", feed, newest)

    def beat(self, moment: int) -> None:
        """Sends heartbeats, and the channels that come in batches."""
        if self._is_time(0, moment, _HEARTBEAT_MS):
            for feed, newest in self._followed_feeds("heartbeat"):
                payload = feed.writer.heartbeat(newest, moment)
                self.send(f"heartbeat:{feed.product}", newest.price, payload)
        if self._is_time(1, moment, _BATCH_MS):
            readers = [client for client in self.clients if STATUS in client.state.channels]
            payload = self._status() if readers else b""
            for client in readers:
                client.answer(payload)
            for feed, newest in self._followed_feeds("ticker_batch"):
                if feed.is_due:
                    feed.is_due = False
                    self.send(f"ticker_batch:{feed.product}", newest.price, feed.ticker(newest))
        if self._is_time(2, moment, _BOOK_MS):
            for feed, newest in self._followed_feeds("level2_batch"):
                self._send_book("level2_batch", feed, newest)

    def acknowledge(self, client: Client) -> None:
        """Sends the list of a client's subscriptions."""
        client.answer(client.state.subscriptions())

    def begin(self, client: Client, added: Sequence[tuple[str, str]]) -> None:
        """Subscribes to channels of products, each of which begins with the newest price or book."""
        is_silent = self.market.schedule.is_silent(self.clock.moment())
        for channel, product in added:
            topic, symbol, feed = f"{channel}:{product}", symbol_of(product), self._feed(product)
            # The next prices are those after the last tick.
            newest = feed.current(self._ticked_at, is_followed=symbol in self.followed())
            first = feed.first(channel, newest, is_new=topic not in self.topics)
            if first and not is_silent:
                client.answer(first)
            self.subscribe(client, topic, symbol)

    def _carry_out(self, client: Client, command: Command) -> None:
        if command.kind == "unsubscribe":
            for channel, product in client.state.remove(command):
                self.unsubscribe(client, f"{channel}:{product}")
            self.acknowledge(client)
            return
        login, secret = command.login, self._secret or ""
        if login and ((secret and not login.is_signed_with(secret)) or not self.knows(login.key)):
            raise CommandError('{"message":"Invalid API Key"}', "Authentication Failed")
        self._check_products(command)
        client.state.deadline.cancel()
        added = client.state.add(command)
        self.acknowledge(client)
        if STATUS in command.channels and not self.market.schedule.is_silent(self.clock.moment()):
            client.answer(self._status())
        self.begin(client, added)

    def _check_products(self, command: Command) -> None:
        """Raises CommandError for a product that cannot be followed, and for a channel without products."""
        known = {row["id"]: row.get("status") for row in self.source.products()}
        for channel, products in command.channels.items():
            for product in products or ("",) * (channel != STATUS):
                if product not in known:
                    raise CommandError(f"{product} is not a valid product")
                if known[product] == "delisted":
                    raise CommandError(f"{product} is delisted")

    async def _expect_subscription(self, client: Client) -> None:
        await asyncio.sleep(self.subscribe_seconds)
        await client.connection.close()

    def _feed(self, product: str) -> ProductFeed:
        if product not in self._feeds:
            self._feeds[product] = ProductFeed(self.source, product)
        return self._feeds[product]

    def _followed_feeds(self, channel: str) -> Iterator[tuple[ProductFeed, Numbered]]:
        for topic in [*self.topics]:
            name, _, product = topic.partition(":")
            feed = self._feeds.get(product)
            if name == channel and feed and feed.newest:
                yield feed, feed.newest

    def _send_book(self, channel: str, feed: ProductFeed, newest: Numbered) -> None:
        if payload := feed.update(channel, newest):
            self.send(f"{channel}:{feed.product}", newest.price, payload)

    def _status(self) -> bytes:
        products = [{**row, "type": "spot"} for row in self.source.products()]
        return msgspec.json.encode(
            {"type": "status", "currencies": self.source.currencies(), "products": products}
        )

    def _sequence(self, product: str) -> int:
        """Returns the newest number of a product's feed; that of its trade while nobody follows it."""
        feed = self._feeds.get(product)
        return feed.newest.sequence if feed and feed.newest else self.source.price(product).number

    def _seconds(self) -> float:
        """Returns the time of the machine, by the clock of the market."""
        return self.clock.moment() / 1000 / self.clock.speed

    def _is_time(self, kind: int, moment: int, every: int) -> bool:
        """Returns whether a period has begun since the last one of a kind; it skips missed ones."""
        period = moment // every
        is_new, self._beats[kind] = period != self._beats[kind], period
        return is_new


class Session:
    """A client's subscriptions, in order; `deadline` ends a client that does not subscribe."""

    def __init__(self, deadline: asyncio.Task[None], commands: TokenBucket) -> None:
        self.deadline = deadline
        self._commands = commands
        self.channels: dict[str, dict[str, None]] = {}

    def count_command(self) -> None:
        """Raises CommandError for a client that sends too many commands."""
        if not self._commands.take():
            raise CommandError("Too many messages", "ErrSlowRead")

    def add(self, command: Command) -> list[tuple[str, str]]:
        """Adds subscriptions; returns channel and product of those that are new."""
        added: list[tuple[str, str]] = []
        for channel, products in command.channels.items():
            subscribed = self.channels.setdefault(channel, {})
            added += [(channel, product) for product in products if product not in subscribed]
            subscribed |= dict.fromkeys(products)
        return added

    def remove(self, command: Command) -> list[tuple[str, str]]:
        """Removes subscriptions, all of a channel without products; returns channel and product of each."""
        removed: list[tuple[str, str]] = []
        for channel, products in command.channels.items():
            subscribed = self.channels.get(channel, {})
            gone = [product for product in products or [*subscribed] if product in subscribed]
            removed += [(channel, product) for product in gone]
            for product in gone:
                del subscribed[product]
            if not subscribed:
                self.channels.pop(channel, None)
        return removed

    def subscriptions(self) -> bytes:
        """Returns the message that lists all subscriptions."""
        rows = [
            {"name": name, "product_ids": [*products], "account_ids": None}
            for name, products in self.channels.items()
        ]
        return msgspec.json.encode({"type": "subscriptions", "channels": rows})
