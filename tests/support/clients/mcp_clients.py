"""Clients of MCP by the official SDK, over HTTP and as a child process."""

import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from support.runs.deadlines import scaled


@contextlib.asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str] = {}, mode: str = "auto") -> AsyncIterator[Client]:
    """Connects to `/mcp` of a service."""
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=scaled(30)) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def over_stdio(url: str, token_file: Path | None = None) -> AsyncIterator[Client]:
    """Starts `quotecast mcp` for a service."""
    more = ["--token-file", str(token_file)] if token_file else []
    arguments = ["-m", "quotecast", "mcp", "--url", url, *more]
    async with Client(
        StdioServerParameters(command=sys.executable, args=arguments, env=environment())
    ) as client:
        yield client


def environment() -> dict[str, str]:
    """Returns what the child process needs to find this package; the SDK passes on no more than PATH."""
    return {"PYTHONPATH": ":".join(filter(None, sys.path))}


async def structured(client: Client, tool: str, **arguments: Any) -> Any:
    """Returns a tool's structured result; fails for an error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """Returns the text of a tool's error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    [content] = result.content
    assert content.type == "text"
    return content.text
