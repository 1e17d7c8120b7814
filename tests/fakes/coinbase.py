"""A local Coinbase Exchange: REST and WebSocket on one port, with the misbehaviour a test asks for."""

import argparse
import asyncio
import contextlib
import itertools
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import msgspec
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

CHANNELS: Final = {
    "ticker": "ticker",
    "match": "matches",
    "last_match": "matches",
    "heartbeat": "heartbeat",
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; with no body, none comes."""

    body: bytes | None = b"[]"
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


HTML_503: Final = Answer(b"<html>Service Unavailable</html>", 503, "text/html")
TOO_MANY: Final = Answer(b'{"message":"Public rate limit exceeded"}', 429, headers={"Retry-After": "7"})
TRUNCATED: Final = Answer(b'[{"id":"BTC-USD","status":"onl')
REDIRECT: Final = Answer(b"", 302, headers={"Location": "/elsewhere"})
HANGING: Final = Answer(None)


def huge() -> Answer:
    """Valid JSON, one byte more than eight megabytes."""
    return Answer(b"[" + b" " * (8 * 1024 * 1024 - 1) + b"]")


@dataclass(frozen=True)
class Said:
    """One message of the script, and the seconds to wait before it."""

    text: str
    pause: float = 0.0


def recorded(path: Path) -> Iterator[Said]:
    """A recording as a script, its gaps kept."""
    before = None
    for line in path.read_text().splitlines():
        time, _, text = line.partition(" ")
        yield Said(text, max(float(time) - (before or float(time)), 0.0))
        before = float(time)


class FakeCoinbase:
    """Serves inside `async with`; every attribute may be changed while it serves.

    Each connection that subscribes is told the whole `script`, as far as it concerns its products and
    channels, and then what `ending` says. `answers` stand in for a path's own; `/` is the WebSocket's.
    """

    def __init__(self, products: Sequence[Row], currencies: Sequence[Row] = (), port: int = 0) -> None:
        self.products = products
        self.currencies = currencies
        self.script: Iterable[Said] = ()
        self.ending: Literal["heartbeats", "silence", "abort", "error"] = "heartbeats"
        self.acknowledges = True
        self.answers: dict[str, Answer] = {}
        self.heartbeat_seconds = 1.0
        self.subscribe_seconds = 5.0
        #: What clients did.
        self.requests: list[Request] = []
        self.subscribes: list[Row] = []
        self.closed = asyncio.Event()
        #: The script was told to the end.
        self.played = asyncio.Event()
        self._port = port
        self._stopping = asyncio.Event()
        self._server: Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def websocket_url(self) -> str:
        return f"ws://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._talk, "127.0.0.1", self._port, process_request=self._answer, close_timeout=1
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server
        self._stopping.set()
        self._server.close()
        await self._server.wait_closed()

    async def _answer(self, _: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        path = request.path.partition("?")[0]
        if "User-Agent" not in request.headers:
            return _response(Answer(b'{"message":"User-Agent header is required."}', 400))
        if path in self.answers:
            return await self._canned(self.answers[path])
        if path == "/" and "Upgrade" in request.headers:
            return None
        rows = {"/products": self.products, "/currencies": self.currencies}.get(path)
        if rows is None:
            return _response(Answer(b'{"message":"NotFound"}', 404))
        return _response(Answer(msgspec.json.encode(rows)))

    async def _canned(self, answer: Answer) -> Response:
        if answer.body is None:
            await self._stopping.wait()
        return _response(answer)

    async def _talk(self, connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            subscribed: dict[str, set[str]] = {}
            async with asyncio.timeout(self.subscribe_seconds):
                if not await self._subscribe(connection, await connection.recv(), subscribed):
                    return
            async with _running(self._play(connection, subscribed)):
                async for command in connection:
                    if not await self._subscribe(connection, command, subscribed):
                        return
        self.closed.set()

    async def _subscribe(
        self, connection: ServerConnection, command: str | bytes, subscribed: dict[str, set[str]]
    ) -> bool:
        """Widens `subscribed` and says so; False when the command was bad."""
        try:
            asked = msgspec.json.decode(command)
            channels, products = asked["channels"], set(asked["product_ids"])
        except (ValueError, TypeError, KeyError):
            await _fail(connection, "Malformed JSON")
            return False
        self.subscribes.append(asked)
        for product in products - {row["id"] for row in self.products}:
            await _fail(connection, f"{product} is not a valid product")
            return False
        for channel in channels:
            subscribed.setdefault(channel, set()).update(products)
        if self.acknowledges:
            sets = [{"name": name, "product_ids": sorted(of)} for name, of in subscribed.items()]
            await _send(connection, {"type": "subscriptions", "channels": sets})
        return True

    async def _play(self, connection: ServerConnection, subscribed: dict[str, set[str]]) -> None:
        for said in self.script:
            if said.pause:
                await asyncio.sleep(said.pause)
            if _concerns(said.text, subscribed):
                await connection.send(said.text)
        self.played.set()
        if self.ending == "abort":
            connection.transport.abort()
        elif self.ending == "error":
            await _fail(connection, "internal")
        elif self.ending == "heartbeats":
            await self._beat(connection, subscribed)

    async def _beat(self, connection: ServerConnection, subscribed: dict[str, set[str]]) -> None:
        for sequence in itertools.count(1):
            for product in sorted(subscribed.get("heartbeat", ())):
                await _send(
                    connection,
                    {"type": "heartbeat", "sequence": sequence, "last_trade_id": 0, "product_id": product},
                )
            await asyncio.sleep(self.heartbeat_seconds)


def _response(answer: Answer) -> Response:
    body = answer.body or b""
    headers = Headers(answer.headers)
    headers.update(
        {"Content-Type": answer.content_type, "Content-Length": str(len(body)), "Connection": "close"}
    )
    return Response(answer.status, "as asked", headers, body)


def _concerns(text: str, subscribed: dict[str, set[str]]) -> bool:
    """Whether a message goes to such a subscriber; what cannot be read goes to everyone."""
    try:
        message = msgspec.json.decode(text)
        kind, product = message["type"], message.get("product_id")
    except (ValueError, TypeError, KeyError):
        return True
    if kind == "subscriptions":
        return False
    return product is None or product in subscribed.get(CHANNELS.get(kind, ""), ())


async def _send(connection: ServerConnection, message: Row) -> None:
    await connection.send(msgspec.json.encode(message), text=True)


async def _fail(connection: ServerConnection, reason: str) -> None:
    await _send(connection, {"type": "error", "message": "Failed to subscribe", "reason": reason})
    await connection.close()


@contextlib.asynccontextmanager
async def _running(work: Any) -> AsyncIterator[None]:
    """`work` goes on in the background for as long as the block lasts."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
            await task


async def _serve_script(script: Sequence[Said], products: Sequence[Row], port: int) -> None:
    async with FakeCoinbase(products, port=port) as fake:
        fake.script = script
        sys.stdout.write(f"{fake.url}\n{fake.websocket_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves a recorded Coinbase session on a local port.")
    parser.add_argument("recording", type=Path, help="lines of `<unix receive time> <JSON>`")
    parser.add_argument("products", type=Path, help="what /products answered that day")
    parser.add_argument("--port", type=int, default=0, help="any free one by default")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        products = msgspec.json.decode(options.products.read_bytes())
        asyncio.run(_serve_script(list(recorded(options.recording)), products, options.port))


if __name__ == "__main__":
    main()
