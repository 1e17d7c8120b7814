"""A simulated Kraken on a clock that tests move, and its clients."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from quotecast.simulation.market.scenarios.base import Scenario
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.vendors.kraken.server import KrakenServer
from quotecast.simulation.vendors.market import Market
from support.runs.deadlines import scaled
from support.runs.manual_clock import ManualClock

START: Final = 1_795_118_400_000
SECONDS: Final = 10


@asynccontextmanager
async def simulated(*scenarios: Scenario, calls: int = 100) -> AsyncIterator[KrakenServer]:
    planned = [Planned(scenario, START) for scenario in scenarios]
    market = Market(7, Schedule(planned))
    async with KrakenServer(market, ManualClock(START), rate=1.0, calls=calls) as server:
        yield server


async def ask(server: KrakenServer, method: str, **query: Any) -> Any:
    async with httpx.AsyncClient(base_url=server.url) as client:
        return (await client.get(f"/0/public/{method}", params=query)).json()


async def result(server: KrakenServer, method: str, **query: Any) -> Any:
    answer = await ask(server, method, **query)
    assert answer["error"] == []
    return answer["result"]


def advance(server: KrakenServer, milliseconds: int) -> None:
    """Moves the time and sends what is new."""
    assert isinstance(server.clock, ManualClock)
    server.clock.advance(milliseconds)
    server.tick()


async def receive(connection: ClientConnection) -> Any:
    async with asyncio.timeout(scaled(SECONDS)):
        return msgspec.json.decode(await connection.recv())


async def send(connection: ClientConnection, command: Any) -> None:
    await connection.send(msgspec.json.encode(command), text=True)


@asynccontextmanager
async def stream(server: KrakenServer, path: str = "/v2") -> AsyncIterator[ClientConnection]:
    """Yields a connection after its first message, the status."""
    async with connect(server.websocket_url + path) as connection:
        status = await receive(connection)
        assert status.get("channel") == "status" or status["event"] == "systemStatus"
        yield connection


async def subscribe(connection: ClientConnection, channel: str, symbol: str = "BTC/USD", **more: Any) -> Any:
    """Returns the answer to a subscription."""
    parameters = {"channel": channel, "symbol": [symbol], **more}
    await send(connection, {"method": "subscribe", "params": parameters, "req_id": 5})
    while "method" not in (answer := await receive(connection)):
        pass
    return answer
