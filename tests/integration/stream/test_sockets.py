"""The feeds' own WebSocket server, tested byte by byte with applications of the test."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from quotecast.errors import ServerFailedError
from quotecast.stream import server
from quotecast.stream.incoming import MAX_FRAGMENTS, MAX_MESSAGE_BYTES
from quotecast.stream.inlet import EXTRA_FRAMES_PER_SECOND
from quotecast.stream.server import serve_feeds
from support.runs.deadlines import scaled
from support.stages.feed_sockets import HANDSHAKE, echo, raw

App = Callable[[Any, Any, Any], Awaitable[None]]


def masked(opcode: int, payload: bytes, *, final: bool = True) -> bytes:
    """Returns a client's frame, with a mask that leaves the payload readable."""
    head = bytes([(0x80 if final else 0) | opcode])
    size = len(payload)
    length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
    return head + length + bytes(4) + payload


async def closed_with(reader: asyncio.StreamReader) -> int:
    """Returns the code of the next close frame."""
    head = await reader.readexactly(2)
    assert head[0] == 0x88
    code: int = struct.unpack("!H", (await reader.readexactly(head[1]))[:2])[0]
    return code


async def test_messages_of_either_kind_and_any_length_come_through() -> None:
    """Lengths lie on both sides of each step of the frame's header."""
    async with (
        serve_feeds(echo, "127.0.0.1", 0) as port,
        connect(f"ws://127.0.0.1:{port}/feed", max_size=None) as client,
    ):
        messages: list[str | bytes] = [
            *("x" * size for size in (0, 125, 126, 65_535, 65_536)),
            b"\x00\xff",
            "Gram Altın",
        ]
        for message in messages:
            await client.send(message)
            assert await client.recv() == message


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (masked(1, b"\xff\xfe"), 1007),
        (b"\x81\x05hello", 1002),
        (masked(0, b"of nothing"), 1002),
        (masked(3, b"no such opcode"), 1002),
        (masked(1, b"a", final=False) + masked(1, b"b"), 1002),
        (b"\x81\xff" + struct.pack("!Q", MAX_MESSAGE_BYTES + 1) + bytes(4), 1009),
        (masked(8, struct.pack("!H", 1000)), 1000),
    ],
    ids=["not UTF-8", "no mask", "stray end", "opcode", "interleaved", "too long", "farewell"],
)
async def test_close_frame_has_code_and_reason(frames: bytes, code: int) -> None:
    """Close codes of RFC 6455, section 7.4.1."""
    async with serve_feeds(echo, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frames)
        assert await asyncio.wait_for(closed_with(reader), scaled(10)) == code
        assert await asyncio.wait_for(reader.read(), scaled(10)) == b""


async def test_fragments_are_joined_and_pings_answered_between_them() -> None:
    """Control frames may come between the fragments of a message."""
    async with serve_feeds(echo, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        for part in (masked(1, b"Gram Alt\xc4", final=False), masked(9, b"?"), masked(0, b"\xb1n")):
            writer.write(part)
        assert await reader.readexactly(3) == b"\x8a\x01?"
        assert await reader.readexactly(13) == b"\x81\x0b" + "Gram Altın".encode()


async def test_a_client_that_goes_on_sending_after_the_farewell_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The deadline of the close does not move, although the client sends far more often than it lasts."""
    monkeypatch.setattr(server, "CLOSE_SECONDS", 0.5)

    async def close(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None})
        await send({"type": "websocket.close", "code": 4400})

    async with serve_feeds(close, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        assert await closed_with(reader) == 4400
        async with asyncio.timeout(scaled(20)):
            ended = asyncio.ensure_future(reader.read())
            with contextlib.suppress(ConnectionError):
                while not ended.done():
                    writer.write(masked(9, b"still here"))
                    await asyncio.wait([ended], timeout=0.02)
                await ended


@pytest.mark.parametrize("kind", ["pings", "fragments"])
async def test_what_floods_is_read_at_its_own_pace(kind: str) -> None:
    """Beyond a hundred frames a second reading pauses; the server loses none, and reads what follows."""
    async with serve_feeds(echo, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        count = 3 * EXTRA_FRAMES_PER_SECOND
        if kind == "pings":
            writer.write(masked(9, b"") * count + masked(1, b"after"))
            expected = b"\x8a\x00" * count + b"\x81\x05after"
        else:
            message = masked(1, b"", final=False) + masked(0, b"x")
            writer.write(message * (count // 2))
            expected = b"\x81\x01x" * (count // 2)
        began = asyncio.get_running_loop().time()
        assert await asyncio.wait_for(reader.readexactly(len(expected)), scaled(60)) == expected
        # A slice at once, the next when the hundred a second allow it.
        assert asyncio.get_running_loop().time() - began > 0.4
        writer.write(masked(8, struct.pack("!H", 1000)))
        assert await asyncio.wait_for(reader.read(), scaled(60)) == b"\x88\x02\x03\xe8"


async def test_a_message_of_too_many_fragments_is_refused() -> None:
    """The size of the fragments makes no difference."""
    async with serve_feeds(echo, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(masked(1, b"", final=False) + masked(0, b"", final=False) * MAX_FRAGMENTS)
        assert await asyncio.wait_for(closed_with(reader), scaled(20)) == 1009
        assert await asyncio.wait_for(reader.read(), scaled(20)) == b""


async def test_an_application_that_fails_ends_its_connection_alone() -> None:
    """The client gets 1011, and the server accepts the next one."""

    async def fail(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None})
        if scope["path"] == "/fails":
            raise RuntimeError("on purpose")
        await send({"type": "websocket.send", "text": "well"})

    async with serve_feeds(fail, "127.0.0.1", 0) as port:
        async with connect(f"ws://127.0.0.1:{port}/fails") as client:
            with pytest.raises(ConnectionClosed):
                await client.recv()
            assert client.close_code == 1011
        async with connect(f"ws://127.0.0.1:{port}/") as client:
            assert await client.recv() == "well"


async def test_messages_that_nobody_takes_stay_in_the_clients_hands() -> None:
    """Back-pressure bounds the waiting messages and loses none."""
    go = asyncio.Event()

    async def slow(_scope: Any, receive: Any, send: Any) -> None:
        async def later() -> Any:
            await go.wait()
            return await receive()

        await receive()
        await send({"type": "websocket.accept", "subprotocol": None})
        while (event := await later())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": str(len(event["text"]))})

    count, size = 4000, 10_000
    async with serve_feeds(slow, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(masked(1, b"x" * size) * count)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.drain(), 0.5)
        go.set()
        for _ in range(count):
            assert await asyncio.wait_for(reader.readexactly(7), scaled(10)) == b"\x81\x0510000"


async def test_application_learns_of_a_reset_connection() -> None:
    """A reset connection is a disconnect with 1006, and sending to it raises."""
    disconnected: asyncio.Future[tuple[int, bool]] = asyncio.get_running_loop().create_future()

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None})
        event = await receive()
        try:
            await send({"type": "websocket.send", "text": "anybody?"})
        except OSError:
            disconnected.set_result((event["code"], True))

    async with serve_feeds(app, "127.0.0.1", 0) as port:
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(HANDSHAKE)
        client.close()
        assert await asyncio.wait_for(disconnected, scaled(10)) == (1006, True)


async def test_occupied_port_is_an_error_of_one_line() -> None:
    """A worker that cannot listen must not run on without its feeds."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ServerFailedError, match=f"cannot listen on port {port}"):
            async with serve_feeds(echo, "127.0.0.1", port):
                pass
