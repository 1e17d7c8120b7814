"""A simulated vendor with hostile clients: it ends them, and serves the others."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.protocol import State

from quotecast.simulation.market.scenarios.planning import plan_of
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.vendors import server as servers
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.market import Market
from support.runs.deadlines import scaled
from support.runs.waits import PATIENCE_SECONDS, until
from support.servers.tiny_vendor import TinyServer

pytestmark = [pytest.mark.slow, pytest.mark.real_time]

#: A masked close frame without a code.
CLOSE_FRAME = bytes.fromhex("888000000000")


@contextlib.asynccontextmanager
async def _running(*scenarios: str, rate: float = 50.0) -> AsyncIterator[TinyServer]:
    """Runs a vendor with the machine's clock."""
    clock = MarketClock()
    market = Market(1, Schedule(plan_of(scenarios, clock.start)))
    async with TinyServer(market, clock, rate=rate) as server:
        pump = asyncio.create_task(server.run())
        try:
            yield server
            assert not pump.done()
        finally:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)


async def _serves(server: TinyServer) -> None:
    """Asserts that an honest client receives prices."""
    async with connect(server.websocket_url, proxy=None) as client:
        await client.send("AAPL")
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            while '"price"' not in str(await client.recv()):
                pass


async def _until_clients(server: TinyServer, count: int) -> None:
    await until(lambda: len(server.clients) == count)


async def test_a_client_that_never_reads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_MAX_WAITING_BYTES", 1 << 20)
    async with _running(rate=5000.0) as server:
        with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0)) as hostile:
            hostile.sendall(_handshake())
            await _until_clients(server, 1)
            [client] = server.clients
            _hold_little(client.connection.transport)
            for symbol in server.market.stocks:
                server.subscribe(client, symbol, symbol)
            await _until_clients(server, 0)
        await _serves(server)


async def test_a_flood_of_commands_ends_when_nobody_reads_the_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "_MAX_WAITING_BYTES", 1 << 16)
    async with _running() as server:
        client = await connect(server.websocket_url, proxy=None, max_queue=1, ping_interval=None)
        await _until_clients(server, 1)
        [accepted] = server.clients
        _hold_little(accepted.connection.transport)
        client.transport.pause_reading()
        with contextlib.suppress(ConnectionClosed):
            async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
                while True:
                    await client.send("nonsense")
        await _until_clients(server, 0)
        await _serves(server)
        client.transport.abort()


@pytest.mark.parametrize(
    "command", [b"\xff\xfe", "\0" * 1000, "-" * 1000, "{" * 100_000, "", "AAPL" * 100_000], ids=range(6)
)
async def test_odd_commands_have_answers(command: bytes | str) -> None:
    async with _running() as server:
        async with connect(server.websocket_url, proxy=None) as client:
            await client.recv()
            await client.send(command)
            while '"beat"' in (answer := str(await client.recv())):
                pass
            assert "unknown symbol" in answer
        await _serves(server)


async def test_a_message_over_a_megabyte_closes_the_connection() -> None:
    async with _running() as server:
        async with connect(server.websocket_url, proxy=None) as client:
            await client.recv()
            await client.send("A" * ((1 << 20) + 1))
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
            assert closed.value.rcvd
            assert closed.value.rcvd.code == 1009
        await _serves(server)


async def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_MAX_CLIENTS", 2)
    async with _running() as server:
        async with connect(server.websocket_url, proxy=None), connect(server.websocket_url, proxy=None):
            with pytest.raises(InvalidStatus, match="503"):
                await connect(server.websocket_url, proxy=None)
        await _until_clients(server, 0)
        await _serves(server)


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /%ff%00?%ff=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        os.urandom(4096),
    ],
    ids=range(6),
)
async def test_malformed_requests_end(sent: bytes) -> None:
    async with _running() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(server.url).port)
        writer.write(sent)
        writer.write_eof()
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            with contextlib.suppress(ConnectionError):
                await reader.read()
        writer.close()
        await _serves(server)


async def test_a_client_between_its_close_frame_and_its_end_does_not_end_the_pump() -> None:
    """The server has ended its side of the connection and waits for the client's end: it writes no prices."""
    async with _running(rate=5000.0) as server:
        with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port or 0)) as closing:
            closing.sendall(_handshake())
            await _until_clients(server, 1)
            [client] = server.clients
            server.subscribe(client, "AAPL", "AAPL")
            closing.sendall(CLOSE_FRAME)
            await until(lambda: client.connection.state is not State.OPEN)
            await _serves(server)
            assert client in server.clients


async def test_delayed_messages_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quotecast.simulation.vendors.server.MAX_DELAYED", 100)
    async with _running("slow,by=60000,jitter=0", rate=2000.0) as server:
        # A client whose queue is full does not read the answer to its close frame.
        async with connect(server.websocket_url, proxy=None, max_queue=None) as client:
            for symbol in ("AAPL", "MSFT", "NVDA"):
                await client.send(symbol)
            async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
                while '"price"' not in str(await client.recv()):
                    pass
        assert len(server._delayed) <= 200


def _hold_little(transport: asyncio.Transport) -> None:
    """Lets the kernel hold few answers for a client: by itself it holds megabytes."""
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)


def _handshake() -> bytes:
    return (
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
