"""MCP over streamable HTTP inside a worker, stateless: any worker answers any request."""

import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any, Final

import httpx
import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from quotecast.access.request_state import request_state
from quotecast.asgi import App, Message, Scope, Send, code_of_status, content_length
from quotecast.errors import Problem
from quotecast.market.codec import encode_json
from quotecast.mcp.asking import CALL_SECONDS, Asking
from quotecast.mcp.calls import ToolCalls
from quotecast.mcp.protocol import Context, make_server
from quotecast.settings.model import Settings

_JSON: Final = (b"content-type", b"application/json")
_DETAILS: Final = {
    400: "The Content-Type of an MCP request must be application/json",
    403: "Pages of this origin may not send MCP requests: set QUOTECAST_ACCOUNT_ORIGINS",
    413: "An MCP request has at most 64 KiB",
    421: "MCP requests to this host are not answered: set QUOTECAST_MCP_HOSTS",
}
_NO_REQUEST: Final = "Must be one JSON-RPC 2.0 request, not a batch"
#: What begins the SDK's text about a message that is not a request; it goes on with names of its classes.
_OF_CLASSES: Final = "Validation error: "
_INVALID_REQUEST: Final = -32_600
_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared only  # nosec B104
MAX_BODY_BYTES: Final = 64 * 1024
#: Headers that a read inherits: whose request it is, and under which id it is logged.
_INHERITED: Final = (b"authorization", b"x-api-key", b"x-forwarded-for")


@contextlib.asynccontextmanager
async def open_http(settings: Settings, calls: ToolCalls, service: App) -> AsyncIterator[App]:
    """Gives the application behind `/mcp`; its tools read from the application `service`.

    A read has the address and the token of the MCP request, so limits count for the client.
    """
    # It warns of every wrong Host and Origin, with the client's text.
    logging.getLogger("mcp").setLevel(logging.ERROR)

    @contextlib.asynccontextmanager
    async def open_asking(context: Context) -> AsyncIterator[Asking]:
        scope = _scope(context)
        headers = [(name, value) for name, value in scope["headers"] if name in _INHERITED]
        headers.append((b"x-request-id", request_state(scope).request_id.encode()))
        transport = httpx.ASGITransport(service, client=scope["client"])
        async with httpx.AsyncClient(
            transport=transport,
            base_url="http://localhost",
            headers=[*headers, (b"accept-encoding", b"identity")],
            trust_env=False,
            timeout=CALL_SECONDS,
        ) as client:
            yield Asking(client)

    security = TransportSecuritySettings(
        allowed_hosts=allowed_hosts(settings), allowed_origins=allowed_origins(settings)
    )
    manager = StreamableHTTPSessionManager(
        make_server(calls, open_asking, _has_token),
        json_response=True,
        stateless=True,
        security_settings=security,
        max_request_body_size=MAX_BODY_BYTES,
    )

    async def serve(scope: Scope, receive: Any, send: Send) -> None:
        await manager.handle_request(scope, receive, _refusing(send, request_state(scope).request_id))

    async with manager.run():
        yield serve


def _scope(context: Context) -> Any:
    if context.request is None:
        raise LookupError("an MCP request over HTTP has an HTTP request")
    return context.request.scope


def _has_token(context: Context) -> bool:
    return any(name == b"authorization" for name, _ in _scope(context)["headers"])


def allowed_hosts(settings: Settings) -> list[str]:
    """Returns the values of `Host` that are answered: the named hosts, in development also local ones.

    Other names would let a page reach the service by DNS rebinding.
    """
    names = [*settings.mcp_hosts]
    if settings.mode == "development":
        names += _LOCAL
        if settings.host not in _EVERYWHERE:
            names.append(f"[{settings.host}]" if ":" in settings.host else settings.host)
    return [*_with_ports(names)]


def allowed_origins(settings: Settings) -> list[str]:
    """Returns the web origins that are answered: those of accounts, in development also local ones.

    `*` is none of them: an answer may hold account data.
    """
    origins = [origin for origin in settings.account_origins if origin != "*"]
    if settings.mode == "development":
        origins += _with_ports([f"{scheme}://{host}" for host in _LOCAL for scheme in ("http", "https")])
    return origins


def _with_ports(names: list[str]) -> Iterator[str]:
    """Yields each name as it is, and with any port in the SDK's spelling."""
    for name in names:
        yield from (name, f"{name}:*")


def _refusing(send: Send, request_id: str) -> Send:
    """Returns a `send` that writes the SDK's refusals in the format of the API's errors."""
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
