"""The route of MCP: limits, metrics and errors of HTTP are those of every route."""

from typing import Final

from litestar import asgi
from litestar.exceptions import MethodNotAllowedException
from litestar.handlers import ASGIRouteHandler
from litestar.types import HTTPScope, Receive, Send

from quotecast.api.route_table import EVERY
from quotecast.asgi import App
from quotecast.errors import Busy

PATH: Final = "/mcp"


def mcp_route(app: App) -> ASGIRouteHandler:
    """Returns the route in front of the MCP application, which takes POST requests only."""

    # The calls of its tools come through the gate themselves.
    @asgi(PATH, copy_scope=True, opt={"feed": EVERY, "door": "mcp", "symbols": "nowhere", "limit": "mcp"})
    async def mcp(scope: HTTPScope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            # The server never sends anything unasked, so it has no stream to open with GET.
            raise MethodNotAllowedException(headers={"allow": "POST"})
        try:
            await app(scope, receive, send)
        except TimeoutError:
            raise Busy from None

    return mcp
