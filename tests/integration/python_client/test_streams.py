"""Both streams of the Python client pass the conformance suite on real sockets."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

import quotecast_client.backoff
from integration.python_client.conformance_player import Player, is_playable, labelled
from quotecast_client import AsyncClient, AsyncStream, Client, Stream, StreamRefused
from support.clients.client_faces import skip_certificates
from support.oracles.conformance import CASES, read_case
from support.runs.deadlines import scaled

PLAYABLE = [path for path in sorted(CASES.glob("*.json")) if is_playable(read_case(path))]
by_case = pytest.mark.parametrize("path", PLAYABLE, ids=lambda path: path.stem)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotecast_client.backoff, "FIRST_SECONDS", 0.001)
    skip_certificates(monkeypatch)


def names_of(case: dict[str, Any]) -> list[str]:
    """Returns what the client of a case follows."""
    return [
        symbol if ":" in symbol else f"{feed}:{symbol}"
        for feed, asked in labelled(case)["steps"][0]["connect"].items()
        for symbol in ([asked["symbols"]] if asked["symbols"] == "all" else asked["symbols"])
    ]


def fields_of(case: dict[str, Any]) -> list[str] | None:
    asked = labelled(case)["steps"][0]["connect"]
    return next((each["fields"] for each in asked.values() if "fields" in each), None)


class Shown:
    """What a stream shows of a feed; it begins after the server does."""

    stream: AsyncStream | Stream | None = None

    def __call__(self, feed: Any) -> tuple[str | None, dict[str, Any]]:
        copy = self.stream.copies.get(feed) if self.stream else None
        return (copy.cursor, dict(copy.quotes)) if copy else (None, {})


@contextlib.asynccontextmanager
async def playing(player: Player) -> AsyncIterator[str]:
    """Yields the address of a server that plays a case."""
    async with serve(player.serve, "127.0.0.1", 0) as server:
        host, port = next(iter(server.sockets)).getsockname()
        yield f"http://{host}:{port}"


async def drain(stream: AsyncStream) -> bool:
    """Reads a stream to its end; returns whether the service refused it."""
    try:
        async for _ in stream:
            pass
    except StreamRefused:
        return True
    return False


def drain_in_thread(stream: Stream) -> bool:
    try:
        for _ in stream:
            pass
    except StreamRefused:
        return True
    return False


async def wait_for_either(player: Player, reading: asyncio.Task[bool]) -> None:
    """Waits until the case is played; a stream that fails before that ends the wait."""
    playing = asyncio.create_task(player.done.wait())
    await asyncio.wait([playing, reading], return_when=asyncio.FIRST_COMPLETED)
    playing.cancel()


@by_case
async def test_an_asyncio_stream_has_the_copy_of_the_case(path: Path) -> None:
    case, shown = read_case(path), Shown()
    player = Player(case, shown)
    async with playing(player) as address, AsyncClient(address) as client:
        shown.stream = stream = client.stream(names_of(case), fields=fields_of(case))
        reading = asyncio.create_task(drain(stream))
        await wait_for_either(player, reading)
        if not player.gives_up:
            await stream.close()
        assert await reading == player.gives_up
    assert not player.problem


@by_case
async def test_a_blocking_stream_has_the_copy_of_the_case(path: Path) -> None:
    case, shown = read_case(path), Shown()
    player = Player(case, shown)
    async with playing(player) as address:
        with Client(address) as client:
            shown.stream = stream = client.stream(names_of(case), fields=fields_of(case))
            reading = asyncio.create_task(asyncio.to_thread(drain_in_thread, stream))
            await wait_for_either(player, reading)
            if not player.gives_up:
                await asyncio.to_thread(stream.close)
            assert await reading == player.gives_up
    assert not player.problem


def test_a_thread_ends_a_stream_that_waits_to_connect() -> None:
    """Nobody listens at the address."""
    with Client("http://127.0.0.1:9") as client:
        stream = client.stream(["market:AAPL"])
        reader = threading.Thread(target=drain_in_thread, args=(stream,))
        reader.start()
        stream.close()
        reader.join(scaled(30))
        assert not reader.is_alive()


def answering(*statuses: int) -> tuple[list[int], Callable[[ServerConnection, Request], Response | None]]:
    """Returns the statuses that handshakes are still to get, and what gives them; then handshakes succeed."""
    left = list(statuses)

    def process(connection: ServerConnection, _: Request) -> Response | None:
        if not left:
            return None
        response = connection.respond(HTTPStatus(left.pop(0)), "")
        response.headers["Retry-After"] = "0"
        return response

    return left, process


async def greet(socket: ServerConnection) -> None:
    place = {"epoch": "e", "seq": 1}
    await socket.send(json.dumps({"type": "welcome", "feeds": {"market": place}, "heartbeatMs": 15000}))
    quote = {"type": "stock_quote", "ticker": "AAPL", "price": 1.0}
    snapshot = {"type": "snapshot", "feed": "market", **place, "reason": "resync", "data": [quote]}
    await socket.send(json.dumps(snapshot))
    await socket.wait_closed()


async def test_a_full_service_is_asked_again() -> None:
    left, process = answering(503, 502, 429)
    async with serve(greet, "127.0.0.1", 0, process_request=process) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with AsyncClient(f"http://127.0.0.1:{port}") as client:
            change = await client.stream("market:AAPL").__anext__()
    assert (change.symbol, change.quote["price"], left) == ("AAPL", 1.0, [])


async def test_a_handshake_that_the_service_forbids_ends_the_stream() -> None:
    _, process = answering(403)
    async with serve(greet, "127.0.0.1", 0, process_request=process) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with AsyncClient(f"http://127.0.0.1:{port}") as client:
            with pytest.raises(StreamRefused, match="403"):
                await client.stream("market:AAPL").__anext__()
