"""permessage-deflate on the feed server: offers that it accepts, messages that it compresses, bounds."""

import asyncio
import contextlib
import random
import struct
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from quotecast import framing
from quotecast.framing import LEAST_DEFLATED_BYTES, MANY_READERS, TAIL, Frame
from quotecast.market.codec import encode_json
from quotecast.stream.outlet import WRITER
from quotecast.stream.server import serve_feeds
from support.made.market import stock

BROWSER = "permessage-deflate; client_max_window_bits"
AGREED = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"


class Broadcast:
    """An application that sends each message to all its clients in a row, as the hub does."""

    def __init__(self) -> None:
        self.writers: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Accepts a client and serves it until it leaves."""
        await receive()
        await send({"type": "websocket.accept", "subprotocol": next(iter(scope["subprotocols"]), None)})
        self.writers.append(scope["extensions"][WRITER])
        while (event := await receive())["type"] == "websocket.receive":
            await send({**event, "type": "websocket.send"})

    def publish(self, message: str | bytes) -> None:
        """Starts to send the same object to everybody."""
        frame = frame_of(message)
        for writer in self.writers:
            writer.write(frame)


def frame_of(message: str | bytes) -> Frame:
    return Frame(message.encode() if isinstance(message, str) else message, binary=isinstance(message, bytes))


@contextlib.asynccontextmanager
async def clients_of(*compressions: str | None) -> AsyncIterator[tuple[Broadcast, list[ClientConnection]]]:
    """A feed server with a client for each compression that `websockets` knows."""
    app = Broadcast()
    async with serve_feeds(app, "127.0.0.1", 0) as port, contextlib.AsyncExitStack() as stack:
        url = f"ws://127.0.0.1:{port}/feed"
        clients = [
            await stack.enter_async_context(connect(url, compression=each, max_size=None))
            for each in compressions
        ]
        for client in clients:  # an answer shows that the application has accepted the client
            await client.send("x")
            assert await client.recv() == "x"
        yield app, clients


def text_of(size: int) -> str:
    """Returns text that compresses as quotes do."""
    return "".join(f'{{"price":{number}.25}}' for number in range(1 + size // 8))[:size]


@pytest.fixture
def compressions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the messages that were compressed."""
    sizes: list[int] = []

    def counted(payload: bytes, readers: int) -> bytes:
        sizes.append(len(payload))
        return original(payload, readers)

    original = framing.deflate
    monkeypatch.setattr(framing, "deflate", counted)
    return sizes


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        (BROWSER, AGREED),
        ("permessage-deflate", AGREED),
        ("permessage-deflate; server_max_window_bits=15", f"{AGREED}; server_max_window_bits=15"),
        ("permessage-deflate; client_max_window_bits=10", f"{AGREED}; client_max_window_bits=10"),
        ("permessage-deflate; server_max_window_bits=10, permessage-deflate", AGREED),
        ("permessage-deflate; server_max_window_bits=10", ""),
        ("permessage-deflate; nonsense", ""),
        ("x-webkit-deflate-frame", ""),
        ("", ""),
    ],
)
async def test_offer_is_answered_without_context_takeover(offer: str, answer: str) -> None:
    """The server declines a smaller window of its own, since all clients share one compressed frame."""
    async with serve_feeds(Broadcast(), "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(handshake(offer))
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.close()
    assert head.startswith("HTTP/1.1 101 ")
    lines = [line for line in head.split("\r\n") if line.lower().startswith("sec-websocket-extensions:")]
    assert lines == ([f"Sec-WebSocket-Extensions: {answer}"] if answer else [])


def handshake(offer: str) -> bytes:
    """Returns a handshake that offers extensions."""
    extensions = f"Sec-WebSocket-Extensions: {offer}\r\n" if offer else ""
    return (
        "GET /feed HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{extensions}\r\n"
    ).encode()


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 4096, 16_383, 16_384, 100_000])
async def test_all_clients_read_the_same_message(size: int, compressions: list[int]) -> None:
    """A message is compressed at most once, however many clients share it."""
    async with clients_of("deflate", None, "deflate", "deflate") as (app, clients):
        for message in (text_of(size), text_of(size).encode(), "Gram Altın"):
            app.publish(message)
            assert [await client.recv() for client in clients] == [message] * 4
    assert compressions == ([size] * 2 if size >= LEAST_DEFLATED_BYTES else [])


@pytest.mark.parametrize("size", [LEAST_DEFLATED_BYTES, 100_000])
async def test_message_for_one_client_is_not_compressed(size: int, compressions: list[int]) -> None:
    """A list of a client's own costs no compressor, however long it is."""
    async with clients_of("deflate", None) as (app, clients):
        app.publish(message := text_of(size))
        assert [await client.recv() for client in clients] == [message] * 2
    assert compressions == []


def test_a_frame_for_many_readers_is_compressed_better() -> None:
    """Both forms inflate to the same quotes; that for 200 readers is smaller by a tenth at least."""
    chance = random.Random(1)
    quotes = [stock(f"S{number}", chance.randint(100, 90_000) / 100) for number in range(500)]
    payload = b",".join(encode_json(quote) for quote in quotes)
    few, many = (framing.deflate(payload, readers) for readers in (MANY_READERS - 1, MANY_READERS))
    assert {zlib.decompress(each + TAIL + b"\x03\x00", wbits=-15) for each in (few, many)} == {payload}
    assert len(many) < 0.9 * len(few)


async def test_large_snapshot_is_compressed_once_between_other_messages(compressions: list[int]) -> None:
    """Clients that come one after the other are each greeted first."""
    async with clients_of("deflate", "deflate", "deflate") as (app, clients):
        snapshot = text_of(50_000)
        frame = frame_of(snapshot)
        for number, (writer, client) in enumerate(zip(app.writers, clients, strict=True)):
            writer.write(frame_of(f"welcome {number}"))
            writer.write(frame)
            assert [await client.recv(), await client.recv()] == [f"welcome {number}", snapshot]
    assert compressions == [50_000]


async def test_aiohttp_reads_every_frame(compressions: list[int]) -> None:
    """A client with a permessage-deflate of its own: two share a frame, a third gets it plain."""
    app = Broadcast()
    messages: list[str | bytes] = [text_of(size) for size in (90, 5000, 100, 70_000)]
    messages += [b"\x82" * 3000, text_of(5000)]
    async with contextlib.AsyncExitStack() as stack:
        port = await stack.enter_async_context(serve_feeds(app, "127.0.0.1", 0))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        clients = [
            await stack.enter_async_context(
                session.ws_connect(f"http://127.0.0.1:{port}/feed", compress=bits)
            )
            for bits in (15, 15, 0)
        ]
        assert [client.compress for client in clients] == [15, 15, 0]
        for client in clients:  # a long command, compressed where that is agreed
            await client.send_str(greeting := text_of(3000))
            assert await client.receive_str() == greeting
        for message in messages:
            app.publish(message)
        for client in clients:
            assert [(await client.receive()).data for _ in messages] == messages
    assert compressions == [5000, 70_000, 3000, 5000]


async def test_commands_may_be_compressed() -> None:
    """Also in fragments."""
    async with clients_of("deflate") as (_, [client]):
        message = text_of(5000)
        await client.send(message)
        assert await client.recv() == message
        await client.send([message[:2000], message[2000:]])
        assert await client.recv() == message


async def test_bomb_is_refused_with_1009() -> None:
    """The server inflates no more than a message may have."""
    async with clients_of("deflate", "deflate") as (_, [client, other]):
        await client.send("0" * (64 << 20))
        with pytest.raises(ConnectionClosedError) as closing:
            await client.recv()
        assert closing.value.rcvd is not None
        assert closing.value.rcvd.code == 1009
        await other.send("still there?")
        assert await other.recv() == "still there?"


@pytest.mark.parametrize(
    ("offer", "payload"),
    [
        pytest.param(BROWSER, b"\xff\xff\xff\xff", id="no deflate data"),
        pytest.param("", zlib.compress(b"{}")[2:-4], id="nothing agreed"),
    ],
)
async def test_bad_compression_is_refused_with_1002(offer: str, payload: bytes) -> None:
    """It costs the client its connection."""
    async with serve_feeds(Broadcast(), "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(handshake(offer))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(struct.pack("!BB", 0xC1, 0x80 | len(payload)) + bytes(4) + payload)
        head = await reader.readexactly(2)
        code = struct.unpack("!H", (await reader.readexactly(head[1]))[:2])[0]
        writer.close()
    assert (head[0], code) == (0x88, 1002)


async def test_client_without_offer_gets_plain_frames(compressions: list[int]) -> None:
    """As before there was compression."""
    async with clients_of(None, None) as (app, clients):
        app.publish(message := text_of(100_000))
        assert [await client.recv() for client in clients] == [message] * 2
        assert clients[0].protocol.extensions == []
    assert compressions == []


async def test_subprotocol_that_deflates_is_not_compressed_again(compressions: list[int]) -> None:
    """Its frames are compressed already."""
    app = Broadcast()
    name: Any = "quotecast.v1.json.deflate"
    async with (
        serve_feeds(app, "127.0.0.1", 0) as port,
        connect(
            f"ws://127.0.0.1:{port}/feed",
            subprotocols=[name],
            compression=None,
            extensions=[ClientPerMessageDeflateFactory()],
            max_size=None,
        ) as client,
    ):
        await client.send("x")
        await client.recv()
        message = text_of(100_000)
        for _ in range(2):
            app.publish(message)
            assert await client.recv() == message
    assert compressions == []
