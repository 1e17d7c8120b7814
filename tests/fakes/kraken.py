"""A fake Kraken: REST and WebSocket API v2 on one local port, which fails as a test asks.

By hand: `PYTHONPATH=tests python -m fakes.kraken --port 8700`.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from fakes.http import Answer, FakeHttp, HttpRequest, Row, running
from quotecast.providers.reference import pairs

INTERVALS: Final = frozenset({"1", "5", "15", "30", "60", "240", "1440", "10080", "21600"})
MOST_ROWS: Final = 720
TOO_MANY_CALLS: Final = Answer.of({"error": ["EGeneral:Too many requests"]})


def ticker(symbol: str, last: float = 92_000.1, **changes: Any) -> Row:
    """Returns a row of the `ticker` channel."""
    row = {
        "symbol": symbol,
        "bid": round(last * 0.999, 8),
        "bid_qty": 0.5,
        "ask": round(last * 1.001, 8),
        "ask_qty": 0.2,
        "last": last,
        "volume": 2100.5,
        "vwap": last,
        "low": round(last * 0.98, 8),
        "high": round(last * 1.02, 8),
        "change": 120.1,
        "change_pct": 0.13,
    }
    return row | changes


def candle(opened: int) -> list[Any]:
    """Returns the candle that opened at that Unix time; its prices follow from the minute."""
    price = 1000 + opened // 60 % 1000
    return [opened, f"{price}.0", f"{price + 3}.0", f"{price - 2}.0", f"{price + 1}.5", "1.0", "12.5", 9]


class FakeKraken(FakeHttp):
    """A fake Kraken, which serves inside `async with`; tests may change every attribute while it serves.

    A new subscriber gets `tickers` at once, and again every `beat_seconds` with the present time; `say`
    sends
    more rows. Candles begin at `listed_since`.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.tickers: dict[str, Row] = {}
        self.system = "online"
        self.listed_since = 1_500_000_000
        self.clock: Callable[[], float] = time.time
        self.beat_seconds = 0.02
        #: Faults after a subscription, and whether the server confirms it.
        self.ending: Literal["beats", "heartbeats", "silence", "abort"] = "beats"
        self.acknowledges = True
        #: What clients sent.
        self.commands: list[Row] = []
        self.clients: dict[ServerConnection, set[str]] = {}
        self.closed = asyncio.Event()

    def respond(self, request: HttpRequest) -> Answer:
        if request.path != "/0/public/OHLC":
            return Answer.of({"error": ["EGeneral:Unknown method"]})
        known = {
            symbol.replace("BTC", "XBT").replace("DOGE", "XDG").replace("/", "") for symbol in self.tickers
        }
        pair, interval = request.query.get("pair", ""), request.query.get("interval", "1")
        if pair not in known:
            return Answer.of({"error": ["EQuery:Unknown asset pair"]})
        if interval not in INTERVALS:
            return Answer.of({"error": ["EGeneral:Invalid arguments"]})
        rows = self._candles(int(interval) * 60)
        return Answer.of({"error": [], "result": {f"X{pair}": rows, "last": rows[-1][0]}})

    def _candles(self, length: int) -> list[list[Any]]:
        newest = int(self.clock()) // length * length
        openings = (newest - number * length for number in reversed(range(MOST_ROWS)))
        return [candle(opened) for opened in openings if opened >= self.listed_since]

    async def say(self, *rows: Row, kind: str = "update") -> None:
        """Sends rows of the `ticker` channel to the clients that subscribed to them."""
        for connection, symbols in [*self.clients.items()]:
            message = [row for row in rows if row["symbol"] in symbols]
            if message:
                await _send(connection, {"channel": "ticker", "type": kind, "data": message})

    async def say_raw(self, text: str) -> None:
        for connection in [*self.clients]:
            await connection.send(text)

    async def close_for_maintenance(self) -> None:
        """Announces maintenance to every client."""
        self.system = "maintenance"
        for connection in [*self.clients]:
            await self._status(connection)

    async def talk(self, connection: ServerConnection) -> None:
        symbols: set[str] = set()
        self.clients[connection] = symbols
        with contextlib.suppress(ConnectionClosed):
            await self._status(connection)
            async with running(self._beat(connection, symbols)):
                async for command in connection:
                    await self._handle_command(connection, symbols, command)
        del self.clients[connection]
        self.closed.set()

    async def _status(self, connection: ServerConnection) -> None:
        row = {"system": self.system, "api_version": "v2", "connection_id": 1, "version": "2.0.9"}
        await _send(connection, {"channel": "status", "type": "update", "data": [row]})

    async def _handle_command(
        self, connection: ServerConnection, symbols: set[str], command: str | bytes
    ) -> None:
        request = msgspec.json.decode(command)
        self.commands.append(request)
        number, wanted = request.get("req_id"), request.get("params", {})
        if request.get("method") == "ping":
            await _send(connection, {"method": "pong", "req_id": number} | self._times())
        elif request.get("method") != "subscribe" or wanted.get("channel") != "ticker":
            refused = {
                "error": "Unsupported field",
                "method": "subscribe",
                "success": False,
                "req_id": number,
            }
            await _send(connection, refused | self._times())
        elif self.acknowledges:
            await self._subscribe(connection, symbols, wanted, number)

    async def _subscribe(
        self, connection: ServerConnection, symbols: set[str], wanted: Mapping[str, Any], number: int
    ) -> None:
        for symbol in wanted["symbol"]:
            answer = {"method": "subscribe", "req_id": number} | self._times()
            if symbol not in self.tickers:
                problem = f"Currency pair not supported {symbol}"
                await _send(connection, answer | {"error": problem, "success": False, "symbol": symbol})
                continue
            symbols.add(symbol)
            granted = {name: wanted.get(name) for name in ("channel", "snapshot", "event_trigger")}
            await _send(connection, answer | {"result": granted | {"symbol": symbol}, "success": True})
            if wanted.get("snapshot", True):
                message = {"channel": "ticker", "type": "snapshot", "data": [self.tickers[symbol]]}
                await _send(connection, message)

    async def _beat(self, connection: ServerConnection, symbols: set[str]) -> None:
        with contextlib.suppress(ConnectionClosed):
            while self.ending != "silence":
                await asyncio.sleep(self.beat_seconds)
                if self.ending == "abort" and symbols:
                    connection.transport.abort()
                if self.ending == "heartbeats":
                    await _send(connection, {"channel": "heartbeat"})
                    continue
                rows = [self.tickers[symbol] | {"timestamp": self._now()} for symbol in sorted(symbols)]
                for row in rows:
                    await _send(connection, {"channel": "ticker", "type": "update", "data": [row]})

    def _times(self) -> Row:
        return {"time_in": self._now(), "time_out": self._now()}

    def _now(self) -> str:
        return datetime.fromtimestamp(self.clock(), UTC).isoformat().replace("+00:00", "Z")


async def _send(connection: ServerConnection, message: Row) -> None:
    await connection.send(msgspec.json.encode(message), text=True)


async def _move(fake: FakeKraken, opened: Mapping[str, float]) -> None:
    """Moves every price in a random walk, for ever."""
    while True:
        await asyncio.sleep(1)
        for symbol, row in fake.tickers.items():
            price = round(row["last"] * random.uniform(0.999, 1.001), 8)
            fake.tickers[symbol] = ticker(symbol, price, change=round(price - opened[symbol], 8))


async def _serve(port: int) -> None:
    opened = {f"{pair.base}/USD": pair.price for pair in pairs() if pair.quote == "USDT"}
    async with FakeKraken(port) as fake:
        fake.tickers = {symbol: ticker(symbol, price, change=0.0) for symbol, price in opened.items()}
        fake.beat_seconds = 1.0
        sys.stdout.write(f"{fake.url}\n{fake.websocket_url}/v2\n")
        sys.stdout.flush()
        await _move(fake, opened)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Serves an invented Kraken on a local port.")
    parser.add_argument("--port", type=int, default=0, help="any free one by default")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args(arguments).port))


if __name__ == "__main__":
    main()
