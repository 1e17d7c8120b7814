"""A fake Coinbase Exchange: REST and WebSocket on one local port, which fails as a test asks.

By hand: `PYTHONPATH=tests python -m fakes.coinbase <recording> <products> --port 8700`.
"""

import argparse
import asyncio
import contextlib
import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from fakes.http import Answer, FakeHttp, HttpRequest, Row, running

CHANNELS: Final = {
    "ticker": "ticker",
    "match": "matches",
    "last_match": "matches",
    "heartbeat": "heartbeat",
}
GRANULARITIES: Final = frozenset({"60", "300", "900", "3600", "21600", "86400"})
MOST_CANDLES: Final = 300
TOO_FINE: Final = (
    "granularity too small for the requested time range. Count of aggregations requested exceeds 300"
)
NOT_FOUND: Final = Answer.of({"message": "NotFound"}, 404)

_CANDLES: Final = re.compile(r"/products/([^/]+)/candles")


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


class FakeCoinbase(FakeHttp):
    """Products, currencies, candles of `trades`, and a WebSocket feed.

    Each subscribed connection receives the `script`, filtered by its products and channels, and then the
    fault
    of `ending`. The path `/` is the WebSocket.
    """

    def __init__(self, products: Sequence[Row], currencies: Sequence[Row] = (), port: int = 0) -> None:
        super().__init__(port)
        self.products = products
        self.currencies = currencies
        #: Trades by product, in any order.
        self.trades: Mapping[str, Sequence[CoinbaseTrade]] = {}
        self.script: Iterable[ScriptMessage] = ()
        self.ending: Literal["heartbeats", "silence", "abort", "error"] = "heartbeats"
        self.acknowledges = True
        self.heartbeat_seconds = 1.0
        self.subscribe_seconds = 5.0
        #: What clients sent.
        self.subscribes: list[Row] = []
        self.closed = asyncio.Event()
        #: Set when the script has been sent to its end.
        self.played = asyncio.Event()

    def respond(self, request: HttpRequest) -> Answer:
        if "User-Agent" not in request.headers:
            return Answer.of({"message": "User-Agent header is required."}, 400)
        if request.path == "/products":
            return Answer.of(self.products)
        if request.path == "/currencies":
            return Answer.of(self.currencies)
        if match := _CANDLES.fullmatch(request.path):
            return self._candles(match[1], request.query)
        return NOT_FOUND

    def _candles(self, product: str, query: Mapping[str, str]) -> Answer:
        if product not in {row["id"] for row in self.products}:
            return NOT_FOUND
        if query.get("granularity", "60") not in GRANULARITIES:
            return Answer.of({"message": "Unsupported granularity"}, 400)
        granularity = int(query.get("granularity", "60"))
        rows = candles(self.trades.get(product, ()), granularity)
        if not {"start", "end"} <= query.keys():
            return Answer.of(rows[:MOST_CANDLES])
        try:
            start, end = (int(datetime.fromisoformat(query[name]).timestamp()) for name in ("start", "end"))
        except ValueError:
            return Answer.of({"message": "Invalid start or end"}, 400)
        if (end - start) // granularity > MOST_CANDLES:
            return Answer.of({"message": TOO_FINE}, 400)
        return Answer.of([row for row in rows if start <= row[0] <= end])

    async def talk(self, connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            subscribed: dict[str, set[str]] = {}
            async with asyncio.timeout(self.subscribe_seconds):
                if not await self._subscribe(connection, await connection.recv(), subscribed):
                    return
            async with running(self._play(connection, subscribed)):
                async for command in connection:
                    if not await self._subscribe(connection, command, subscribed):
                        return
        self.closed.set()

    async def _subscribe(
        self, connection: ServerConnection, command: str | bytes, subscribed: dict[str, set[str]]
    ) -> bool:
        """Adds to `subscribed` and confirms; returns False for a bad command."""
        try:
            request = msgspec.json.decode(command)
            channels, products = request["channels"], set(request["product_ids"])
        except (ValueError, TypeError, KeyError):
            await _fail(connection, "Malformed JSON")
            return False
        self.subscribes.append(request)
        for product in products - {row["id"] for row in self.products}:
            await _fail(connection, f"{product} is not a valid product")
            return False
        for channel in channels:
            subscribed.setdefault(channel, set()).update(products)
        if self.acknowledges:
            sets = [{"name": name, "product_ids": sorted(of)} for name, of in subscribed.items()]
            await _send(connection, {"type": "subscriptions", "channels": sets})
        return True

    async def _play(self, connection: ServerConnection, subscribed: dict[str, set[str]]) -> None:
        for message in self.script:
            if message.pause:
                await asyncio.sleep(message.pause)
            if _concerns(message.text, subscribed):
                await connection.send(message.text)
        self.played.set()
        if self.ending == "abort":
            connection.transport.abort()
        elif self.ending == "error":
            await _fail(connection, "internal")
        elif self.ending == "heartbeats":
            await self._beat(connection, subscribed)

    async def _beat(self, connection: ServerConnection, subscribed: dict[str, set[str]]) -> None:
        for sequence in itertools.count(1):
            for product in sorted(subscribed.get("heartbeat", ())):
                await _send(
                    connection,
                    {"type": "heartbeat", "sequence": sequence, "last_trade_id": 0, "product_id": product},
                )
            await asyncio.sleep(self.heartbeat_seconds)


def candles(trades: Sequence[CoinbaseTrade], granularity: int) -> list[tuple[float, ...]]:
    """Returns rows of time, low, high, open, close, volume: newest first, none for times without trades."""
    buckets: defaultdict[int, list[CoinbaseTrade]] = defaultdict(list)
    for trade in sorted(trades, key=lambda trade: trade.time):
        buckets[trade.time // granularity * granularity].append(trade)
    return [_candle(time, buckets[time]) for time in sorted(buckets, reverse=True)]


def _candle(time: int, trades: Sequence[CoinbaseTrade]) -> tuple[float, ...]:
    prices = [trade.price for trade in trades]
    volume = sum(trade.size for trade in trades)
    return (time, min(prices), max(prices), prices[0], prices[-1], volume)


def _concerns(text: str, subscribed: dict[str, set[str]]) -> bool:
    """Returns whether a subscriber receives a message; unreadable messages go to every subscriber."""
    try:
        message = msgspec.json.decode(text)
        kind, product = message["type"], message.get("product_id")
    except (ValueError, TypeError, KeyError):
        return True
    if kind == "subscriptions":
        return False
    return product is None or product in subscribed.get(CHANNELS.get(kind, ""), ())


async def _send(connection: ServerConnection, message: Row) -> None:
    await connection.send(msgspec.json.encode(message), text=True)


async def _fail(connection: ServerConnection, reason: str) -> None:
    await _send(connection, {"type": "error", "message": "Failed to subscribe", "reason": reason})
    await connection.close()


def trades_of(script: Iterable[ScriptMessage]) -> dict[str, list[CoinbaseTrade]]:
    """Returns the trades in the tickers of a script."""
    trades: defaultdict[str, list[CoinbaseTrade]] = defaultdict(list)
    for each in script:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            message = msgspec.json.decode(each.text)
            time = int(datetime.fromisoformat(message["time"]).timestamp())
            trade = CoinbaseTrade(time, float(message["price"]), float(message["last_size"]))
            trades[message["product_id"]].append(trade)
    return trades


async def _serve_script(script: Sequence[ScriptMessage], products: Sequence[Row], port: int) -> None:
    async with FakeCoinbase(products, port=port) as fake:
        fake.script = script
        fake.trades = trades_of(script)
        sys.stdout.write(f"{fake.url}\n{fake.websocket_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves a recorded Coinbase session on a local port.")
    parser.add_argument("recording", type=Path, help="lines of `<unix receive time> <JSON>`")
    parser.add_argument("products", type=Path, help="what /products answered that day")
    parser.add_argument("--port", type=int, default=0, help="any free one by default")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        products = msgspec.json.decode(options.products.read_bytes())
        asyncio.run(_serve_script(list(read_recording(options.recording)), products, options.port))


if __name__ == "__main__":
    main()
