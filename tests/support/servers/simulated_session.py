"""A whole session with a simulated vendor on a clock that only the session moves.

`python -m support.servers.simulated_session VENDOR [SCENARIO...]` prints everything that a client receives in
a virtual minute: messages, broken connections, refusals and HTTP answers.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quotecast.commands.simulate import server_of
from quotecast.simulation.market.scenarios.planning import plan_of
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import TICK_MS, VendorServer
from support.runs.manual_clock import ManualClock
from support.runs.waits import until
from support.servers.tiny_vendor import TinyServer

#: A Friday, two minutes before New York's opening.
START: Final = 1_795_184_880_000
SEED: Final = 7


@dataclass(frozen=True)
class Dialogue:
    """What the client of a vendor sends, and the paths that it requests."""

    path: str
    commands: Sequence[str]
    paths: Sequence[str]
    headers: Mapping[str, str] = field(default_factory=dict)


_ALPACA: Final = {"APCA-API-KEY-ID": "key", "APCA-API-SECRET-KEY": "secret"}
DIALOGUES: Final[Mapping[str, Dialogue]] = {
    "tiny": Dialogue(
        "/", ["AAPL", "BTC/USDT", "NVDA", "ETH/USDT", "-NVDA", "none"], ["/?symbol=AAPL", "/?symbol=X"]
    ),
    "alpaca": Dialogue(
        "/v2/sip",
        [
            '{"action":"auth","key":"key","secret":"secret"}',
            '{"action":"subscribe","trades":["AAPL","NVDA"],"quotes":["AAPL"],"bars":["*"]}',
        ],
        [
            "/v2/stocks/snapshots?symbols=AAPL,NVDA",
            "/v2/stocks/bars?symbols=AAPL&timeframe=1Min&start=2026-11-20T14:00:00Z",
            "/v2/clock",
        ],
        _ALPACA,
    ),
    "binance": Dialogue(
        "/stream?streams=btcusdt@trade/ethusdt@ticker",
        ['{"method":"SUBSCRIBE","params":["btcusdt@kline_1m","!miniTicker@arr"],"id":1}', "none"],
        [
            "/api/v3/ticker/24hr?symbol=BTCUSDT",
            "/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=5",
            "/api/v3/time",
        ],
    ),
    "coinbase": Dialogue(
        "/",
        [
            '{"type":"subscribe","product_ids":["BTC-USD"],"channels":["ticker","matches","heartbeat"]}',
            '{"type":"subscribe","product_ids":["ETH-USD"],"channels":["ticker"]}',
        ],
        ["/products/BTC-USD/ticker", "/products/BTC-USD/candles?granularity=60", "/time"],
    ),
    "kraken": Dialogue(
        "/v2",
        [
            '{"method":"subscribe","params":{"channel":"ticker","symbol":["BTC/USD","ETH/USD"]},"req_id":1}',
            '{"method":"subscribe","params":{"channel":"trade","symbol":["BTC/USD"]}}',
            "none",
        ],
        ["/0/public/Ticker?pair=XBTUSD", "/0/public/OHLC?pair=XBTUSD&interval=1", "/0/public/Time"],
    ),
    "finnhub": Dialogue(
        "/?token=key",
        ['{"type":"subscribe","symbol":"AAPL"}', '{"type":"subscribe","symbol":"BINANCE:BTCUSDT"}', "none"],
        ["/api/v1/quote?symbol=AAPL&token=key"],
    ),
}


class Session:
    """One client of a server on a manual clock; `lines` is all that it received."""

    def __init__(self, server: VendorServer, dialogue: Dialogue) -> None:
        self.server = server
        self.lines: list[bytes] = []
        self._dialogue = dialogue
        self._client: ClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None

    async def tick(self) -> None:
        """Moves the clock by one tick, and receives all that the server sends in it."""
        if self._client is None:
            await self._connect()
        clock = self.server.clock
        assert isinstance(clock, ManualClock)
        clock.advance(TICK_MS)
        await settle()
        self.server.tick()
        await self._barrier()

    async def request(self) -> None:
        """Requests all paths."""
        async with httpx.AsyncClient(base_url=self.server.url, headers=self._dialogue.headers) as client:
            for path in self._dialogue.paths:
                answer = await client.get(path)
                headers = sorted((name, text) for name, text in answer.headers.items() if name != "date")
                self.lines.append(f"{path} {answer.status_code} {headers} ".encode() + answer.content)

    @property
    def url(self) -> str:
        """Returns the address of the server's HTTP."""
        return self.server.url

    async def close(self) -> None:
        """Closes the connection."""
        if self._client is not None and self._reading is not None:
            await self._client.close()
            await self._reading

    async def _connect(self) -> None:
        address = self.server.websocket_url + self._dialogue.path
        try:
            self._client = await connect(
                address,
                additional_headers=self._dialogue.headers,
                max_queue=None,
                ping_interval=None,
                proxy=None,
            )
        except InvalidStatus as refused:
            self.lines.append(
                f"refused {refused.response.status_code} ".encode() + (refused.response.body or b"")
            )
            return
        self._reading = asyncio.create_task(self._read(self._client))
        for command in self._dialogue.commands:
            if self._client is not None:
                await self._send(self._client, command)

    async def _send(self, client: ClientConnection, command: str) -> None:
        with contextlib.suppress(ConnectionClosed):
            await client.send(command)
        await self._barrier()

    async def _read(self, client: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                self.lines.append(await client.recv(decode=False))

    async def _barrier(self) -> None:
        """Waits until the server has read what the client sent, and the client what the server sent."""
        if self._client is None or self._reading is None:
            return
        try:
            await (await self._client.ping())
            await settle()
            await (await self._client.ping())
            await settle()
        except ConnectionClosed:
            await self._reading
            self.lines.append(b"connection lost")
            self._client = None
            # A client that the server has not yet forgotten would share the rate.
            await until(lambda: not self.server.clients)


async def settle() -> None:
    """Lets the tasks of this loop go on that have nothing to wait for."""
    for _ in range(10):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def serving(vendor: str, *scenarios: str, rate: float = 50.0) -> AsyncIterator[VendorServer]:
    """Runs a vendor on a manual clock."""
    kind = TinyServer if vendor == "tiny" else server_of(vendor)
    market = Market(SEED, Schedule(plan_of(scenarios, START)))
    async with kind(market, ManualClock(START), rate=rate) as server:
        yield server


async def record(vendor: str, scenarios: Sequence[str], seconds: int = 60) -> list[bytes]:
    """Returns what a client receives in a session."""
    async with serving(vendor, *scenarios) as server:
        session = Session(server, DIALOGUES[vendor])
        for number in range(seconds * 1000 // TICK_MS):
            await session.tick()
            if number % 500 == 250:
                await session.request()
        await session.close()
    return session.lines


if __name__ == "__main__":
    sys.stdout.buffer.write(b"\n".join(asyncio.run(record(sys.argv[1], sys.argv[2:]))))
