"""A simulated Binance on a clock that a test moves, and a client of its streams."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.datastructures import Headers

from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.vendors.binance.server import BinanceServer
from quotecast.simulation.vendors.http import Answer, HttpRequest
from quotecast.simulation.vendors.market import Market
from support.runs.manual_clock import ManualClock

#: 2026-11-19T20:00:00Z.
NOW: Final = 1_795_118_400_000
SEED: Final = 3

Row = dict[str, Any]


class Session:
    """A simulated Binance whose time a test moves."""

    def __init__(self, *planned: Planned, rate: float = 50.0, **options: Any) -> None:
        self.clock = ManualClock(NOW)
        self.market = Market(SEED, Schedule(planned))
        self.server = BinanceServer(self.market, self.clock, rate=rate, **options)

    def pass_time(self, milliseconds: int, step: int = 20) -> None:
        """Moves the time in ticks."""
        for _ in range(milliseconds // step):
            self.clock.advance(step)
            self.server.tick()

    def get(self, path: str, **query: Any) -> Answer:
        """Returns the answer to a request, without a socket."""
        texts = {name: str(value) for name, value in query.items()}
        return self.server.respond(HttpRequest(path, texts, Headers(), path))

    def read(self, path: str, **query: Any) -> Any:
        """Returns the value of a good answer."""
        answer = self.get(f"/api/v3/{path}", **query)
        assert answer.status == 200, answer.body
        return msgspec.json.decode(answer.body)

    def problem(self, path: str, **query: Any) -> tuple[int, str]:
        """Returns code and message of a refusal."""
        answer = self.get(f"/api/v3/{path}", **query)
        assert answer.status == 400, answer.body
        refusal = msgspec.json.decode(answer.body)
        return refusal["code"], refusal["msg"]


class StreamClient:
    """A client of streams."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self._numbers: Iterator[int] = iter(range(1, 10_000))

    async def command(self, method: Any, params: Any = None) -> tuple[list[Any], Row]:
        """Sends a command; returns the messages before the answer, and the answer."""
        number = next(self._numbers)
        more = {} if params is None else {"params": params}
        await self.connection.send(msgspec.json.encode({"method": method, "id": number, **more}), text=True)
        before: list[Any] = []
        while True:
            message = await self.next()
            if isinstance(message, dict) and message.get("id") == number:
                return before, message
            before.append(message)

    async def result(self, method: str, params: Any = None) -> Any:
        """Returns the result of a command."""
        return (await self.command(method, params))[1]["result"]

    async def all(self) -> list[Any]:
        """Returns all messages that the server has sent so far."""
        return (await self.command("LIST_SUBSCRIPTIONS"))[0]

    async def next(self) -> Any:
        """Returns the next message."""
        return msgspec.json.decode(await self.connection.recv())


@asynccontextmanager
async def stream_client(session: Session, path: str = "/ws") -> AsyncIterator[StreamClient]:
    """Connects to a path of the streams."""
    address = f"{session.server.websocket_url}{path}"
    async with connect(address, compression=None, ping_interval=None) as connection:
        yield StreamClient(connection)
