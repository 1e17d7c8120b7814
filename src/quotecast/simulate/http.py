"""A local server of HTTP and WebSockets on one port, on the library `websockets`."""

from collections.abc import Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qsl, unquote

import msgspec
from msgspec import Struct
from websockets.asyncio.server import Server as Listener
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from quotecast.simulate.bodies import BodyConnection

#: Bytes that a client may send in one message.
_MAX_MESSAGE_BYTES: Final = 1 << 20

Row = dict[str, Any]


class Answer(Struct, frozen=True):
    """An HTTP answer."""

    body: bytes = b"[]"
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}

    @classmethod
    def of(cls, value: Any, status: int = 200, **headers: str) -> Self:
        """Returns a value as JSON; `_` in names of headers stands for `-`."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(msgspec.json.encode(value), status, headers=named)


class HttpRequest(Struct, frozen=True):
    """A request: decoded path and query, header names in any case, and the raw `target`."""

    path: str
    query: Mapping[str, str]
    headers: Headers
    target: str
    method: str = "GET"
    body: bytes = b""


class Server:
    """A server that listens inside `async with`.

    A subclass answers paths in `respond` and serves WebSockets in `talk`. Port 0 is any free one.
    """

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        self._host = host
        self._port = port
        self._listener: Listener | None = None

    def respond(self, request: HttpRequest) -> Answer:
        """Returns the answer of a path."""
        raise NotImplementedError

    async def talk(self, connection: ServerConnection) -> None:
        """Serves one WebSocket; one without a conversation closes at once."""

    @property
    def url(self) -> str:
        """Returns the address of its HTTP."""
        return f"http://{self._address}"

    @property
    def websocket_url(self) -> str:
        """Returns the address of its WebSockets."""
        return f"ws://{self._address}"

    @property
    def _address(self) -> str:
        return f"{f'[{self._host}]' if ':' in self._host else self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        self._listener = await serve(
            self.talk,
            self._host,
            self._port,
            process_request=self._process,
            create_connection=BodyConnection,
            compression=None,
            server_header=None,
            max_size=_MAX_MESSAGE_BYTES,
            close_timeout=1,
        )
        self._port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener is not None:
            self._listener.close()
            await self._listener.wait_closed()

    async def _process(self, connection: ServerConnection, request: Request) -> Response | None:
        path, _, query = request.path.partition("?")
        parameters = dict(parse_qsl(query, keep_blank_values=True))
        body = connection.body if isinstance(connection, BodyConnection) else b""
        given = HttpRequest(unquote(path), parameters, request.headers, request.path, request.method, body)
        return await self.handle(connection, given)

    async def handle(self, connection: ServerConnection, request: HttpRequest) -> Response | None:
        """Returns the response to a request; None lets a handshake succeed."""
        del connection
        return None if "Upgrade" in request.headers else response_of(self.respond(request))


def response_of(answer: Answer) -> Response:
    """Returns an answer for the library."""
    headers = Headers(answer.headers)
    fixed = {
        "Content-Type": answer.content_type,
        "Content-Length": str(len(answer.body)),
        "Connection": "close",
    }
    headers.update({name: value for name, value in fixed.items() if name not in headers})
    return Response(answer.status, HTTPStatus(answer.status).phrase, headers, answer.body)
