"""Which requests an edge answers by itself."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from litestar import Litestar

from quotecast.api.edge.main import ROUTERS, is_local
from quotecast.api.route_table import RouteTable
from quotecast.api.worker.app import ROUTERS as ALL_ROUTERS
from quotecast.api.worker.app import handlers_of

#: The documented paths that an edge answers; it forwards all others.
LOCAL: Final = {
    "/api/market/quotes",
    "/api/market/quotes/{symbol}",
    "/api/market/heatmap",
    "/api/market/movers",
    "/api/market/news",
    "/api/market/assets",
    "/api/market/status",
    "/api/crypto/quotes",
    "/api/crypto/quotes/{symbol}",
    "/api/crypto/symbols",
    "/api/doviz/quotes",
    "/api/doviz/quotes/{symbol}",
    "/api/doviz/symbols",
    "/api/search",
    "/api/sse/market",
    "/api/sse/crypto",
    "/api/sse/doviz",
    "/api/health",
    "/api/ready",
}


def paths(routers: tuple[Any, ...]) -> Iterator[str]:
    app = Litestar([*routers], openapi_config=None, logging_config=None)
    yield from dict.fromkeys(path for path, _ in handlers_of(app))


@cache
def table() -> RouteTable:
    return RouteTable(Litestar([*ROUTERS], openapi_config=None, logging_config=None))


def is_here(path: str, query: bytes = b"", method: str = "GET", **headers: bytes) -> bool:
    given = [(name.encode(), value) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": given}
    return is_local(table(), scope)


def test_each_route_is_answered_here_or_at_the_origin() -> None:
    """An edge answers exactly the routes that read feeds; no other route looks like one of them."""
    made = {path: path.replace("{", "").replace("}", "") for path in paths(ALL_ROUTERS)}
    local = {path for path, text in made.items() if is_here(text)} - {"/api/auth/ticket"}
    assert local == set(paths(ROUTERS)) == LOCAL


@pytest.mark.parametrize(
    ("path", "query", "here"),
    [
        ("/api/market/quotes/AAPL/", b"", True),
        ("/api/crypto/quotes/BTC/USDT", b"", True),
        ("/api/market/quotes", b"format=csv", True),
        ("/api/market/quotes", b"symbols=AAPL&at=2026-11-20T15:00:00Z", False),
        ("/api/market/quotes", b"at=", False),
        ("/api/market/quotes", b"%61t=1", False),
        ("/api/market/quotes", b"symbols=%41APL", True),
        ("/api/market/quotesX", b"", False),
        ("/api/market/bars/AAPL", b"", False),
        ("/api//market/quotes", b"", True),
        ("/metrics", b"", False),
        ("/", b"", False),
    ],
)
def test_a_request_goes_where_its_data_is(path: str, query: bytes, here: bool) -> None:  # noqa: FBT001
    """An edge has no history: a request for a recorded moment goes to the origin, however it is written."""
    assert is_here(path, query) is here
    assert is_here(path, query, "HEAD") is here


def test_only_feeds_take_a_key_to_the_edge() -> None:
    """The origin answers a request with a key; the edge refuses its streams, which the origin would serve."""
    assert not is_here("/api/market/quotes", authorization=b"Bearer qc_live_1")
    assert is_here("/api/sse/market", authorization=b"Bearer qc_live_1")
