"""A Coinbase Exchange with the rows of a test: it plays a script, and fails as the test asks."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from fakes.http import FakeHttp, Row
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.coinbase.errors import CommandError
from quotecast.simulation.vendors.coinbase.rows import CandleRow, merge_rows
from quotecast.simulation.vendors.coinbase.server import CoinbaseServer
from quotecast.simulation.vendors.coinbase.source import MarketSource
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import Client

CHANNELS: Final = {
    "ticker": "ticker",
    "match": "matches",
    "last_match": "matches",
    "heartbeat": "heartbeat",
}


@dataclass(frozen=True)
class CoinbaseTrade:
    """A trade, from which candles are computed; `time` is in whole seconds since 1970."""

    time: int
    price: float
    size: float = 1.0


@dataclass(frozen=True)
class ScriptMessage:
    """A message of the script, and the seconds to wait before it."""

    text: str
    pause: float = 0.0


def read_recording(path: Path) -> Iterator[ScriptMessage]:
    """Returns a recording as a script with the recorded delays."""
    before = None
    for line in path.read_text().splitlines():
        time, _, text = line.partition(" ")
        yield ScriptMessage(text, max(float(time) - (before or float(time)), 0.0))
        before = float(time)


class GivenSource(MarketSource):
    """Products, currencies and trades of a test."""

    def __init__(self, market: Market, clock: MarketClock, products: Sequence[Row]) -> None:
        super().__init__(market, clock)
        self.given_products = products
        self.given_currencies: Sequence[Row] = ()
        self.given_trades: Mapping[str, Sequence[CoinbaseTrade]] = {}

    def products(self) -> Sequence[Row]:
        return self.given_products

    def currencies(self) -> Sequence[Row]:
        return self.given_currencies

    def candles(self, product: str, granularity: int, start: int, end: int) -> Sequence[CandleRow]:
        trades = sorted(self.given_trades.get(product, ()), key=lambda trade: trade.time)
        rows = [(each.time, *[each.price] * 4, each.size) for each in trades]
        merged = merge_rows(rows, granularity)
        return [row for row in reversed(merged) if start <= row[0] <= end]


class FakeCoinbase(FakeHttp, CoinbaseServer):
    """Products, currencies, candles of `trades`, and a WebSocket feed.

    Each subscribed connection receives the `script`, filtered by its products and channels, and then the
    fault of `ending`. The path `/` is the WebSocket.
    """

    def __init__(self, products: Sequence[Row], currencies: Sequence[Row] = (), port: int = 0) -> None:
        market, clock = Market(1), MarketClock()
        self.given = GivenSource(market, clock, products)
        super().__init__(market, clock, port=port, requests_per_second=None, source=self.given)
        self.given.given_currencies = currencies
        self.script: Iterable[ScriptMessage] = ()
        self.ending: Literal["heartbeats", "silence", "abort", "error"] = "heartbeats"
        self.acknowledges = True
        self.heartbeat_seconds = 1.0
        #: What clients sent.
        self.subscribes: list[Row] = []
        self.closed = asyncio.Event()
        #: Set when the script has been sent to its end.
        self.played = asyncio.Event()
        self._playing: dict[Client, asyncio.Task[None]] = {}

    @property
    def products(self) -> Sequence[Row]:
        """The rows of products."""
        return self.given.given_products

    @products.setter
    def products(self, products: Sequence[Row]) -> None:
        self.given.given_products = products

    @property
    def trades(self) -> Mapping[str, Sequence[CoinbaseTrade]]:
        """Trades by product, in any order."""
        return self.given.given_trades

    @trades.setter
    def trades(self, trades: Mapping[str, Sequence[CoinbaseTrade]]) -> None:
        self.given.given_trades = trades

    async def obey(self, client: Client, command: str | bytes) -> None:
        with contextlib.suppress(ValueError):
            self.subscribes.append(msgspec.json.decode(command))
        await super().obey(client, command)

    def acknowledge(self, client: Client) -> None:
        if self.acknowledges:
            super().acknowledge(client)

    def begin(self, client: Client, added: Sequence[tuple[str, str]]) -> None:
        del added
        if client not in self._playing:
            self._playing[client] = asyncio.create_task(self._play(client))

    def forget(self, client: Client) -> None:
        super().forget(client)
        if client in self._playing:
            self._playing.pop(client).cancel()
        self.closed.set()

    async def _play(self, client: Client) -> None:
        for message in self.script:
            if message.pause:
                await asyncio.sleep(message.pause)
            if _concerns(message.text, client.state.channels):
                client.answer(message.text.encode())
        self.played.set()
        if self.ending == "abort":
            client.connection.transport.abort()
        elif self.ending == "error":
            client.answer(CommandError("internal").payload())
            await client.connection.close()
        elif self.ending == "heartbeats":
            await self._beat(client)

    async def _beat(self, client: Client) -> None:
        while True:
            for product in client.state.channels.get("heartbeat", ()):
                row = {"type": "heartbeat", "sequence": 1, "last_trade_id": 0, "product_id": product}
                client.answer(msgspec.json.encode(row))
            await asyncio.sleep(self.heartbeat_seconds)


def _concerns(text: str, subscribed: Mapping[str, Mapping[str, None]]) -> bool:
    """Returns whether a subscriber receives a message; unreadable messages go to every subscriber."""
    try:
        message = msgspec.json.decode(text)
        kind, product = message["type"], message.get("product_id")
    except (ValueError, TypeError, KeyError):
        return True
    if kind == "subscriptions":
        return False
    return product is None or product in subscribed.get(CHANNELS.get(kind, ""), {})
