"""A cache asks about a request's target as it came; the worker counts the path that it would serve."""

from typing import Any

import pytest

from quotecast.access.request_state import request_state
from quotecast.api.limits.caches import ASK_PATH, CacheLimits
from quotecast.asgi import Receive, Scope, Send

KEY = "k" * 32


async def asked(uri: bytes) -> Scope:
    """Returns the scope of the request that a cache asks about."""
    seen: list[Scope] = []

    async def app(scope: Scope, _: Receive, __: Send) -> None:
        seen.append(scope)

    async def never(*_: Any) -> Any:
        raise AssertionError

    scope = {
        "type": "http",
        "method": "GET",
        "path": ASK_PATH,
        "client": ("10.0.0.1", 1),
        "headers": [(b"x-edge-key", KEY.encode()), (b"x-original-uri", uri)],
    }
    await CacheLimits(app, key=KEY, trusted_proxies=["10.0.0.0/8"])(scope, never, never)
    assert request_state(seen[0]).step is not None
    return seen[0]


@pytest.mark.parametrize(
    ("uri", "path", "query"),
    [
        (b"/api/market/quotes#1", "/api/market/quotes", b""),
        (b"/api/market/quotes?symbols=A#1", "/api/market/quotes", b"symbols=A"),
        (b"/api/market/quotes#1?symbols=A", "/api/market/quotes", b""),
        (b"/api/market/quotes%231", "/api/market/quotes#1", b""),
        (b"/api/doviz/quotes/\xc3\xa7", "/api/doviz/quotes/ç", b""),
        (b"/api/doviz/quotes/%C3%A7", "/api/doviz/quotes/ç", b""),
        (b"/api//market///quotes", "/api/market/quotes", b""),
    ],
)
async def test_the_path_is_the_one_that_the_server_would_read(uri: bytes, path: str, query: bytes) -> None:
    """The proxy nginx passes fragments on and the server drops them: such a request has a limit, too."""
    scope = await asked(uri)
    assert (scope["path"], scope["query_string"]) == (path, query)
