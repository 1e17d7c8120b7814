"""What workers tell a cache in front, and whom they count, with QUOTECAST_LIMITS=edge."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from quotecast.api.gate.addresses import identify_by_address
from quotecast.api.limits.caches import ASK_PATH, PUBLIC_GROUPS, CacheLimits
from quotecast.api.limits.repeats import Repeats
from quotecast.api.limits.throttle import Throttle
from quotecast.api.middleware.middleware import Middleware
from support.made.factories import app_of, full_mirrors, private_of, services
from support.stages.account_service import LocalLimits

KEY = "a key that the cache and the workers share"
LIMITS = dict.fromkeys(
    ("market", "crypto", "doviz", "financials", "search", "auth", "portfolio"), 2
) | dict.fromkeys(("watchlist", "alerts", "terminal"), 2)
QUOTES = "/api/market/quotes?symbols=AAPL"
PROXY, STRANGER = "192.0.2.1", "198.51.100.7"


@contextlib.asynccontextmanager
async def worker(peer: str) -> AsyncIterator[httpx.AsyncClient]:
    """Yields a client of a worker; the worker sees `peer`, and trusts PROXY."""
    made, window = services(full_mirrors()), LocalLimits()
    address_of = identify_by_address([PROXY])
    throttle = Throttle(
        window.check,
        window.give_back,
        limits=LIMITS,
        find=made.names.find,
        identify=address_of,
        by_address=address_of,
    )
    routed = app_of(made, throttle=throttle)
    repeats = Repeats(routed, throttle=throttle)
    edge = Middleware(
        CacheLimits(repeats, key=KEY, trusted_proxies=[PROXY]),
        cors_origins=["*"],
        account_origins=[],
        websocket_origins=["*"],
        private=private_of(routed),
    )
    transport = httpx.ASGITransport(edge, client=(peer, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def question(uri: str, way: str = "count", **more: str) -> dict[str, Any]:
    return {"headers": {"x-edge-key": KEY, "x-original-uri": uri, "x-edge-limits": way, **more}}


async def statuses(client: httpx.AsyncClient, path: str, times: int, **headers: str) -> list[int]:
    return [(await client.get(path, headers=headers)).status_code for _ in range(times)]


async def test_a_question_counts_the_clients_request() -> None:
    """The path as the client wrote it counts for its canonical path; past the limit the status is 403."""
    async with worker(PROXY) as client:
        first = await client.get(ASK_PATH, **question("/api/market/quotes/aapl"))
        assert (first.status_code, first.headers["x-ratelimit-remaining"], first.content) == (204, "1", b"")
        second = await client.get(ASK_PATH, **question("/api//market/quotes/%41APL?x=1"))
        assert second.headers["x-ratelimit-remaining"] == "0"
        third = await client.get(ASK_PATH, **question("/api/market/quotes/AAPL"))
        assert (third.status_code, third.headers["retry-after"]) == (403, third.headers["x-ratelimit-reset"])
        other = question("/api/market/quotes/AAPL", **{"x-forwarded-for": STRANGER})
        assert (await client.get(ASK_PATH, **other)).status_code == 204


async def test_a_question_for_a_name_counts_nothing() -> None:
    """The window is the canonical path; names that no feed knows share one."""
    async with worker(PROXY) as client:
        for uri, window in (
            ("/api/market/quotes/aapl", "/api/market/quotes/%7Bsymbol%7D%20AAPL"),
            ("/api/market/quotes/nope1", "/api/market/quotes/%7Bsymbol%7D%20%3F"),
            ("/api/market/quotes/nope2", "/api/market/quotes/%7Bsymbol%7D%20%3F"),
        ):
            answers = [await client.get(ASK_PATH, **question(uri, "name")) for _ in range(4)]
            assert {answer.status_code for answer in answers} == {204}
            assert {answer.headers["x-limit-window"] for answer in answers} == {window}
            assert answers[0].headers["x-limit-requests"] == "2"


@pytest.mark.parametrize(
    "uri", ["/api/health", "/api/nowhere", "/api/auth/profile", "", "/" + "a" * 2000, "/%00"]
)
async def test_a_question_about_any_other_path_has_no_limit(uri: str) -> None:
    """Unlimited and unknown paths, and those of accounts: workers count the request itself."""
    async with worker(PROXY) as client:
        for way in ("count", "name"):
            answer = await client.get(ASK_PATH, **question(uri, way))
            assert (answer.status_code, "x-ratelimit-limit" in answer.headers) == (204, False)
            assert "x-limit-window" not in answer.headers


async def test_the_caches_own_reads_are_not_counted() -> None:
    """They have been counted; their answers, which others will get, have no headers of a window."""
    async with worker(PROXY) as client:
        answers = [await client.get(QUOTES, headers={"x-edge-key": KEY}) for _ in range(5)]
        assert {answer.status_code for answer in answers} == {200}
        assert not [answer for answer in answers if "x-ratelimit-limit" in answer.headers]
        # Reads that the cache has made before are as limited as others.
        assert await statuses(client, QUOTES, 3) == [200, 200, 429]


async def test_the_key_frees_no_account_route() -> None:
    """A cache that sent its key with a login would not open the limit of logins."""
    async with worker(PROXY) as client:
        headers = {"x-edge-key": KEY}
        logins = [await client.post("/api/auth/login", json={}, headers=headers) for _ in range(3)]
        assert [answer.status_code for answer in logins] == [422, 422, 429]


@pytest.mark.parametrize(
    ("peer", "key"), [(STRANGER, KEY), (PROXY, KEY[:-1]), (PROXY, ""), (PROXY, "é"), (STRANGER, "")]
)
async def test_a_client_without_trust_or_key_is_limited(peer: str, key: str) -> None:
    """Both are needed: a client that reaches a worker directly is counted, and finds no route to ask."""
    async with worker(peer) as client:
        headers = {b"x-edge-key": key.encode(), b"x-original-uri": b"/api/market/movers"}
        statuses = [(await client.get(QUOTES, headers=headers)).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert (await client.get(ASK_PATH, headers=headers)).status_code == 404


async def test_public_groups_have_public_routes_only() -> None:
    """No route of an account is in a group that caches count."""
    app = app_of(services(full_mirrors()))
    private = private_of(app)
    groups = {
        handler.opt.get("limit")
        for route in app.routes
        for handler in getattr(route, "route_handlers", [])
        if route.path.startswith(private)
    }
    assert groups
    assert not groups & PUBLIC_GROUPS
