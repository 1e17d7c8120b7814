"""Rate limits of routes, through Litestar's own routing."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from litestar import Litestar, Request, Response, delete, get, post, route
from litestar.params import FromPath, JSONBody

from quotecast.api.gate.addresses import identify_by_address
from quotecast.api.limits.throttle import Throttle
from quotecast.api.market.names import Names
from quotecast.api.middleware.middleware import Middleware
from quotecast.feed.documents import Documents
from quotecast.limits.decision import Decision
from quotecast.limits.fallback import LocalWindow
from support.made.factories import full_mirrors

LIMITS = {"market": 3, "crypto": 3, "doviz": 3, "financials": 3, "portfolio": 3, "watchlist": 3, "auth": 2}


@get("/api/market/quotes", opt={"limit": "market"})
async def quotes(request: Request[Any, Any, Any]) -> Response[str]:
    if request.headers.get("if-none-match"):
        return Response("", status_code=304)
    return Response("{}", media_type="application/json")


@get("/api/market/bars/{symbol:str}", opt={"limit": "market"})
async def bars(symbol: FromPath[str]) -> str:
    return symbol


@get("/api/crypto/quotes/{symbol:path}", opt={"limit": "crypto"})
async def pair(symbol: FromPath[str]) -> str:
    return symbol


@post("/api/auth/login", opt={"limit": "auth"})
async def login(data: JSONBody[dict[str, str]]) -> dict[str, str]:
    return data


@delete("/api/watchlist/{ticker:path}", opt={"limit": "watchlist"})
async def unwatch(ticker: FromPath[str]) -> None:
    assert ticker


@get("/api/health")
async def health() -> str:
    return "ok"


@route("/api/portfolio/holdings", http_method=["GET", "POST"], opt={"limit": "portfolio"}, status_code=200)
async def holdings() -> str:
    return "[]"


class Limiter:
    """Counts in memory and records the keys."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        # A clock that stands: the seconds until a place is free stay what they were.
        self._window = LocalWindow(60, clock=lambda: 0)

    async def check(self, key: str, limit: int) -> Decision:
        self.keys.append(key)
        return self._window.check(key, limit)

    async def give_back(self, key: str) -> None:
        self._window.give_back(key)


@pytest.fixture
def limiter() -> Limiter:
    return Limiter()


@pytest.fixture
async def client(limiter: Limiter) -> AsyncIterator[httpx.AsyncClient]:
    address_of = identify_by_address(["192.0.2.0/24"])
    find = Names(full_mirrors(), Documents()).find
    limits = Throttle(
        limiter.check, limiter.give_back, limits=LIMITS, find=find, identify=address_of, by_address=address_of
    )
    routed = Litestar(
        [quotes, bars, pair, login, unwatch, health, holdings],
        middleware=[limits.middleware],
        openapi_config=None,
        logging_config=None,
        request_max_body_size=80 * 1024,
    )
    app = Middleware(routed, cors_origins=["*"], account_origins=[], websocket_origins=["*"])
    transport = httpx.ASGITransport(app, client=("192.0.2.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def rate(response: httpx.Response) -> tuple[str | None, ...]:
    return tuple(response.headers.get(f"x-ratelimit-{name}") for name in ("limit", "remaining", "reset"))


async def test_every_limited_answer_tells_how_its_window_stands(client: httpx.AsyncClient) -> None:
    """200 and 304 have the same headers."""
    assert rate(await client.get("/api/market/quotes")) == ("3", "2", "60")
    unchanged = await client.get("/api/market/quotes", headers={"if-none-match": "*"})
    assert unchanged.status_code == 304
    assert rate(unchanged) == ("3", "1", "60")


async def test_past_the_limit_the_answer_is_429_with_exactly_this_body(client: httpx.AsyncClient) -> None:
    """Retry-After is the reset."""
    for _ in range(3):
        assert (await client.get("/api/market/quotes")).status_code == 200
    refused = await client.get("/api/market/quotes", headers={"origin": "https://example.org"})
    assert refused.status_code == 429
    assert refused.content == b'{"detail":"Too Many Requests"}'
    assert refused.headers["content-type"] == "application/json"
    assert rate(refused) == ("3", "0", refused.headers["retry-after"])
    assert refused.headers["access-control-allow-origin"] == "*"
    assert refused.headers["x-request-id"]


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b"[]", 400), (b" " * (80 * 1024 + 1), 413)],
    ids=["json", "type", "size"],
)
async def test_bad_requests_count_and_tell_so(client: httpx.AsyncClient, content: bytes, status: int) -> None:
    """Broken bodies do not evade the limit on guesses at passwords."""
    for remaining in ("1", "0"):
        response = await client.post(
            "/api/auth/login", content=content, headers={"content-type": "application/json"}
        )
        assert response.status_code == status
        assert rate(response)[:2] == ("2", remaining)
    assert (await client.post("/api/auth/login", content=b"{")).status_code == 429


async def test_a_body_sent_in_chunks_has_the_same_bound(client: httpx.AsyncClient) -> None:
    """Without a declared length the service stops reading at the bound."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(81):
            yield b" " * 1024

    headers = {"content-type": "application/json"}
    response = await client.post("/api/auth/login", content=chunks(), headers=headers)
    assert "content-length" not in response.request.headers
    assert response.status_code == 413


@pytest.mark.parametrize(
    "paths",
    [
        ["/api/market/bars/AAPL", "/api/market/bars/aapl", "/api//market/bars/%41apl/"],
        ["/api/crypto/quotes/BTC%2FUSDT", "/api/crypto/quotes/btc%2fusdt", "/api/crypto/quotes/BTC-USDT"],
        ["/api/market/quotes?symbols=A", "/api/market/quotes/?symbols=B", "http://test//api/market//quotes"],
        ["/api/market/bars/%20", "/api/market/bars/..%5c", "/api/market/bars/%C3%BC"],
    ],
    ids=["symbol", "pair", "query", "nonsense"],
)
async def test_all_spellings_of_a_path_are_one_key(
    client: httpx.AsyncClient, limiter: Limiter, paths: list[str]
) -> None:
    """Case, escapes, slashes, separators and the query make no new window."""
    responses = [await client.get(path) for path in paths]
    assert [rate(response)[1] for response in responses] == ["2", "1", "0"]
    assert len(set(limiter.keys)) == 1


async def test_methods_share_a_key_and_head_counts(client: httpx.AsyncClient) -> None:
    """A path has one window for all methods."""
    path = "/api/portfolio/holdings"
    responses = [await client.get(path), await client.head(path), await client.post(path)]
    assert [rate(response)[1] for response in responses] == ["2", "1", "0"]
    refused = await client.head(path)
    assert refused.status_code == 429
    assert refused.content == b""


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nowhere", 404),
        ("POST", "/api/market/quotes", 405),
        ("HEAD", "/api/auth/login", 405),
        ("OPTIONS", "/api/market/quotes", 204),
        ("GET", "/api/health", 200),
    ],
)
async def test_what_matches_no_limited_route_makes_no_key(
    client: httpx.AsyncClient, limiter: Limiter, method: str, path: str, status: int
) -> None:
    """Its answer has no rate-limit headers."""
    response = await client.request(method, path)
    assert response.status_code == status
    assert rate(response) == (None, None, None)
    assert limiter.keys == []


async def test_a_preflight_is_not_counted(client: httpx.AsyncClient, limiter: Limiter) -> None:
    """Preflights do not reach the routes."""
    headers = {"origin": "https://example.org", "access-control-request-method": "GET"}
    assert (await client.options("/api/market/quotes", headers=headers)).status_code == 204
    assert limiter.keys == []


async def test_each_client_has_its_own_window(client: httpx.AsyncClient, limiter: Limiter) -> None:
    """Clients differ by the address that the trusted proxy forwards."""
    for address in ("198.51.100.1", "198.51.100.2", "2001:db8::1", "2001:db8::2"):
        await client.get("/api/market/quotes", headers={"x-forwarded-for": address})
    assert limiter.keys == [
        "198.51.100.1 /api/market/quotes",
        "198.51.100.2 /api/market/quotes",
        "2001:db8::/64 /api/market/quotes",
        "2001:db8::/64 /api/market/quotes",
    ]


async def test_a_path_below_a_limited_one_has_a_window_of_its_own(client: httpx.AsyncClient) -> None:
    """Two symbols are two paths."""
    one, two = [await client.get(f"/api/market/bars/{symbol}") for symbol in ("AAPL", "MSFT")]
    assert rate(one) == rate(two) == ("3", "2", "60")


@pytest.mark.parametrize(
    "paths",
    [
        ["/api/market/bars/NOSUCH", "/api/market/bars/NOSUCH2", "/api/market/bars/%20"],
        ["/api/crypto/quotes/NO%2FSUCH", "/api/crypto/quotes/NO-SUCH2", "/api/crypto/quotes/AAPL"],
        ["/api/watchlist/AAPL", "/api/watchlist/MSFT", "/api/watchlist/NOSUCH"],
    ],
    ids=["stocks", "pairs", "account items"],
)
async def test_unknown_names_and_ids_of_account_items_share_a_window(
    client: httpx.AsyncClient, limiter: Limiter, paths: list[str]
) -> None:
    """An invented name gets neither a window nor a key of its own."""
    method = "DELETE" if "watchlist" in paths[0] else "GET"
    responses = [await client.request(method, path) for path in [*paths, paths[0]]]
    assert [rate(response)[1] for response in responses] == ["2", "1", "0", "0"]
    assert responses[-1].status_code == 429
    assert len(set(limiter.keys)) == 1
