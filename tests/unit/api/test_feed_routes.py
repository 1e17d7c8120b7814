"""Which requests an edge answers by itself."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from litestar import Litestar

from quotecast.api.app import ROUTERS as ALL_ROUTERS
from quotecast.api.feed_routes import ROUTERS, is_answered_by
from quotecast.api.private import handlers_of

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
    "/api/health",
    "/api/ready",
}


def paths(routers: tuple[Any, ...]) -> Iterator[str]:
    app = Litestar([*routers], openapi_config=None)
    yield from dict.fromkeys(path for path, _ in handlers_of(app))


def is_local(path: str, query: bytes = b"") -> bool:
    answers = is_answered_by(Litestar([*ROUTERS], openapi_config=None))
    return answers({"path": path, "query_string": query})


def test_each_route_is_answered_here_or_at_the_origin() -> None:
    """An edge answers exactly the routes that read feeds; no other route looks like one of them."""
    answers = is_answered_by(Litestar([*ROUTERS], openapi_config=None))
    made = {path: path.replace("{", "").replace("}", "") for path in paths(ALL_ROUTERS)}
    local = {path for path, text in made.items() if answers({"path": text, "query_string": b""})}
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
        ("/api//market/quotes", b"", False),
        ("/metrics", b"", False),
        ("/", b"", False),
    ],
)
def test_a_request_goes_where_its_data_is(path: str, query: bytes, here: bool) -> None:  # noqa: FBT001
    """An edge has no history: a request for a recorded moment goes to the origin, however it is written."""
    assert is_local(path, query) is here
