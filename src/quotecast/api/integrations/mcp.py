"""MCP of a worker: its route, whose limits, metrics and errors are those of every route, and what it serves.

The SDK takes half a second to import, which delays feeds, and 25 MB. A worker where the operator did not ask
for MCP by name imports it with the first request, the others before they serve.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import Any, Final

import structlog
from litestar import asgi
from litestar.exceptions import MethodNotAllowedException
from litestar.handlers import ASGIRouteHandler
from litestar.types import HTTPScope, Receive, Send

from quotecast.api.route_table import EVERY
from quotecast.asgi import App
from quotecast.errors import Busy
from quotecast.mcp.calls import ToolCalls
from quotecast.settings.model import Settings

PATH: Final = "/mcp"
#: Seconds that one request may take; a tool call ends sooner.
REQUEST_SECONDS: Final = 30.0

log = structlog.get_logger()


def _import_http() -> Any:
    return importlib.import_module("quotecast.mcp.http")


class McpApp:
    """ASGI application of `/mcp`; it works while `run` does.

    `service` is the application that tools read from, and `load` returns the module that needs the SDK.
    """

    def __init__(
        self,
        settings: Settings,
        service: App,
        *,
        load: Callable[[], Any] = _import_http,
        seconds: float = REQUEST_SECONDS,
    ) -> None:
        self.calls = ToolCalls()
        self._settings = settings
        self._service = service
        self._load = load
        self._seconds = seconds
        self._wanted = asyncio.Event()
        if settings.mcp == "on":
            self._wanted.set()
        self._opened: asyncio.Future[App] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Opens the application when it is wanted, and serves until it is cancelled."""
        await self._wanted.wait()
        try:
            http = await asyncio.to_thread(self._load)
        except ImportError as error:
            # The other routes go on.
            log.exception("the MCP SDK does not load")
            self._opened.set_exception(error)
            return
        async with http.open_http(self._settings, self.calls, self._service) as app:
            self._opened.set_result(app)
            await asyncio.Event().wait()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one POST request. Raises TimeoutError."""
        self._wanted.set()
        async with asyncio.timeout(self._seconds):
            app = await asyncio.shield(self._opened)
            await app(scope, receive, send)


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
