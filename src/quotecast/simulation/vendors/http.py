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

_END: Final = b"\r\n\r\n"
_MAX_HEAD_BYTES: Final = 64 << 10
_MAX_BODY_BYTES: Final = 1 << 20
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


class BodyConnection(ServerConnection):
    """A connection that takes the body off its first request, and gives the library the request without it.

    A body that is malformed or has more than a megabyte ends the connection without an answer.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.body = b""
        self._waiting: bytes | None = b""

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        if self._waiting is None:
            super().data_received(data)
            return
        self._waiting += data
        head, end, rest = self._waiting.partition(_END)
        if not end and len(head) <= _MAX_HEAD_BYTES:
            return
        fields = head.split(b"\r\n")
        sizes = [field for field in fields if _name_of(field) in {b"content-length", b"transfer-encoding"}]
        if not sizes:
            self._pass_on(self._waiting)
            return
        try:
            body, is_whole = _body_of(sizes, rest)
        except ValueError:
            self.transport.abort()
            return
        if is_whole:
            self.body = body
            self._pass_on(b"\r\n".join(field for field in fields if field not in sizes) + end)

    def _pass_on(self, data: bytes) -> None:
        self._waiting = None
        super().data_received(data)


def _name_of(field: bytes) -> bytes:
    return field.partition(b":")[0].strip().lower()


def _body_of(sizes: list[bytes], received: bytes) -> tuple[bytes, bool]:
    """Returns the body as far as it has come, and whether that is all. Raises ValueError."""
    (size,) = sizes
    value = size.partition(b":")[2].strip()
    if len(received) > _MAX_BODY_BYTES:
        raise ValueError("too long a body")
    if _name_of(size) == b"transfer-encoding":
        return _joined(received)
    if not value.isdigit() or int(value) > _MAX_BODY_BYTES:
        raise ValueError("no length of a body")
    return received[: int(value)], len(received) >= int(value)


def _joined(received: bytes) -> tuple[bytes, bool]:
    """Returns the chunks of a body that have come whole, and whether the last one is among them."""
    body = b""
    while received:
        line, end, received = received.partition(b"\r\n")
        if not end:
            break
        size = int(line.partition(b";")[0], 16)
        if size < 0:
            raise ValueError("no size of a chunk")
        if size == 0:
            return body, received.endswith(b"\r\n")
        if len(received) < size + 2:
            break
        body, received = body + received[:size], received[size + 2 :]
    return body, False
