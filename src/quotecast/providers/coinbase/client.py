"""Coinbase Exchange: the list of products by REST, their quotes by WebSocket."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import structlog
from websockets.asyncio.client import ClientConnection

from quotecast.errors import UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from quotecast.providers.coinbase import wire
from quotecast.providers.coinbase.tickers import CoinbaseTickers, error_of
from quotecast.providers.crypto import log_unfollowed
from quotecast.providers.transport.fetch import get_json, open_client
from quotecast.providers.transport.recording import record_listing, record_messages
from quotecast.providers.transport.sockets import dial, receive, socket_errors

#: The upstream disconnects a client that subscribes later; its answer has the same time.
SUBSCRIBE_SECONDS: Final = 5.0
PRODUCTS_PER_SUBSCRIBE: Final = 100

T = TypeVar("T")

log = structlog.get_logger()


class CoinbaseProvider:
    """Live quotes of Coinbase Exchange, and bars of its trades; `change` is over the last 24 hours.

    It follows `products` (in any spelling of a pair), or by default all that trade. `silence_seconds` relies
    on the heartbeats, one a second and product, not on trades.
    """

    name = "coinbase"
    feed = Feed.CRYPTO
    simulated = False
    delay_seconds = 0.0
    always_open = True

    def __init__(
        self,
        url: str,
        websocket_url: str,
        products: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.silence_seconds = 10.0
        self._url = url
        self._websocket_url = websocket_url
        self._wanted = tuple(dict.fromkeys(wire.product_id(product) for product in products))
        self._clock = clock
        self._listed: Sequence[wire.Product] = ()
        self._tickers = CoinbaseTickers()

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages it refused since the start, by reason."""
        return self._tickers.statistics()

    def inherit(self, quotes: Sequence[Quote]) -> None:
        """See Inheriting."""
        self._tickers.inherit(quotes)

    async def updates(self) -> AsyncGenerator[Update, None]:
        """See QuoteProvider; REST may fail after it listed the products once."""
        await self._look_around()
        products = self._choose()
        pairs = {product: product.replace("-", "/", 1) for product in products}
        removed = self._tickers.keep_only(pairs.values())
        with socket_errors("Coinbase"):
            async with dial(self._websocket_url) as connection:
                messages = await _subscribe(connection, products)
                record_listing(self._tickers.instruments(pairs))
                record_messages(messages)
                self._tickers.begin(self._clock())
                yield Update(self._tickers.read(messages, self._clock()), removed)
                while True:
                    messages = await receive(connection, self.silence_seconds, "Coinbase")
                    quotes = self._tickers.read(messages, self._clock())
                    yield Update(quotes, bars=self._tickers.take_bars())

    async def _look_around(self) -> None:
        """Reads products and names; a list that fails stays as it was."""
        async with open_client(self._url) as client:
            products, currencies = await asyncio.gather(
                _attempt(get_json(client, "/products", list[wire.Product])),
                _attempt(get_json(client, "/currencies", list[wire.Currency])),
            )
        if not isinstance(currencies, UpstreamError):
            self._tickers.learn_names({row.id: row.name for row in currencies if row.name})
        if not isinstance(products, UpstreamError):
            self._listed = products
        elif not self._listed and not self._wanted:
            raise products

    def _choose(self) -> list[str]:
        """Returns the products to follow. Raises UpstreamError when there are none.

        Unknown ones are not among them: the upstream would reject the whole subscription.
        """
        if not self._wanted:
            products = [product.id for product in self._listed if product.tradable]
        elif not self._listed:
            products = list(self._wanted)
        else:
            known = {product.id for product in self._listed}
            products = [product for product in self._wanted if product in known]
            for product in set(self._wanted) - known:
                log_unfollowed(self.name, product)
        if not products:
            raise UpstreamError("Coinbase trades none of the products")
        return products


async def _subscribe(connection: ClientConnection, products: Sequence[str]) -> list[bytes]:
    """Subscribes, and returns all messages up to the last answer: tickers come between the answers."""
    starts = range(0, len(products), PRODUCTS_PER_SUBSCRIBE)
    chunks = [products[start : start + PRODUCTS_PER_SUBSCRIBE] for start in starts]
    messages: list[bytes] = []
    try:
        async with asyncio.timeout(SUBSCRIBE_SECONDS):
            for chunk in chunks:
                await connection.send(wire.subscribe(chunk), text=True)
            for _ in chunks:
                messages += await _until_answer(connection)
    except TimeoutError as error:
        raise UpstreamError("Coinbase did not answer the subscription") from error
    return messages


async def _until_answer(connection: ClientConnection) -> list[bytes]:
    messages: list[bytes] = []
    while True:
        messages.append(await connection.recv(decode=False))
        with suppress(ValueError, RecursionError):
            answer = wire.decode(messages[-1])
            if isinstance(answer, wire.CoinbaseFailure):
                raise error_of(answer)
            if isinstance(answer, wire.Subscriptions):
                return messages


async def _attempt(request: Awaitable[T]) -> T | UpstreamError:
    try:
        return await request
    except UpstreamError as error:
        log.warning("coinbase: REST call failed", problem=str(error))
        return error
