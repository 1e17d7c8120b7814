"""WebSocket handshakes: the ASGI scope of one, and the responses that refuse one."""

import asyncio
import os
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from quotecast.asgi import code_of_status
from quotecast.errors import Problem
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
    path, _, query = request.path.partition("?")
    headers = [
        (name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.raw_items()
    ]
    offered = ",".join(request.headers.get_all("Sec-WebSocket-Protocol")).split(",")
    return {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": transport.get_extra_info("peername")[:2],
        "subprotocols": [name.strip() for name in offered if name.strip()],
    }
