"""One port for feeds and HTTP: the front's dispatch, and forwarding without loss or unbounded buffers."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect

from quotecast.asgi import App
from quotecast.stream import front
from quotecast.stream import server as feed_server
from quotecast.stream.front import Front
from quotecast.stream.server import (
    UNREAD_SECONDS,
    connection_factory,
    limit_unread_bytes,
    listeners_of,
    listening_socket,
)
from support.runs.deadlines import scaled
from support.runs.waits import until

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
REQUEST = b"GET /api/health HTTP/1.1\r\nHost: test\r\n\r\n"
HANDSHAKE = (
    b"GET /api/ws/market HTTP/1.1\r\nHost: test\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PATIENCE_SECONDS = 15


class Opened:
    """A front, with its port and the port of the server behind it."""

    def __init__(self, door: Front, port: int, behind: int) -> None:
        self.front = door
        self.port = port
        self.behind = behind

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


@contextlib.asynccontextmanager
async def opened(handler: Handler) -> AsyncIterator[Opened]:
    handling: set[asyncio.Task[Any]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handling.add(task)
        with contextlib.suppress(ConnectionError):
            await handler(reader, writer)
        writer.transport.abort()

    async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        behind = server.sockets[0].getsockname()[1]
        door = Front(connection_factory(greet), behind)
        with reserved() as port:
            async with door.listen("127.0.0.1", port):
                yield Opened(door, port, behind)
        server.close()
        await asyncio.gather(*handling)


@contextlib.contextmanager
def reserved() -> Any:
    with socket.socket() as reserving:
        reserving.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserving.bind(("127.0.0.1", 0))
        yield reserving.getsockname()[1]


async def greet(_scope: Any, receive: Any, send: Any) -> None:
    """A feed that sends one message."""
    await receive()
    await send({"type": "websocket.accept", "subprotocol": None})
    await send({"type": "websocket.send", "text": "a feed"})
    await receive()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def nobody(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()
    raise AssertionError("this connection is not HTTP's")


async def test_a_handshake_becomes_a_feed() -> None:
    """Also when its bytes arrive one by one."""
    async with opened(nobody) as door:
        async with connect(f"ws://127.0.0.1:{door.port}/api/ws/market") as client:
            assert await client.recv() == "a feed"
        reader, writer = await door.connect()
        for byte in HANDSHAKE:
            writer.write(bytes([byte]))
            await writer.drain()
        assert (await reader.readline()).startswith(b"HTTP/1.1 101")
        writer.close()


@pytest.mark.parametrize(
    "head",
    [
        REQUEST,
        b"G",
        b"\x16\x03\x01",
        HANDSHAKE.replace(b"Upgrade: WebSocket\r\n", b""),
        b"GET /api/ws\r\n\r\n",
    ],
    ids=["a request", "a letter and more", "no HTTP", "no upgrade", "another path"],
)
async def test_all_else_is_passed_on(head: bytes) -> None:
    """The front forwards every byte in both directions."""
    async with opened(echo) as door:
        reader, writer = await door.connect()
        rest = b"x" * 3_000_000
        writer.write(head)
        await writer.drain()
        writer.write(b" rest " + rest)
        assert await reader.readexactly(len(head) + 6 + len(rest)) == head + b" rest " + rest
        writer.close()


async def test_the_application_sees_the_client() -> None:
    """It does not see the worker's own address; a request that bypasses the front is 403."""
    seen: list[Any] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["client"])

    sent: list[dict[str, Any]] = []

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    peers: asyncio.Queue[Any] = asyncio.Queue()

    async def note(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.put_nowait(writer.get_extra_info("peername"))
        writer.close()

    async with opened(note) as door:
        named: App = door.front.with_client_addresses(app)
        _, writer = await door.connect()
        writer.write(REQUEST)
        # Granian writes ports as text.
        host, port = await peers.get()
        await named({"client": (host, str(port))}, None, send)
        assert seen == [writer.get_extra_info("sockname")]
        await named({"client": ("127.0.0.1", "1")}, None, send)
        assert (len(seen), sent[0]["status"]) == (1, 403)
        writer.close()


async def test_an_end_closes_with_the_other() -> None:
    """The front holds nothing of either end, whichever closes first."""
    ended = asyncio.Event()

    async def until_left(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        if b"leave" in await reader.readline():
            writer.close()
            return
        await reader.read()
        writer.close()
        ended.set()

    async with opened(until_left) as door:
        reader, writer = await door.connect()
        writer.write(b"hello\nleave\n")
        assert await reader.read() == b""
        writer.close()
        _, writer = await door.connect()
        writer.write(b"hello\nstay\n")
        await writer.drain()
        writer.close()
        await ended.wait()
        await door.front._empty.wait()
        await until(lambda: not door.front.peers)


async def test_a_client_that_does_not_read_stops_the_server() -> None:
    """Buffers between the two are bounded."""
    stuck = asyncio.Event()
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readline()
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * 65_536)
                sent += 65_536
                try:
                    async with asyncio.timeout(1):
                        await writer.drain()
                except TimeoutError:
                    stuck.set()
                    await reader.read()
                    return

    async with opened(flood) as door:
        _, writer = await door.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport
        writer.write(b"go\n")
        await stuck.wait()
        # The kernel's buffers on four ends; 64 KB are ours.
        assert sent < 64 * 1024 * 1024
        writer.transport.abort()


async def test_silence_and_an_absent_server_end_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front closes a silent connection, and answers 503 when the server is absent."""
    monkeypatch.setattr(front, "FIRST_BYTES_SECONDS", 0.05)
    async with opened(nobody) as door:
        reader, writer = await door.connect()
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
    monkeypatch.undo()
    with reserved() as absent, reserved() as port:
        door_to_nowhere = Front(connection_factory(greet), absent)
        async with door_to_nowhere.listen("127.0.0.1", port), asyncio.timeout(scaled(PATIENCE_SECONDS)):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(REQUEST)
            assert (await reader.readline()).startswith(b"HTTP/1.1 503 ")
            writer.close()


async def test_the_kernel_gives_up_a_client_that_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unread bytes have a deadline, even while the client stays connected."""
    monkeypatch.setattr(feed_server, "UNREAD_SECONDS", 0.5)
    lost = asyncio.get_running_loop().create_future()

    class Endless(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            transport.write(b"x" * 32 * 1024 * 1024)

        def connection_lost(self, exc: Exception | None) -> None:
            lost.set_result(exc)

    listening = listening_socket("127.0.0.1", 0)
    server = await asyncio.get_running_loop().create_server(Endless, sock=listening)
    with socket.create_connection(listening.getsockname()):
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
            assert isinstance(await lost, TimeoutError)
    server.close()


def test_a_listener_of_a_library_is_found_and_bounded() -> None:
    """Other sockets of the process keep their options."""
    with socket.create_server(("127.0.0.1", 0)) as library, socket.create_server(("127.0.0.1", 0)) as other:
        (found,) = map(socket.socket.dup, listeners_of(library.getsockname()[1]))
        with found:
            limit_unread_bytes(found)
        name = socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT
        assert (library.getsockopt(*name), other.getsockopt(*name)) == (UNREAD_SECONDS * 1000, 0)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_all_addresses_are_those_of_both_families(address: str) -> None:
    """`::` listens on IPv4 and IPv6, as elsewhere in this service."""
    with listening_socket("::", 0) as listening:
        socket.create_connection((address, listening.getsockname()[1])).close()
