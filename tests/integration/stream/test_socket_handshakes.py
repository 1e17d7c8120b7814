"""The WebSocket server of the feeds accepts a handshake and closes any other connection."""

import asyncio
import contextlib
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from quotecast.stream import server
from quotecast.stream.listeners import serve_feeds
from support.feed_sockets import HANDSHAKE, echo, raw


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
        answer = await asyncio.wait_for(reader.read(), 10)
    assert answer.startswith(b"HTTP/1.1 " + status)


async def _unheard(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("nobody asked for a feed")


async def test_noise_is_cut_off() -> None:
    """The server closes a connection whose bytes are no HTTP."""
    async with serve_feeds(_unheard, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(b"\x16\x03\x01\x00\xff" * 100 + b"\r\n\r\n")
        assert await asyncio.wait_for(reader.read(), 10) == b""


async def test_silent_client_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open connection without a handshake costs a socket."""
    monkeypatch.setattr(server, "HANDSHAKE_SECONDS", 0.05)
    async with serve_feeds(_unheard, "127.0.0.1", 0) as port, raw(port) as (reader, writer):
        writer.write(HANDSHAKE[:40])
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), 10) == b""
