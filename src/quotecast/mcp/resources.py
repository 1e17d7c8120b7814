"""Resources of the MCP server: what a user may attach to a conversation by its address."""

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from quotecast.market.feeds import Feed
from quotecast.mcp import reads
from quotecast.mcp.arguments import Arguments
from quotecast.mcp.asking import Asking, ToolRefused, path_of
from quotecast.mcp.results import MAX_BYTES

SCHEME: Final = "quotecast://"
JSON: Final = "application/json"
QUOTE: Final = f"{SCHEME}quotes/{{feed}}/{{symbol}}"
_QUOTES: Final = f"{SCHEME}quotes/"

#: The pages of a service that describe it, by path.
PAGES: Final = {
    "/llms.txt": "an overview for language models, with links",
    "/api/docs": "every HTTP route, with a form to send requests",
    "/api/docs/feeds.html": "the live WebSocket feeds",
    "/api/openapi.json": "the HTTP routes as OpenAPI 3.1",
    "/api/asyncapi.json": "the feeds as AsyncAPI",
}


class Resource(Struct, frozen=True):
    """A resource with a fixed address."""

    uri: str
    title: str
    description: str
    read: Callable[[Asking], Awaitable[Any]]


async def _feeds(asking: Asking) -> Any:
    return (await reads.feed_state(asking, Arguments())).record


async def _crypto(asking: Asking) -> Any:
    return (await asking.read(path_of("crypto", "symbols"))).data


async def _doviz(asking: Asking) -> Any:
    return (await asking.read(path_of("doviz", "symbols"))).data


async def _pages(_: Asking) -> Any:
    return [{"path": path, "description": text} for path, text in PAGES.items()]


RESOURCES: Final = (
    Resource(f"{SCHEME}feeds", "State of the feeds", "Live, stale or down; simulated or real", _feeds),
    Resource(f"{SCHEME}symbols/crypto", "Crypto pairs", "All pairs of the crypto feed", _crypto),
    Resource(f"{SCHEME}symbols/doviz", "Currencies and metals", "All symbols of the doviz feed", _doviz),
    Resource(f"{SCHEME}docs", "Documentation", "Pages and documents of this service, by path", _pages),
)


async def read_resource(asking: Asking, uri: str) -> str:
    """Returns a resource as JSON text. Raises ToolRefused, also for an address without a resource."""
    found = next((each for each in RESOURCES if each.uri == uri), None)
    if found is not None:
        data = await found.read(asking)
    elif uri.startswith(_QUOTES) and uri.isprintable():
        feed, _, symbol = uri.removeprefix(_QUOTES).partition("/")
        if feed not in [*Feed] or not symbol:
            raise ToolRefused(f"A quote's address is {QUOTE}, with a feed of {', '.join(Feed)}", 404)
        data = (await reads.quote(asking, feed, unquote(symbol))).record
    else:
        raise ToolRefused(f"There is no resource {uri[:128]!r}", 404)
    text = msgspec.json.encode(data)
    if len(text) > MAX_BYTES:
        raise ToolRefused(f"The resource has more than {MAX_BYTES // 1024} KB", 413)
    return text.decode()
