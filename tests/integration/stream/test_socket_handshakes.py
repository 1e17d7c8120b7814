"""The WebSocket server of the feeds accepts a handshake and closes any other connection."""

import asyncio
import contextlib
import json
import socket
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from quotecast.framing import deflate
from quotecast.stream import outlet, server
from quotecast.stream.outlet import WRITER, send_now
from quotecast.stream.server import serve_feeds
from support.runs.deadlines import scaled
from support.stages.feed_sockets import HANDSHAKE, echo, raw


async def test_the_application_sees_what_was_asked_for() -> None:
    """The scope has path, query, headers and subprotocols, as in any ASGI server."""
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)
        await echo(scope, receive, send)

    async with serve_feeds(app, "127.0.0.1", 0) as port:
        url = f"ws://127.0.0.1:{port}/api/%C3%A9?symbols=BTC%2FUSDT"
        async with connect(url, subprotocols=["one", "two"], origin="https://shop.example") as client:  # type: ignore[list-item, arg-type]  # plain text
            assert client.subprotocol == "one"
    (scope,) = seen
    assert (scope["type"], scope["path"], scope["query_string"]) == (
        "websocket",
        "/api/é",
        b"symbols=BTC%2FUSDT",
    )
    assert scope["subprotocols"] == ["one", "two"]
    assert (b"origin", b"https://shop.example") in scope["headers"]
    assert scope["client"][0] == "127.0.0.1"


async def test_refused_handshake_is_403() -> None:
    """An ASGI application refuses by a close before the accept."""

    async def refuse(_scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.close", "code": 1008})

    async with serve_feeds(refuse, "127.0.0.1", 0) as port:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"ws://127.0.0.1:{port}/")
    assert refusal.value.response.status_code == 403


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /feed HTTP/1.1\r\nHost: test\r\n\r\n", b"426"),
        (HANDSHAKE.replace(b"GET", b"POST"), b"405"),
        (HANDSHAKE.replace(b"Version: 13", b"Version: 7"), b"400"),
        (HANDSHAKE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"short"), b"400"),
        (HANDSHAKE.replace(b"Host: test", b"X: " + b"a" * 20_000), b"431"),
        (HANDSHAKE.replace(b"/feed", b"/" + b"a" * 20_000), b"414"),
    ],
)
async def test_what_is_no_handshake_is_answered_and_closed(request_bytes: bytes, status: bytes) -> None:
    """The application never sees the request."""
    async with serve_feeds(_unheard, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(request_bytes)
        answer = await asyncio.wait_for(reader.read(), scaled(10))
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert json.loads(answer.partition(b"\r\n\r\n")[2]).keys() == {"detail", "code", "request_id"}


async def test_answer_and_first_frames_are_one_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of the kernel are most of a handshake's time."""
    sent: list[bytes] = []

    def note(connection: socket.socket, data: bytes) -> bytes | memoryview:
        sent.append(data)
        return send_now(connection, data)

    async def greet(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None})
        for size in (1, 2, 3, outlet.MAX_HELD_BYTES, 4):
            await send({"type": "websocket.send", "bytes": b"x" * size})
        await receive()

    monkeypatch.setattr(outlet, "send_now", note)
    async with serve_feeds(greet, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        assert await reader.readexactly(12) == b"\x82\x01x\x82\x02xx\x82\x03xxx"
        await reader.readexactly(10 + outlet.MAX_HELD_BYTES + 6)
    # What is too large to join goes after the rest, and ends the joining.
    assert [data.count(b"\x82\x02") for data in sent[:2]] == [1, 0]
    assert len(sent) <= 3


async def test_message_before_the_answer_is_read_after_it() -> None:
    """A client need not wait for the answer to its handshake."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def late(scope: Any, receive: Any, send: Any) -> None:
        asked.set()
        await go.wait()
        await echo(scope, receive, send)

    async with serve_feeds(late, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE)
        await asked.wait()
        writer.write(b"\x81\x85" + bytes(4) + b"early")
        await asyncio.sleep(0)
        go.set()
        await reader.readuntil(b"\r\n\r\n")
        assert await asyncio.wait_for(reader.readexactly(7), scaled(10)) == b"\x81\x05early"


def parses(connection: Any) -> bool:
    """Returns whether a connection has a parser."""
    return connection._incoming is not None


@pytest.mark.parametrize("offer", [b"", b"Sec-WebSocket-Extensions: permessage-deflate\r\n"])
async def test_an_open_connection_has_a_parser_only_while_a_message_arrives(offer: bytes) -> None:
    """It is most of what an idle connection would hold."""
    sockets: list[Any] = []

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        sockets.append(scope["extensions"][WRITER])
        await echo(scope, receive, send)

    async with serve_feeds(noted, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE[:-2] + offer + b"\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert not parses(sockets[0])
        for part in (b"\x01\x82", bytes(4) + b"ab", b"\x89\x80" + bytes(4)):
            writer.write(part)
        assert await reader.readexactly(2) == b"\x8a\x00"
        assert parses(sockets[0])
        writer.write(b"\x80\x81" + bytes(4) + b"c")
        assert await reader.readexactly(5) == b"\x81\x03abc"
        assert not parses(sockets[0])
        deflated = deflate(b"compressed") if offer else b"plain"
        writer.write(bytes([0xC1 if offer else 0x81, 0x80 | len(deflated)]) + bytes(4) + deflated)
        message = b"compressed" if offer else b"plain"
        assert await reader.readexactly(2 + len(message)) == bytes([0x81, len(message)]) + message
        assert not parses(sockets[0])


async def _unheard(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("nobody asked for a feed")


async def test_noise_is_cut_off() -> None:
    """The server closes a connection whose bytes are no HTTP."""
    async with serve_feeds(_unheard, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(b"\x16\x03\x01\x00\xff" * 100 + b"\r\n\r\n")
        assert await asyncio.wait_for(reader.read(), scaled(10)) == b""


async def test_silent_client_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open connection without a handshake costs a socket."""
    monkeypatch.setattr(server, "HANDSHAKE_SECONDS", 0.05)
    async with serve_feeds(_unheard, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE[:40])
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), scaled(10)) == b""
