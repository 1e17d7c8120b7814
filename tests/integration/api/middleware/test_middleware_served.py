"""The outermost layer behind the real server."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets
from granian.constants import Interfaces
from granian.server.embed import Server
from litestar import Litestar, Request, get, post
from litestar.params import FromPath

from quotecast.api.middleware.middleware import Middleware
from quotecast.asgi import App
from support.runs.deadlines import scaled

ORIGIN = "https://example.org"
OTHER_ORIGIN = "https://app.example.org"


@get("/api/market/quotes")
async def quotes() -> dict[str, str]:
    return {"ticker": "AAPL"}


@get("/api/crypto/quotes/{symbol:path}")
async def pair(symbol: FromPath[str]) -> dict[str, str]:
    return {"symbol": symbol}


@post("/api/portfolio/holdings")
async def add(request: Request[Any, Any, Any]) -> dict[str, int]:
    return {"length": len(await request.body())}


HTTP = Litestar([quotes, pair, add], openapi_config=None, logging_config=None)


async def feed(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ARG001 - ASGI's signature
    """A fake stream handler, which needs the result of the server's own send."""
    await receive()
    accepting = send({"type": "websocket.accept"})
    assert hasattr(accepting, "done")
    await accepting
    await send({"type": "websocket.send", "text": "welcome"})
    await receive()


@contextlib.asynccontextmanager
async def served(app: App) -> AsyncIterator[str]:
    """The application behind the edge and granian, on a Unix socket."""
    edge = Middleware(
        app, cors_origins=["*"], account_origins=[], websocket_origins=[ORIGIN], body_seconds=0.2
    )
    with tempfile.TemporaryDirectory(prefix="qc") as folder:
        path = Path(folder) / "api.sock"
        server = Server(edge, uds=path, interface=Interfaces.ASGINL, log_enabled=False)
        serving = asyncio.create_task(server.serve())
        async with asyncio.timeout(scaled(10)):
            while not await accepts(path):
                pass
        yield str(path)
        server.stop()  # type: ignore[no-untyped-call]  # granian leaves it untyped
        await serving


async def accepts(path: Path) -> bool:
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except OSError:
        await asyncio.sleep(0.01)
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def test_behind_the_server_escapes_and_head_work() -> None:
    """A pair's slash may be escaped or plain; HEAD leaves the connection usable."""
    async with (
        served(HTTP) as path,
        httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=path), base_url="http://test") as client,
    ):
        for symbol in ("BTC%2FUSDT", "BTC%2fUSDT", "BTC/USDT"):
            response = await client.get(f"/api/crypto/quotes/{symbol}")
            assert response.json() == {"symbol": "/BTC/USDT"}
        head = await client.head("/api/market/quotes")
        assert head.headers["content-length"] == "17"
        assert (await client.get("/api/market/quotes")).content == b'{"ticker":"AAPL"}'
        assert (await client.get("/api/%00")).status_code == 404


async def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    """The client gets 408, and the request does not stay open for ever."""
    async with served(HTTP) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"POST /api/portfolio/holdings HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n{")
        async with asyncio.timeout(scaled(10)):
            assert (await reader.readline()).startswith(b"HTTP/1.1 408")
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("origin", [None, ORIGIN])
async def test_a_feed_opens_from_an_allowed_origin(origin: Any) -> None:
    """Also from clients that are no browsers; its handler has the server's own channel."""
    async with (
        served(feed) as path,
        websockets.unix_connect(path, "ws://test/api/ws/market", origin=origin) as socket,
    ):
        assert await socket.recv() == "welcome"


async def test_a_feed_is_refused_to_any_other_origin() -> None:
    """With 403, before the handshake completes."""
    async with served(feed) as path:
        connecting = websockets.unix_connect(
            path, "ws://test/api/ws/market", origin=websockets.Origin(OTHER_ORIGIN)
        )
        with pytest.raises(websockets.InvalidStatus) as refused:
            await connecting
    assert refused.value.response.status_code == 403
