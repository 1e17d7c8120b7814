"""`/mcp` of a worker: opened when somebody asks for it, and apart from the other routes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import httpx

from quotecast.api.integrations.mcp import McpApp, mcp_route
from quotecast.asgi import App, respond
from quotecast.settings.model import Settings
from support.made.factories import client_of, empty_mirrors, services
from support.runs.deadlines import scaled


class Sdk:
    """Stands for the module that needs the SDK, with `app` behind `/mcp`; None cannot be imported."""

    def __init__(self, app: App | None) -> None:
        self.loaded = asyncio.Event()
        self._app = app
        self._loop = asyncio.get_running_loop()

    def load(self) -> Any:
        self._loop.call_soon_threadsafe(self.loaded.set)
        if self._app is None:
            raise ImportError("no SDK")
        return SimpleNamespace(open_http=self._open)

    @contextlib.asynccontextmanager
    async def _open(self, *_: Any) -> AsyncIterator[App]:
        assert self._app
        yield self._app


APPS: dict[str, McpApp] = {}


async def open_door(scope: Any, receive: Any, send: Any) -> None:
    await APPS["current"](scope, receive, send)


#: One route for all tests: the application's documents are made once for the same routes.
ROUTE = mcp_route(open_door)


async def answer(_: Any, __: Any, send: Any) -> None:
    await respond(send, 200, [], b"answered")


async def hang(*_: Any) -> None:
    await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def serving(sdk: Sdk, mcp: Any = "auto", seconds: float = 30) -> AsyncIterator[httpx.AsyncClient]:
    """Gives a client of all routes, with the application of `/mcp`."""
    app = McpApp(Settings(mcp=mcp), answer, load=sdk.load, seconds=seconds)
    APPS["current"] = app
    running = asyncio.create_task(app.run())
    try:
        async with client_of(services(empty_mirrors()), extra_handlers=[ROUTE]) as client:
            yield client
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_the_sdk_is_imported_with_the_first_request() -> None:
    sdk = Sdk(answer)
    async with serving(sdk) as client:
        await client.get("/api/health")
        assert not sdk.loaded.is_set()
        assert (await client.post("/mcp")).text == "answered"
        assert sdk.loaded.is_set()


async def test_a_worker_that_must_serve_it_imports_it_at_once() -> None:
    sdk = Sdk(answer)
    async with serving(sdk, "on"), asyncio.timeout(scaled(10)):
        await sdk.loaded.wait()


async def test_answers_are_for_no_cache_and_no_other_site() -> None:
    """They may hold account data: the path is private."""
    async with serving(Sdk(answer)) as client:
        answered = await client.post("/mcp", headers={"origin": "https://other.example"})
    assert answered.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in answered.headers


async def test_a_request_that_takes_too_long_is_answered() -> None:
    async with serving(Sdk(hang), seconds=0.01) as client:
        answered = await client.post("/mcp")
    assert (answered.status_code, answered.json()["code"]) == (503, "busy")


async def test_a_broken_sdk_leaves_the_other_routes_alone() -> None:
    async with serving(Sdk(None)) as client:
        answered = await client.post("/mcp")
        assert (await client.get("/api/health")).status_code == 200
    assert (answered.status_code, answered.json()["code"]) == (500, "internal_server_error")
