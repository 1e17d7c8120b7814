"""A simulated Alpaca on a clock that the test moves, and clients of its streams."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec
from websockets.asyncio.client import ClientConnection, connect

from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.vendors.alpaca.server import AlpacaServer
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import TICK_MS
from support.runs.manual_clock import ManualClock

#: A Friday, ten seconds before 9:30 in New York.
START: Final = 1_795_184_990_000
SEED: Final = 7
KEYS: Final = {"APCA-API-KEY-ID": "key", "APCA-API-SECRET-KEY": "secret"}
MSGPACK: Final = {"Content-Type": "application/msgpack"}

Row = dict[str, Any]


class SimulatedAlpaca:
    """A server, its market and its clock."""

    def __init__(self, planned: Iterable[Planned] = (), start: int = START, **options: Any) -> None:
        self.clock = ManualClock(start)
        self.market = Market(SEED, Schedule(planned), always_open=options.pop("always_open", True))
        self.server = AlpacaServer(self.market, self.clock, **options)

    def run(self, milliseconds: int, step: int = TICK_MS) -> None:
        """Moves the clock and ticks."""
        for _ in range(0, milliseconds, step):
            self.clock.advance(step)
            self.server.tick()

    @asynccontextmanager
    async def client(self, path: str = "/v2/sip", **headers: str) -> AsyncIterator["StreamClient"]:
        """Yields a client that has not logged in."""
        more = {name.replace("_", "-"): text for name, text in headers.items()}
        address = f"{self.server.websocket_url}{path}"
        async with connect(address, additional_headers=more, proxy=None, max_queue=None) as connection:
            client = StreamClient(connection, binary="Content-Type" in more)
            assert await client.receive() == [{"T": "success", "msg": "connected"}]
            yield client


class StreamClient:
    """A client of a stream."""

    def __init__(self, connection: ClientConnection, *, binary: bool) -> None:
        self.connection = connection
        self.binary = binary

    async def send(self, **command: Any) -> None:
        encode = msgspec.msgpack.encode if self.binary else msgspec.json.encode
        await self.connection.send(encode(command), text=not self.binary)

    async def receive(self) -> list[Row]:
        """Returns the messages of the next frame."""
        frame = await self.connection.recv()
        assert isinstance(frame, bytes) == self.binary
        data = frame if isinstance(frame, bytes) else frame.encode()
        messages: list[Row] = (msgspec.msgpack if self.binary else msgspec.json).decode(data)
        return messages

    async def next_of(self, kind: str) -> Row:
        """Returns the next message of a type."""
        while True:
            for message in await self.receive():
                if message["T"] == kind:
                    return message

    async def log_in(self, key: str = "key", secret: str = "secret") -> Row:  # noqa: S107 (any is accepted)
        await self.send(action="auth", key=key, secret=secret)
        [answer] = await self.receive()
        return answer

    async def subscribe(self, **channels: list[str]) -> Row:
        await self.send(action="subscribe", **channels)
        [answer] = await self.receive()
        return answer

    async def error(self) -> tuple[int, str]:
        """Returns the code and the text of the next error."""
        message = await self.next_of("error")
        return message["code"], message["msg"]


@asynccontextmanager
async def simulated_alpaca(planned: Iterable[Planned] = (), **options: Any) -> AsyncIterator[SimulatedAlpaca]:
    """Serves a simulated Alpaca."""
    alpaca = SimulatedAlpaca(planned, **options)
    async with alpaca.server:
        yield alpaca
