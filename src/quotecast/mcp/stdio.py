"""MCP over standard input and output, for a program that starts this process itself.

Standard output carries the protocol alone; logs go to standard error.
"""

import contextlib
from collections.abc import AsyncIterator

import httpx
from mcp.server.stdio import stdio_server

from quotecast.mcp.asking import CALL_SECONDS, Asking
from quotecast.mcp.calls import ToolCalls
from quotecast.mcp.protocol import Context, make_server


async def serve(url: str, token: str = "") -> None:
    """Serves until the input ends, with data of the service at `url`.

    With a user's `token` it has the tools of the user's account too.
    """
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=CALL_SECONDS) as client:
        asking = Asking(client)

        @contextlib.asynccontextmanager
        async def open_asking(_: Context) -> AsyncIterator[Asking]:
            yield asking

        server = make_server(ToolCalls(), open_asking, lambda _: bool(token))
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
