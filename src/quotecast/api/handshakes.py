"""WebSocket handshakes: what an application sees of one, and the answers that refuse one."""

import asyncio
import os
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from quotecast.api.problems import Problem
from quotecast.market.codec import encode_json

_DETAILS: Final = {
    400: "This WebSocket handshake is malformed: it needs one Host, an Upgrade, a version and a key",
    403: "This feed is not open to you, or there is none at this path",
    405: "A feed is opened with GET",
    426: "This path is a WebSocket feed: connect with a WebSocket client",
    505: "A feed is opened with HTTP/1.1",
}


def answer_handshake(protocol: ServerProtocol, request: Request) -> Response:
    """The answer to a handshake: 101, or a refusal in JSON."""
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


def refusal(protocol: ServerProtocol, status: int) -> Response:
    """A refusal as the rest of the API writes errors: JSON with a sentence, a code and a request id."""
    phrase = HTTPStatus(status).phrase
    request_id = os.urandom(8).hex()
    body = Problem(_DETAILS.get(status, phrase), phrase.lower().replace(" ", "_"), request_id)
    response = protocol.reject(status, encode_json(body).decode())
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "application/json"
    response.headers["X-Request-ID"] = request_id
    return response


def scope_of(request: Request, transport: asyncio.Transport) -> dict[str, Any]:
    """The ASGI scope of a handshake."""
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
        "server": transport.get_extra_info("sockname")[:2],
        "subprotocols": [name.strip() for name in offered if name.strip()],
    }
