"""ASGI: types of applications and events, answers in one piece, header values, and the wait for a disconnect.

The types are wide. Frameworks and servers type their events more narrowly than ASGI does, requests carry keys
of this service in their scope, and the feed server's `send` returns more than an awaitable.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[Any]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Header = tuple[bytes, bytes]
Headers = list[Header]

#: The beginning of the paths of event streams.
EVENTS_PATH: Final = "/api/sse/"
#: Paths that balancers and orchestrators ask several times a second.
PROBES: Final = ("/api/health", "/api/ready")

#: Codes of errors whose status has another phrase in each version of Python, or none of its own.
_CODES: Final = {413: "too_large", 414: "uri_too_long", 431: "header_too_large"}


def code_of_status(status: int) -> str:
    """Returns the code of an error that has only a status: its phrase in lower case."""
    return _CODES.get(status) or HTTPStatus(status).phrase.lower().replace(" ", "_")


async def respond(send: Send, status: int, headers: Iterable[Header], body: bytes = b"") -> None:
    """Sends an HTTP answer with exactly these headers."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def header_value(scope: Mapping[str, Any], name: bytes) -> bytes | None:
    """Returns the first value of a request's header, whose name is in lower case; None without it."""
    return next((value for each, value in scope["headers"] if each == name), None)


async def wait_until_left(receive: Receive) -> None:
    """Returns when the client has left; drops what it sends."""
    while (await receive())["type"] != "http.disconnect":
        pass


def query_values(query: bytes, name: str) -> list[str]:
    """Returns the values of a parameter of a query, which has it once or often, or not at all."""
    # Most queries need no parser: only an escape can hide the name.
    if b"%b=" % name.encode() not in query and b"%" not in query:
        return []
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return [value for each, value in pairs if each == name]


def content_length(body: bytes) -> Header:
    """Returns the header that states a body's length."""
    return b"content-length", b"%d" % len(body)
