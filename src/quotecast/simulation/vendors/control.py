"""The private control route of a simulated vendor: starts, lists and ends scenarios while it runs."""

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec
from msgspec import Struct

from quotecast.errors import Problem, ServerFailedError
from quotecast.simulation.market.quoters import iso
from quotecast.simulation.market.scenarios.catalogue import ScenarioError, describe
from quotecast.simulation.market.scenarios.planning import MAX_PLANNED, made_of
from quotecast.simulation.vendors.progress import row_of
from quotecast.simulation.vendors.server import VendorServer

PATH: Final = "/scenarios"
MAX_HEAD_BYTES: Final = 8192
MAX_BODY_BYTES: Final = 65_536
#: Bytes that the route reads of a refused body.
MAX_REST_BYTES: Final = 1 << 20
#: Seconds for one request with its answer, and requests at a time.
REQUEST_SECONDS: Final = 5.0
MAX_REQUESTS: Final = 16

#: Codes of refusals, and their statuses.
_STATUSES: Final = {
    "bad_request": HTTPStatus.BAD_REQUEST,
    "not_authenticated": HTTPStatus.UNAUTHORIZED,
    "not_found": HTTPStatus.NOT_FOUND,
    "method_not_allowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "too_many_scenarios": HTTPStatus.CONFLICT,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
    "headers_too_large": HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
}
_PHRASES: Final = {413: "Content Too Large", 422: "Unprocessable Content"}


class Request(Struct, frozen=True):
    """A request with the names of its headers in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


class ControlError(Exception):
    """A request that the route refuses; `headers` name the remedy."""

    def __init__(self, code: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.code = code
        self.headers = headers


class Control:
    """Answers `GET`, `POST` and `DELETE /scenarios` to clients that have the token."""

    def __init__(self, server: VendorServer, token: str) -> None:
        self._server = server
        self._expected = f"Bearer {token}".encode()
        self._requests = asyncio.Semaphore(MAX_REQUESTS)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request, and closes the connection."""
        broken = (OSError, TimeoutError, asyncio.IncompleteReadError)
        try:
            with contextlib.suppress(*broken):
                async with asyncio.timeout(REQUEST_SECONDS), self._requests:
                    writer.write(await self._response(reader))
                    writer.write_eof()
                    # A connection that closes before the rest of a refused body may lose the answer.
                    left = MAX_REST_BYTES
                    while left > 0 and (data := await reader.read(MAX_HEAD_BYTES)):
                        left -= len(data)
        finally:
            writer.close()

    async def _response(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return _bytes_of(*self.answer(await self._read(reader)))
        except ControlError as error:
            body = msgspec.json.encode(Problem(str(error), code=error.code))
            return _bytes_of(_STATUSES[error.code], body, error.headers)

    async def _read(self, reader: asyncio.StreamReader) -> Request:
        """Returns a request whose token is right; the body is read after that only."""
        request = await read_head(reader)
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, self._expected):
            raise ControlError("not_authenticated", "Not authenticated", www_authenticate="Bearer")
        length = request.headers.get("content-length", "0")
        if "transfer-encoding" in request.headers or not (length.isascii() and length.isdigit()):
            raise ControlError("bad_request", "The body needs a Content-Length")
        if len(length) > 9 or int(length) > MAX_BODY_BYTES:
            raise ControlError("too_large", f"The body may have at most {MAX_BODY_BYTES} bytes")
        return msgspec.structs.replace(request, body=await reader.readexactly(int(length)))

    def answer(self, request: Request) -> tuple[HTTPStatus, bytes]:
        """Returns the status and body of an authenticated request. Raises ControlError."""
        if request.path != PATH:
            raise ControlError("not_found", f"Only {PATH} is here")
        match request.method:
            case "GET":
                return HTTPStatus.OK, msgspec.json.encode(self._overview())
            case "POST":
                return HTTPStatus.CREATED, msgspec.json.encode(self._add(request.body))
            case "DELETE":
                self._server.end_scenarios()
                return HTTPStatus.OK, msgspec.json.encode(self._overview())
            case _:
                raise ControlError("method_not_allowed", "Method Not Allowed", allow="GET, POST, DELETE")

    def _overview(self) -> dict[str, Any]:
        moment, planned = self._server.clock.moment(), self._server.market.schedule.planned
        return {
            "time": iso(moment),
            "running": [row_of(each) for each in planned if each.is_active(moment)],
            "planned": [row_of(each) for each in planned if each.start > moment],
            "known": describe(),
        }

    def _add(self, body: bytes) -> dict[str, Any]:
        schedule, now = self._server.market.schedule, self._server.clock.moment()
        try:
            parameters = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, ValueError):
            raise ControlError("bad_request", "The body is not JSON") from None
        name = parameters.pop("name", None) if isinstance(parameters, dict) else None
        if not isinstance(name, str):
            raise ControlError("invalid", 'Give an object such as {"name": "open-burst", "factor": 5}')
        if len(schedule.planned) >= MAX_PLANNED:
            raise ControlError(
                "too_many_scenarios", f"There may be at most {MAX_PLANNED} scenarios; DELETE ends all"
            )
        try:
            planned = made_of(name, parameters.pop("at", None), parameters, now)
        except ScenarioError as error:
            raise ControlError("invalid", str(error)) from None
        schedule.add(planned)
        return row_of(planned)


@contextlib.asynccontextmanager
async def serving(server: VendorServer, token: str, host: str, port: int) -> AsyncIterator[str]:
    """Serves the route; gives its URL. Raises ServerFailedError if it cannot listen on the port."""
    control = Control(server, token)
    try:
        listener = await asyncio.start_server(control.serve, host, port, limit=MAX_HEAD_BYTES)
    except OSError as error:
        raise ServerFailedError(f"no control route on port {port} of {host}: {error.strerror}") from error
    bound = listener.sockets[0].getsockname()[1]
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}{PATH}"
    finally:
        listener.close()


async def read_head(reader: asyncio.StreamReader) -> Request:
    """Returns a request without its body. Raises ControlError for bytes that are not HTTP."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise ControlError("headers_too_large", "Headers are too large") from None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    words = first.split(" ")
    pairs = [line.partition(":") for line in lines]
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not all(pair[1] for pair in pairs):
        raise ControlError("bad_request", "The request is not HTTP")
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Request(words[0], words[1].partition("?")[0], headers)


def _bytes_of(status: HTTPStatus, body: bytes, headers: Mapping[str, str] = {}) -> bytes:
    fields = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    phrase = _PHRASES.get(status) or status.phrase
    return f"HTTP/1.1 {status.value} {phrase}\r\n{lines}\r\n".encode() + body
