"""WebSocket handshakes: the ASGI scope of one, its compression extension, and the responses that refuse one.

Those in the form in which browsers and libraries send them are read in one pass: `websockets` reads a request
line by line, which took two fifths of a handshake's Python. A request in the usual form arrives in one piece,
has each header once, and nothing behind it. `websockets` reads any other one, and answers every one that is
wrong.
"""

import asyncio
import os
import re
from base64 import b64encode
from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache
from hashlib import sha1
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from websockets.datastructures import Headers
from websockets.exceptions import InvalidHandshake, NegotiationError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.headers import parse_subprotocol
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import ExtensionParameter

from quotecast.asgi import Header, code_of_status
from quotecast.errors import Problem
from quotecast.framing import WINDOW_BITS
from quotecast.market.codec import encode_json
from quotecast.stream.occupancy import RETRY_SECONDS

_DETAILS: Final = {
    400: "This WebSocket handshake is malformed: it needs one Host, an Upgrade, a version and a key",
    403: "This feed is not open to you, or there is none at this path",
    405: "A feed is opened with GET",
    414: "The address of a feed has at most 8,192 bytes: send a subscribe command after the handshake",
    426: "This path is a WebSocket feed: connect with a WebSocket client",
    431: "A handshake has at most 128 headers, each of at most 8,192 bytes",
    505: "A feed is opened with HTTP/1.1",
}
_TOO_LONG: Final = {HTTPStatus.REQUEST_URI_TOO_LONG, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE}
#: Reasons that an application closes a handshake with, and the sentence that the client reads with its 503.
#: Any other reason is 403.
FULL: Final = {
    "worker_full": "This worker holds as many feeds as it can; connect again later",
    "replays_full": "There are as many replays as this worker or your address may have; try again later",
    "address_full": "Your address holds as many feeds as it may; close one, or connect again later",
}
#: The reasons of all refusals, as metrics name them.
REASONS: Final = ("malformed", "origin", "unknown_feed", "relay", *FULL)
#: Bytes of a request in the usual form.
MAX_BYTES: Final = 8192
#: Headers of a request, as in `websockets`.
MAX_HEADERS: Final = 128
#: Different headers of extensions and of subprotocols whose meaning stays in memory.
_MAX_KNOWN: Final = 64
_REQUEST: Final = re.compile(
    rb"GET (/[\x21-\x7e]*) HTTP/1\.1\r\n"
    rb"((?:[-!#$%&'*+.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n"
)
_KEY: Final = re.compile(rb"[A-Za-z0-9+/]{22}==")
#: RFC 6455, section 1.3.
_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#: What clients, and proxies in front of them, write in `Connection`; Firefox the second.
_CONNECTIONS: Final = (b"upgrade", b"keep-alive, upgrade")
#: Headers that announce a body; a handshake has none.
_BODY: Final = (b"content-length", b"transfer-encoding")
_EXTENSIONS: Final = b"sec-websocket-extensions"
_SUBPROTOCOLS: Final = b"sec-websocket-protocol"


class _Deflate(ServerPerMessageDeflateFactory):
    """Declines an offer that bounds our window: its clients could not read the frames that others share."""

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], PerMessageDeflate]:
        """Returns the answer's parameters and the extension. Raises NegotiationError."""
        answer, extension = super().process_request_params(params, accepted_extensions)
        if extension.local_max_window_bits != WINDOW_BITS:
            raise NegotiationError("the server's window has 15 bits")
        return answer, extension


#: permessage-deflate (RFC 7692) without context takeover in either direction: a compressed message depends on
#: no other, so that all clients of a frame share its bytes, and an idle connection holds no compressor.
EXTENSION: Final = _Deflate(server_no_context_takeover=True, client_no_context_takeover=True)


class Handshaking(ServerProtocol):
    """The parser of a connection; it refuses a request that is too long to be read as we do."""

    def reject(self, status: int, text: str) -> Response:
        """Returns a refusal."""
        return refusal(self, status) if status in _TOO_LONG else super().reject(status, text)


def answer_handshake(protocol: ServerProtocol, request: Request) -> Response:
    """Returns the response to a handshake: 101, or a refusal in JSON."""
    response = protocol.accept(request)
    if response.status_code == 101:
        # RFC 9112, section 3.2.
        named_once = len(request.headers.get_all("Host")) == 1
        return response if named_once else refusal(protocol, 400)
    refused = refusal(protocol, response.status_code)
    for name in ("Allow", "Upgrade"):
        if name in response.headers:
            refused.headers[name] = response.headers[name]
    return refused


def refusal(protocol: ServerProtocol, status: int, detail: str = "") -> Response:
    """Returns a refusal in the format of the API's errors: JSON with a sentence, a code and a request id."""
    body, request_id = _problem(status, detail or _DETAILS.get(status, HTTPStatus(status).phrase))
    response = ServerProtocol.reject(protocol, status, body.decode())
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "application/json"
    response.headers["X-Request-ID"] = request_id
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def refusal_for(protocol: ServerProtocol, reason: str) -> Response:
    """Returns the refusal for a reason that the application gave."""
    return refusal(protocol, 503, FULL[reason]) if reason in FULL else refusal(protocol, 403)


def full_response() -> bytes:
    """Returns the bytes of a 503 for a request that finds no free connection."""
    body, request_id = _problem(503, "This worker holds as many connections as it can; try again later")
    head = (
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nretry-after: {RETRY_SECONDS}\r\n"
        f"x-request-id: {request_id}\r\naccess-control-allow-origin: *\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


def _problem(status: int, detail: str) -> tuple[bytes, str]:
    """Returns the body, and the request id in it."""
    request_id = os.urandom(8).hex()
    return encode_json(Problem(detail, code_of_status(status), request_id)), request_id


def http_scope_of(request: Request, transport: asyncio.Transport) -> dict[str, Any]:
    """Returns the ASGI scope of a request for a stream of events."""
    scope = scope_of(request, transport)
    del scope["subprotocols"]
    http = {"type": "http", "asgi": {"version": "3.0"}, "method": "GET", "scheme": "http"}
    return scope | http | {"server": transport.get_extra_info("sockname")[:2]}


def scope_of(request: Request, transport: asyncio.Transport) -> dict[str, Any]:
    """Returns the ASGI scope of a handshake."""
    headers = [
        (name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.raw_items()
    ]
    offered = ",".join(request.headers.get_all("Sec-WebSocket-Protocol")).split(",")
    subprotocols = [name.strip() for name in offered if name.strip()]
    return _scope(request.path.encode(), headers, transport.get_extra_info("peername")[:2], subprotocols)


def _scope(
    target: bytes, headers: list[Header], client: tuple[str, int], subprotocols: list[str]
) -> dict[str, Any]:
    path, _, query = target.partition(b"?")
    return {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": unquote(path.decode()),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": client,
        "subprotocols": subprotocols,
    }


class Upgrade(NamedTuple):
    """A valid handshake that waits for its answer.

    `extensions` is the answer's header; it is empty unless the client may send and receive compressed
    messages.
    """

    target: bytes
    headers: list[tuple[bytes, bytes]]
    subprotocols: tuple[str, ...]
    key: bytes
    extensions: bytes


def read_upgrade(data: bytes) -> Upgrade | None:
    """Returns the handshake; None for a request that `websockets` has to read."""
    if len(data) > MAX_BYTES:
        return None
    request = _REQUEST.fullmatch(data)
    if request is None:
        return None
    lines = request[2].split(b"\r\n")[:-1]
    parts = [line.partition(b":") for line in lines]
    headers = [(name.lower(), value.strip(b" \t")) for name, _, value in parts]
    found = dict(headers)
    if len(found) != len(headers) or len(headers) > MAX_HEADERS or not _is_handshake(found):
        return None
    negotiated = _negotiate(found[_EXTENSIONS]) if _EXTENSIONS in found else b""
    offered = _offered(found[_SUBPROTOCOLS]) if _SUBPROTOCOLS in found else ()
    if negotiated is None or offered is None:
        return None
    return Upgrade(request[1], headers, offered, found[b"sec-websocket-key"], negotiated)


def scope_of_upgrade(upgrade: Upgrade, client: tuple[str, int]) -> dict[str, Any]:
    """Returns the ASGI scope of a handshake, as `scope_of` does."""
    return _scope(upgrade.target, upgrade.headers, client, [*upgrade.subprotocols])


def accepting(upgrade: Upgrade, subprotocol: str | None, now: float) -> bytes:
    """Returns the answer that accepts a handshake; `now` is Unix time."""
    accept = b64encode(sha1(upgrade.key + _GUID, usedforsecurity=False).digest())
    lines = [
        b"HTTP/1.1 101 Switching Protocols",
        b"Date: " + _date(int(now)),
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Accept: " + accept,
    ]
    if upgrade.extensions:
        lines.append(b"Sec-WebSocket-Extensions: " + upgrade.extensions)
    if subprotocol:
        lines.append(b"Sec-WebSocket-Protocol: " + subprotocol.encode())
    return b"\r\n".join([*lines, b"", b""])


def _is_handshake(found: dict[bytes, bytes]) -> bool:
    """Returns whether headers, each of which came once, are those of a valid handshake."""
    return (
        b"host" in found
        and found.get(b"upgrade", b"").lower() == b"websocket"
        and found.get(b"connection", b"").lower() in _CONNECTIONS
        and found.get(b"sec-websocket-version") == b"13"
        and _KEY.fullmatch(found.get(b"sec-websocket-key", b"")) is not None
        and not any(name in found for name in _BODY)
    )


@lru_cache(maxsize=_MAX_KNOWN)
def _negotiate(header: bytes) -> bytes | None:
    """Returns the answer to a header of extensions, empty for none; None if the header is malformed."""
    protocol = ServerProtocol(extensions=[EXTENSION])
    asked = Headers([(_EXTENSIONS.decode(), header.decode("latin-1"))])
    try:
        answer, _ = protocol.process_extensions(asked)
    except InvalidHandshake:
        return None
    return (answer or "").encode()


@lru_cache(maxsize=_MAX_KNOWN)
def _offered(header: bytes) -> tuple[str, ...] | None:
    """Returns the subprotocols of a header; None if it is malformed."""
    try:
        return tuple(parse_subprotocol(header.decode("latin-1")))
    except InvalidHandshake:
        return None


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
