"""The outermost layer, called as plain ASGI."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
from litestar import Litestar, Request, get, post
from litestar.handlers import asgi
from litestar.types import Receive, Scope, Send

from quotecast.access.request_state import request_state
from quotecast.api.middleware.middleware import MAX_PATH_LENGTH, Middleware
from quotecast.asgi import App

ORIGIN = "https://example.org"
ACCOUNT_ORIGIN = "https://app.example.org"
PREFLIGHT = {"access-control-request-method": "PATCH", "access-control-request-headers": "authorization"}
PREPARED = [(b"content-type", b"application/json"), (b"content-length", b"2")]


@get("/api/market/quotes")
async def quotes() -> dict[str, str]:
    return {"ticker": "AAPL"}


@get("/api/auth/profile")
async def profile(request: Request[Any, Any, Any]) -> dict[str, str]:
    return {"id": request_state(request.scope).request_id}


@post("/api/auth/login")
async def login() -> None:
    raise RuntimeError("secret")


@get("/api/docs")
async def docs() -> str:
    return "docs"


@asgi("/api/prepared", copy_scope=False)
async def prepared(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001 - ASGI's signature
    """Sends the same list of headers every time."""
    await send({"type": "http.response.start", "status": 200, "headers": PREPARED})
    await send({"type": "http.response.body", "body": b"{}", "more_body": False})


def edge(app: App | None = None, cors_origins: Sequence[str] = ("*",)) -> Middleware:
    return Middleware(
        app or Litestar([quotes, profile, login, docs, prepared], openapi_config=None, logging_config=None),
        cors_origins=cors_origins,
        account_origins=[ACCOUNT_ORIGIN],
        websocket_origins=["*"],
        private=("/api/auth/profile", "/api/watchlist"),
        make_id=lambda: b"made",
    )


def connect(app: Middleware) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with connect(edge()) as client:
        yield client


@pytest.mark.parametrize(
    "given", ["1", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "a" * 64, "A.b_c-9"], ids=lambda given: given[:8]
)
async def test_a_harmless_request_id_is_echoed(client: httpx.AsyncClient, given: str) -> None:
    """A client's logs and ours share the id; routes see it too."""
    response = await client.get("/api/auth/profile", headers={"x-request-id": given})
    assert response.headers["x-request-id"] == response.json()["id"] == given


@pytest.mark.parametrize("given", ["", "a" * 65, "a b", "<script>", "a\tb", "é"], ids=repr)
async def test_any_other_request_id_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    """Logs may contain the id, so it is short and plain."""
    response = await client.get("/api/market/quotes", headers={b"x-request-id": given.encode("latin-1")})
    assert response.headers["x-request-id"] == "made"


async def test_made_request_ids_differ() -> None:
    """By default the edge makes random ids."""
    app = Middleware(
        Litestar([quotes], logging_config=None), cors_origins=[], account_origins=[], websocket_origins=[]
    )
    async with connect(app) as client:
        ids = {(await client.get("/api/market/quotes")).headers["x-request-id"] for _ in range(20)}
    assert len(ids) == 20


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/market/quotes", 200),
        ("GET", "/api/nowhere", 404),
        ("DELETE", "/api/market/quotes", 405),
        ("GET", "/api/market/\x00", 404),
        ("POST", "/api/auth/login", 500),
    ],
)
async def test_every_answer_has_id_and_security_headers(
    client: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    """This includes the framework's own errors."""
    response = await client.request(method, path.replace("\x00", "%00"), headers={"origin": ACCOUNT_ORIGIN})
    assert response.status_code == status
    assert response.headers["x-request-id"] == "made"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert response.headers["access-control-allow-origin"] in ("*", ACCOUNT_ORIGIN)
    exposed = response.headers["access-control-expose-headers"].split(", ")
    assert {"X-Request-ID", "X-RateLimit-Reset", "Retry-After", "ETag", "X-Missing-Symbols", "Age"} <= set(
        exposed
    )


async def test_the_reference_page_may_load_its_own_scripts(client: httpx.AsyncClient) -> None:
    """It is the only page that a browser renders."""
    response = await client.get("/api/docs")
    assert "default-src 'self'" in response.headers["content-security-policy"]


async def test_public_answers_are_the_same_for_every_origin(client: httpx.AsyncClient) -> None:
    """Shared caches may store one copy; no answer allows credentials."""
    plain = await client.get("/api/market/quotes")
    asked = await client.get("/api/market/quotes", headers={"origin": ORIGIN, "cookie": "a=b"})
    assert plain.headers == asked.headers
    assert asked.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in asked.headers
    assert "vary" not in asked.headers


@pytest.mark.parametrize("origin", [ORIGIN, "null", ACCOUNT_ORIGIN + ".evil.test"])
@pytest.mark.parametrize("path", ["/api/auth/profile", "http://test//api//auth/profile", "/api/watchlist"])
async def test_account_answers_are_for_named_origins_only(
    client: httpx.AsyncClient, origin: str, path: str
) -> None:
    """Every spelling of the path is private, and no cache stores the answer."""
    refused = await client.get(path, headers={"origin": origin})
    assert "access-control-allow-origin" not in refused.headers
    granted = await client.get(path, headers={"origin": ACCOUNT_ORIGIN})
    assert granted.headers["access-control-allow-origin"] == ACCOUNT_ORIGIN
    for response in (refused, granted):
        assert response.headers["vary"] == "Origin"
        assert response.headers["cache-control"] == "no-store"


async def test_public_origins_can_be_named() -> None:
    """The answer then depends on the origin and has `Vary`."""
    async with connect(edge(cors_origins=[ORIGIN])) as client:
        granted = await client.get("/api/market/quotes", headers={"origin": ORIGIN})
        refused = await client.get("/api/market/quotes", headers={"origin": ACCOUNT_ORIGIN})
    assert granted.headers["access-control-allow-origin"] == ORIGIN
    assert "access-control-allow-origin" not in refused.headers
    assert granted.headers["vary"] == refused.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    ("path", "origin", "allowed"),
    [
        ("/api/market/quotes", ORIGIN, "*"),
        ("/api/nowhere", ORIGIN, "*"),
        ("/api/auth/profile", ACCOUNT_ORIGIN, ACCOUNT_ORIGIN),
        ("/api/auth/profile", ORIGIN, None),
    ],
)
async def test_preflights_are_answered_everywhere(
    client: httpx.AsyncClient, path: str, origin: str, allowed: str | None
) -> None:
    """204 without a body; the headers say whether the origin may proceed."""
    response = await client.options(path, headers=PREFLIGHT | {"origin": origin})
    assert response.status_code == 204
    assert response.content == b""
    assert response.headers.get("access-control-allow-origin") == allowed
    granted = allowed is not None
    assert ("Authorization" in response.headers.get("access-control-allow-headers", "")) == granted
    is_account = path.startswith("/api/auth")
    assert ("PATCH" in response.headers.get("access-control-allow-methods", "")) == (granted and is_account)


async def test_options_that_is_no_preflight_is_routed(client: httpx.AsyncClient) -> None:
    """It lists the route's methods."""
    response = await client.options("/api/market/quotes")
    assert response.status_code == 204
    assert response.headers["allow"] == "GET, HEAD, OPTIONS"


async def test_head_is_get_without_the_body(client: httpx.AsyncClient) -> None:
    """Headers are the same, with the same length."""
    get_response, head = await client.get("/api/market/quotes"), await client.head("/api/market/quotes")
    assert head.headers == get_response.headers
    assert head.content == b""
    assert (await client.head("/api/auth/login")).status_code == 405


async def test_a_prepared_list_of_headers_is_left_alone(client: httpx.AsyncClient) -> None:
    """Routes share one list among all requests."""
    first, second = await client.get("/api/prepared"), await client.get("/api/prepared")
    assert first.headers == second.headers
    assert len(PREPARED) == 2


@pytest.mark.parametrize(
    "path", ["/api/%00", "/api/a%0d%0aX-Bad:1", "/api/%E2%80%A8", "/" + "a" * MAX_PATH_LENGTH]
)
async def test_a_path_that_no_resource_can_have_is_not_routed(path: str) -> None:
    """Control characters and overlong paths end here."""

    async def unreachable(*connection: object) -> None:
        raise AssertionError(connection)

    async with connect(edge(unreachable)) as client:
        response = await client.get(path)
    assert response.status_code == 404
    assert response.json() == {"detail": "Not Found", "code": "not_found", "request_id": "made"}


async def test_lifespan_passes_through() -> None:
    """The routed application opens and closes itself."""
    seen: list[object] = []

    async def app(*connection: object) -> None:
        seen.extend(connection)

    connection: tuple[Any, Any, Any] = ({"type": "lifespan"}, object(), object())
    await edge(app)(*connection)
    assert seen == list(connection)
