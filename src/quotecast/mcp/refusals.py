"""Refusals of the SDK in the format of the API's errors, and in sentences of our own."""

from http import HTTPStatus
from typing import Any, Final

import msgspec

from quotecast.access.request_state import request_state
from quotecast.asgi import App, Message, Scope, Send, code_of_status, content_length
from quotecast.errors import Problem
from quotecast.market.codec import encode_json

_JSON: Final = (b"content-type", b"application/json")
_DETAILS: Final = {
    400: "The Content-Type of an MCP request must be application/json",
    403: "Pages of this origin may not send MCP requests: set QUOTECAST_ACCOUNT_ORIGINS",
    413: "An MCP request has at most 64 KiB",
    421: "MCP requests to this host are not answered: set QUOTECAST_MCP_HOSTS",
}
_NO_REQUEST: Final = "Must be one JSON-RPC 2.0 request, not a batch"
#: What begins the SDK's text about a message that is no request; it goes on with names of its classes.
_OF_CLASSES: Final = "Validation error: "
_INVALID_REQUEST: Final = -32_600


def with_own_refusals(app: App) -> App:
    """Returns the application with refusals of our own."""

    async def serve(scope: Scope, receive: Any, send: Send) -> None:
        await app(scope, receive, _refusing(send, request_state(scope).request_id))

    return serve


def _refusing(send: Send, request_id: str) -> Send:
    start: Message | None = None
    collected = b""

    async def answer(message: Message) -> None:
        nonlocal start, collected
        if message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST:
            start = message
            return
        if start is None:
            await send(message)
            return
        collected += message.get("body", b"")
        if message.get("more_body"):
            return
        body = _refusal(start["status"], dict(start["headers"]), collected, request_id)
        kept = [each for each in start["headers"] if each[0] not in {b"content-type", b"content-length"}]
        await send({**start, "headers": [*kept, _JSON, content_length(body)]})
        await send({"type": "http.response.body", "body": body})

    return answer


def _refusal(status: int, headers: dict[bytes, bytes], body: bytes, request_id: str) -> bytes:
    if not headers.get(b"content-type", b"").startswith(_JSON[1]):
        detail = _DETAILS.get(status, HTTPStatus(status).phrase)
        return encode_json(Problem(detail, code_of_status(status), request_id))
    answer = msgspec.json.decode(body)
    if not answer["error"]["message"].startswith(_OF_CLASSES):
        return body
    return encode_json({**answer, "error": {"code": _INVALID_REQUEST, "message": _NO_REQUEST}})
