"""MCP over streamable HTTP inside a worker, stateless: any worker answers any request."""

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from quotecast.access.request_state import request_state
from quotecast.asgi import App
from quotecast.mcp.asking import CALL_SECONDS, Asking
from quotecast.mcp.calls import Calls
from quotecast.mcp.hosts import allowed_hosts, allowed_origins
from quotecast.mcp.protocol import Context, make_server
from quotecast.mcp.refusals import with_own_refusals
from quotecast.settings.model import Settings

MAX_BODY_BYTES: Final = 64 * 1024
#: Headers that a read inherits: whose request it is, and under which id it is logged.
_INHERITED: Final = (b"authorization", b"x-api-key", b"x-forwarded-for")


@contextlib.asynccontextmanager
async def open_http(settings: Settings, calls: Calls, service: App) -> AsyncIterator[App]:
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
    async with manager.run():
        yield with_own_refusals(manager.handle_request)


def _scope(context: Context) -> Any:
    if context.request is None:
        raise LookupError("an MCP request over HTTP has an HTTP request")
    return context.request.scope


def _has_token(context: Context) -> bool:
    return any(name == b"authorization" for name, _ in _scope(context)["headers"])
