"""A simulated Coinbase Exchange on a clock that a test moves, and a client of its feed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
from websockets.asyncio.client import ClientConnection, connect

from quotecast.simulation.vendors.coinbase.server import CoinbaseServer
from quotecast.simulation.vendors.market import Market
from support.runs.manual_clock import ManualClock

#: 2026-11-19T20:00:00Z.
NOW: Final = 1_795_118_400_000

Row = dict[str, Any]


class Session:
    """A simulated exchange whose time a test moves."""

    def __init__(self, market: Market, *, rate: float = 50.0, limit: float | None = None) -> None:
        self.clock = ManualClock(NOW)
        self.market = market
        self.server = CoinbaseServer(market, self.clock, rate=rate, requests_per_second=limit)

    def pass_time(self, milliseconds: int, step: int = 20) -> None:
        """Moves the time in ticks."""
        for _ in range(milliseconds // step):
            self.clock.advance(step)
            self.server.tick()


class FeedClient:
    """A client of the feed."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def send(self, command: Any) -> None:
        """Sends a command, as JSON unless it is text."""
        text = command if isinstance(command, str) else msgspec.json.encode(command).decode()
        await self.connection.send(text)

    async def follow(self, channels: list[Any], *products: str, **more: Any) -> Row:
        """Subscribes; returns the answer."""
        await self.send({"type": "subscribe", "product_ids": products, "channels": channels, **more})
        return await self.next()

    async def next(self) -> Row:
        """Returns the next message."""
        message: Row = msgspec.json.decode(await self.connection.recv())
        return message

    async def until(self, kind: str, count: int = 1) -> list[Row]:
        """Returns the next messages, up to the last of `count` of a type."""
        messages: list[Row] = []
        while sum(message["type"] == kind for message in messages) < count:
            messages.append(await self.next())
        return messages

    async def all(self) -> list[Row]:
        """Returns all messages that the server has sent so far: an unsubscription's answer is the last."""
        await self.send({"type": "unsubscribe", "channels": ["status"]})
        return (await self.until("subscriptions"))[:-1]


@asynccontextmanager
async def feed_client(session: Session) -> AsyncIterator[FeedClient]:
    """Connects to the feed."""
    async with connect(session.server.websocket_url, compression=None) as connection:
        yield FeedClient(connection)
