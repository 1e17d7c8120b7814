"""Counts of HTTP requests, the access log, and names of trace spans."""

from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from quotecast.access.request_state import request_state
from quotecast.api.limits.repeats import Repeats
from quotecast.api.limits.requests import Requests, access_log, span_attributes
from quotecast.api.limits.throttle import Throttle
from quotecast.api.middleware.middleware import Middleware
from quotecast.limits.decision import Decision
from quotecast.limits.fallback import LocalWindow
from support.made.factories import app_of, edge_of, full_mirrors, services

LIMITS = dict.fromkeys(("auth", "market", "crypto", "doviz", "financials", "portfolio", "watchlist"), 2)
SECRET = "planted-canary"


def client_of(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://quotecast")


async def counts_after(*paths: str, **headers: str) -> Requests:
    """Returns the counts after a GET of each path."""
    requests = Requests()
    app = edge_of(services(full_mirrors()), observers=[requests.observe])
    async with client_of(app) as client:
        for path in paths:
            await client.get(path, headers=headers)
    return requests


async def test_requests_are_counted_by_route_and_status() -> None:
    """The label is the route's template, not the symbol."""
    requests = await counts_after(
        "/api/market/quotes/AAPL", "/api/market/quotes/MSFT", "/api/market/quotes/NOSUCH"
    )
    latencies = requests.latencies()
    ok, missing = (latencies["GET", "/api/market/quotes/{symbol}", status] for status in ("200", "404"))
    assert len(latencies) == 2
    assert (ok.cumulative()[-1][1], ok.total) == (2, 1.0)
    assert (missing.cumulative()[-1][1], missing.total) == (1, 0.5)


@pytest.mark.parametrize("method", ["GET", "BREW", "OPTIONS"])
async def test_no_words_of_a_client_become_labels(method: str) -> None:
    """Requests for unknown paths must not fill the memory of Prometheus."""
    requests = Requests()
    app = edge_of(services(full_mirrors()), observers=[requests.observe])
    async with client_of(app) as client:
        for number in range(20):
            await client.request(method, f"/nothing/{number}")
    assert {key[:2] for key in requests.latencies()} == {("other", "other")}


async def test_head_counts_as_what_it_is_routed_as() -> None:
    """HEAD costs as much as GET."""
    requests = Requests()
    async with client_of(edge_of(services(full_mirrors()), observers=[requests.observe])) as client:
        await client.head("/api/market/quotes/AAPL")
    assert [*requests.latencies()] == [("GET", "/api/market/quotes/{symbol}", "200")]


class Limiter:
    """Admits two requests per key, and remembers refusals like a worker's own memory."""

    def __init__(self) -> None:
        self._window = LocalWindow(60)
        self._refused: set[str] = set()

    async def check(self, key: str, limit: int) -> Decision:
        decision = self._window.check(key, limit)
        if not decision.admitted and key in self._refused:
            return Decision(False, limit, 0, decision.reset, remembered=True)
        if not decision.admitted:
            self._refused.add(key)
        return decision

    async def give_back(self, key: str) -> None:
        self._window.give_back(key)


def limited(requests: Requests) -> Middleware:
    limiter = Limiter()
    made = services(full_mirrors())
    limits = Throttle(
        limiter.check,
        limiter.give_back,
        limits=LIMITS,
        find=made.names.find,
        identify=everybody,
        by_address=everybody,
    )
    routed = app_of(made, throttle=limits)
    repeats = Repeats(routed, throttle=limits)
    return Middleware(
        repeats,
        cors_origins=["*"],
        account_origins=[],
        websocket_origins=["*"],
        observers=[requests.observe],
    )


def everybody(_: object) -> str:
    return "everybody"


async def test_decisions_of_limits_are_counted() -> None:
    """By group, for routed and for repeated reads; remembered refusals count separately."""
    requests = Requests()
    async with client_of(limited(requests)) as client:
        for _ in range(5):
            await client.get("/api/market/quotes/AAPL")
        await client.get("/api/doviz/symbols")
        await client.get("/api/health")
    assert requests.decisions() == {
        ("market", "admitted"): 2,
        ("market", "refused"): 1,
        ("market", "remembered"): 2,
        ("doviz", "admitted"): 1,
    }
    routes = {route for _, route, _ in requests.latencies()}
    assert routes == {"/api/market/quotes/{symbol}", "/api/doviz/symbols", "/api/health"}


@pytest.mark.parametrize(("chance", "events"), [(0.0, 3), (0.24, 3), (0.25, 0), (0.99, 0)])
async def test_a_share_of_the_requests_is_logged(chance: float, events: int) -> None:
    """The fraction is a probability per request."""
    app = edge_of(services(full_mirrors()), observers=[access_log(0.25, chance=lambda: chance)])
    with capture_logs() as logged:
        async with client_of(app) as client:
            for _ in range(3):
                await client.get("/api/market/quotes/AAPL")
    assert len(logged) == events


async def test_a_logged_request_tells_no_secret() -> None:
    """The event has method, route, status and time, and no text of the client."""
    app = edge_of(services(full_mirrors()), observers=[access_log(1.0)])
    with capture_logs() as logged:
        async with client_of(app) as client:
            headers = {"authorization": f"Bearer {SECRET}", "cookie": SECRET}
            await client.get(f"/api/market/quotes/AAPL?token={SECRET}", headers=headers)
            await client.get(f"/reset/{SECRET}", headers=headers)
    assert SECRET not in str(logged)
    assert len({each.pop("request_id") for each in logged}) == 2
    expected = {"event": "request", "log_level": "info", "milliseconds": 500.0}
    assert logged == [
        {**expected, "method": "GET", "route": "/api/market/quotes/{symbol}", "status": 200},
        {**expected, "method": "other", "route": "other", "status": 404},
    ]


def test_a_trace_names_the_route() -> None:
    """The span also has the request's id, which finds its events in the log."""
    scope: dict[str, Any] = {"method": "GET"}
    request_state(scope).request_id = "abc"
    assert span_attributes(scope) == {"quotecast.request_id": "abc"}
    scope["path_template"] = "/api/market/news"
    assert span_attributes(scope) == {"quotecast.request_id": "abc", "http.route": "/api/market/news"}
