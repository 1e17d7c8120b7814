"""Base of the fake upstreams: a server of the simulated vendors with the faults that a test asks for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Final

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Response

from quotecast.simulation.vendors import http
from quotecast.simulation.vendors.http import HttpRequest, Row, Server, response_of

__all__ = ["Answer", "FakeHttp", "HttpRequest", "Row", "running"]


class Answer(http.Answer, frozen=True):
    """An HTTP answer that may fail: it hangs, goes on while the client reads, or ends too early.

    `missing` is how many bytes of the announced length the server never sends.
    """

    hangs: bool = False
    endless: bool = False
    missing: int = 0


#: A port at which nothing listens. That of a server that has ended may be another program's at once.
UNUSED_PORT: Final = 1
HTML_503: Final = Answer(b"<html>Service Unavailable</html>", 503, "text/html")
TOO_MANY: Final = Answer(b'{"message":"too many requests"}', 429, headers={"Retry-After": "7"})
SERVER_ERROR: Final = Answer(b'{"message":"internal"}', 500)
TRUNCATED: Final = Answer(b'[{"id":"BTC-USD","status":"onl')
REDIRECT: Final = Answer(b"", 302, headers={"Location": "/elsewhere"})
HANGING: Final = Answer(hangs=True)
ENDLESS: Final = Answer(b" " * 65_536, endless=True)


def huge() -> Answer:
    """Returns valid JSON, one byte longer than eight megabytes."""
    return Answer(b"[" + b" " * (8 * 1024 * 1024 - 1) + b"]")


class FakeHttp(Server):
    """A server that listens inside `async with`; tests may change every attribute while it serves.

    `answers` overrides the answers of paths, `everywhere` those of all paths.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.answers: dict[str, http.Answer] = {}
        self.everywhere: http.Answer | None = None
        #: Requests of clients.
        self.requests: list[HttpRequest] = []
        self.stopping = asyncio.Event()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        await super().__aexit__(kind, error, trace)

    async def handle(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """See Server; an override comes before the answer of the path, also for handshakes."""
        self.requests.append(request)
        answer = self.everywhere or self.answers.get(request.path)
        if answer is None:
            if "Upgrade" in request.headers:
                return None
            answer = self.respond(request)
        return response_of(await self._spoil(connection, answer) if isinstance(answer, Answer) else answer)

    async def _spoil(self, connection: ServerConnection, answer: Answer) -> http.Answer:
        if answer.hangs:
            await self.stopping.wait()
        if answer.endless:
            await self._write_endlessly(connection, answer)
        length = str(len(answer.body) + answer.missing)
        return http.Answer(
            answer.body,
            answer.status,
            answer.content_type,
            {**answer.headers, "Content-Length": length},
        )

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
