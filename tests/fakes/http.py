"""Base of the fake upstreams: HTTP and WebSocket on one local port, with the faults that a test asks for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qsl, unquote

import msgspec
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

Row = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """An HTTP answer. Without a body the connection hangs; an endless body goes on while the client reads.

    `missing` is how many bytes of the announced length the server never sends.
    """

    body: bytes | None = b"[]"
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False
    missing: int = 0

    @classmethod
    def of(cls, value: Any, status: int = 200, **headers: str) -> "Answer":
        return cls(
            msgspec.json.encode(value), status, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )


HTML_503: Final = Answer(b"<html>Service Unavailable</html>", 503, "text/html")
TOO_MANY: Final = Answer(b'{"message":"too many requests"}', 429, headers={"Retry-After": "7"})
SERVER_ERROR: Final = Answer(b'{"message":"internal"}', 500)
TRUNCATED: Final = Answer(b'[{"id":"BTC-USD","status":"onl')
REDIRECT: Final = Answer(b"", 302, headers={"Location": "/elsewhere"})
HANGING: Final = Answer(None)
ENDLESS: Final = Answer(b" " * 65_536, endless=True)


def huge() -> Answer:
    """Returns valid JSON, one byte longer than eight megabytes."""
    return Answer(b"[" + b" " * (8 * 1024 * 1024 - 1) + b"]")


@dataclass(frozen=True)
class HttpRequest:
    """A request: decoded path and query, header names in any case, and the raw `target`."""

    path: str
    query: Mapping[str, str]
    headers: Headers
    target: str


class FakeHttp:
    """A server that listens inside `async with`; tests may change every attribute while it serves.

    A subclass answers paths in `respond` and WebSockets in `talk`. `answers` overrides the answers of
    paths,
    `everywhere` those of all paths.
    """

    def __init__(self, port: int = 0) -> None:
        self.answers: dict[str, Answer] = {}
        self.everywhere: Answer | None = None
        #: Requests of clients.
        self.requests: list[HttpRequest] = []
        self.stopping = asyncio.Event()
        self._port = port
        self._server: Server | None = None

    def respond(self, request: HttpRequest) -> Answer:
        """Returns the answer of a path."""
        raise NotImplementedError

    async def talk(self, connection: ServerConnection) -> None:
        """Serves one WebSocket; upstreams without WebSockets close it at once."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def websocket_url(self) -> str:
        return f"ws://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self.talk, "127.0.0.1", self._port, process_request=self._process, close_timeout=1
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server
        self.stopping.set()
        self._server.close()
        await self._server.wait_closed()

    async def _process(self, connection: ServerConnection, request: Request) -> Response | None:
        path, _, query = request.path.partition("?")
        parameters = dict(parse_qsl(query, keep_blank_values=True))
        parsed = HttpRequest(unquote(path), parameters, request.headers, request.path)
        self.requests.append(parsed)
        answer = self.everywhere or self.answers.get(parsed.path)
        if answer is None:
            if "Upgrade" in request.headers:
                return None
            answer = self.respond(parsed)
        if answer.body is None:
            await self.stopping.wait()
        if answer.endless:
            await self._write_endlessly(connection, answer)
        return _response(answer)

    async def _write_endlessly(self, connection: ServerConnection, answer: Answer) -> None:
        """Writes while the client reads."""
        transport = connection.transport
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {answer.content_type}\r\nConnection: close\r\n\r\n"
        transport.write(head.encode())
        while not transport.is_closing() and not self.stopping.is_set():
            if transport.get_write_buffer_size() < 1024 * 1024:
                transport.write(answer.body or b" ")
            await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def running(work: Any) -> AsyncIterator[None]:
    """Runs `work` in the background inside `async with`."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _response(answer: Answer) -> Response:
    body = answer.body or b""
    headers = Headers(answer.headers)
    length = str(len(body) + answer.missing)
    headers.update({"Content-Type": answer.content_type, "Content-Length": length, "Connection": "close"})
    return Response(answer.status, "as asked", headers, body)
