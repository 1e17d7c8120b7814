"""Frames go straight to the kernel while it takes them, and through the transport when it does not."""

import asyncio
import random
import socket
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import uvloop

from quotecast.framing import Frame
from quotecast.stream.outlet import send_now
from quotecast.stream.server import serve_feeds
from support.runs.deadlines import scaled
from support.stages.feed_sockets import HANDSHAKE, raw

Run = Callable[[Coroutine[Any, Any, None]], None]
BOTH_LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])


class Writing:
    """An application that hands its client's socket to the test and waits until the client leaves."""

    def __init__(self) -> None:
        self.send: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Accepts a client."""
        del scope
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None})
        self.send = send
        while (await receive())["type"] == "websocket.receive":
            pass

    def write(self, payload: bytes) -> Any:
        """Starts to send a message; returns the socket."""
        return self.send({"type": "websocket.send", "bytes": payload})


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connected pair, of which the first does not block."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        accepted, _ = listening.accept()
    with client, accepted:
        accepted.setblocking(False)
        yield accepted, client


def test_rest_is_what_the_kernel_does_not_take(pair: tuple[socket.socket, socket.socket]) -> None:
    """Nothing of a small frame, the end of a large one, and all of it while the buffer is full."""
    ours, client = pair
    assert send_now(ours, b"small") == b""
    large = bytes(range(256)) * (1 << 17)
    rest = send_now(ours, large)
    assert 0 < len(rest) < len(large)
    assert large.endswith(rest)
    while len(rest) != len(rest := send_now(ours, rest)):
        pass
    assert send_now(ours, b"no room") == b"no room"
    sent = b"small" + large[: len(large) - len(rest)]
    assert client.recv(len(sent), socket.MSG_WAITALL) == sent


def test_error_leaves_everything_to_the_transport(pair: tuple[socket.socket, socket.socket]) -> None:
    """The transport reports a broken connection."""
    ours, _ = pair
    ours.shutdown(socket.SHUT_WR)
    assert send_now(ours, b"frame") == b"frame"


@BOTH_LOOPS
def test_frames_stay_in_order_across_back_pressure(run: Run) -> None:
    """A client that reads late gets each byte once and in order, whichever way it went."""

    async def scenario() -> None:
        app, chance = Writing(), random.Random(7)
        async with serve_feeds(app, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
            writer.write(HANDSHAKE)
            await reader.readuntil(b"\r\n\r\n")
            sizes = [chance.choice([5, 90, 3000, 60_000, 500_000]) for _ in range(60)]
            messages = [chance.randbytes(size) for size in sizes]
            waits = 0
            reading = asyncio.create_task(reader.readexactly(sum(map(wire_size, sizes))))
            for message in messages:
                connection = app.write(message)
                if chance.random() < 0.3:
                    waits += not connection.ready
                    await connection
            assert waits
            received = await asyncio.wait_for(reading, scaled(60))
            assert received == b"".join(map(frame_of, messages))

    run(scenario())


@BOTH_LOOPS
def test_nothing_follows_the_close_frame(run: Run) -> None:
    """Frames after it are dropped, also before the loop has closed the transport."""

    async def scenario() -> None:
        app = Writing()
        async with serve_feeds(app, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
            writer.write(HANDSHAKE)
            await reader.readuntil(b"\r\n\r\n")
            connection = app.write(b"before")
            app.send({"type": "websocket.close", "code": 1000, "reason": ""})
            connection.write(Frame(b"after", binary=True))
            writer.write(b"\x88\x82" + bytes(4) + b"\x03\xe8")
            assert (
                await asyncio.wait_for(reader.read(), scaled(10)) == frame_of(b"before") + b"\x88\x02\x03\xe8"
            )
            connection.write(Frame(b"after", binary=True))

    run(scenario())


@BOTH_LOOPS
def test_sends_to_a_client_that_has_reset_end_its_connection(run: Run) -> None:
    """The descriptor belongs to the transport alone: the next connection gets it, and no stray frame."""

    async def scenario() -> None:
        app = Writing()
        async with serve_feeds(app, "127.0.0.1", 0) as port:
            gone = []
            for _ in range(20):
                async with raw(port) as (reader, writer):
                    writer.write(HANDSHAKE)
                    await reader.readuntil(b"\r\n\r\n")
                    gone.append(app.write(b"present"))
                    assert await reader.readexactly(9) == frame_of(b"present")
                    for each in gone[:-1]:
                        each.write(Frame(b"stray", binary=True))
                    app.write(b"next")
                    assert await reader.readexactly(6) == frame_of(b"next")
                    linger = socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, *linger)
                app.send = None
                async with asyncio.timeout(scaled(10)):
                    while gone[-1]._open:
                        gone[-1].write(Frame(b"too late", binary=True))
                        await asyncio.sleep(0.001)

    run(scenario())


def wire_size(size: int) -> int:
    """Returns the length of a message's frame."""
    return size + 2 + (size >= 126) * 2 + (size >= 1 << 16) * 6


def frame_of(payload: bytes) -> bytes:
    """Returns the frame of a binary message."""
    size = len(payload)
    if size < 126:
        return b"\x82" + size.to_bytes(1, "big") + payload
    return (b"\x82\x7e" + size.to_bytes(2) if size < 1 << 16 else b"\x82\x7f" + size.to_bytes(8)) + payload
