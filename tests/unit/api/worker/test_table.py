"""The table of routes: each route declares what it serves and asks for."""

from typing import Annotated, Any

import pytest
from litestar import Litestar, Router, get
from litestar.exceptions import ImproperlyConfiguredException
from litestar.params import FromPath, FromQuery, QueryParameter

from quotecast.api.route_table import EVERY, Route, RouteTable
from quotecast.api.worker.app import build_app
from quotecast.market.feeds import Feed
from quotecast.stream.event_stream import EVENT_PATHS
from support.made.factories import app_of, empty_mirrors, services


def table_of(*handlers: Any) -> RouteTable:
    return RouteTable(Litestar([*handlers], openapi_config=None, logging_config=None))


def asked(path: str, method: str = "GET", query: bytes = b"") -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "query_string": query}


@get("/api/candles/{symbol:path}", sync_to_thread=False, opt={"door": "bars", "symbols": "path"})
def candles(symbol: FromPath[str], at: FromQuery[str | None] = None) -> str:
    return f"{symbol} {at}"


@get("/api/candles", sync_to_thread=False)
def undeclared() -> str:
    return ""


@get("/api/candles", sync_to_thread=False, opt={"feed": EVERY, "dor": "bars"})
def misspelt() -> str:
    return ""


@get("/api/candles", sync_to_thread=False, opt={"feed": "market"})
def unknown_feed() -> str:
    return ""


@get("/api/candles/{name:str}", sync_to_thread=False, opt={"feed": Feed.STOCKS, "symbols": "path"})
def unnamed(name: FromPath[str]) -> str:
    return name


@pytest.mark.parametrize(
    ("handler", "complaint"),
    [
        (unknown_feed, r"/api/candles must declare its `feed`: a Feed, EVERY or None"),
        (unnamed, r"/api/candles/\{name:str\} has no parameter `symbol`"),
        (undeclared, r"/api/candles must declare its `feed`: a Feed, EVERY or None"),
        (misspelt, r"/api/candles declares dor, which has no meaning"),
    ],
)
def test_a_service_does_not_start_with_a_route_that_declares_too_little(handler: Any, complaint: str) -> None:
    """The gate would let its requests through."""
    with pytest.raises(ImproperlyConfiguredException, match=complaint):
        build_app(services(empty_mirrors()), extra_handlers=[handler])


@pytest.mark.parametrize(
    ("declared", "complaint", "is_routers"),
    [
        ({"door": "bar"}, "/api/candles declares door 'bar'; there are: bars, ", False),
        ({"door": "bar"}, "/api/candles declares door 'bar'; there are: bars, ", True),
        ({"symbols": "querry"}, "/api/candles declares symbols 'querry'; there are: path, ", False),
        ({"limit": "markets"}, "/api/candles declares limit 'markets'; there are: .*market, ", False),
        ({"live": "yes"}, "/api/candles declares live 'yes'; there are: True, False", False),
        ({"by_address": 2}, "/api/candles declares by_address 2; there are: True, False", False),
    ],
)
def test_a_service_does_not_start_with_a_declaration_of_no_meaning(
    *, declared: dict[str, Any], complaint: str, is_routers: bool
) -> None:
    """The first request would fail, or pass unchecked."""

    @get("/candles", sync_to_thread=False, opt={"feed": EVERY} | ({} if is_routers else declared))
    def candles_of_all() -> str:
        return ""

    router = Router("/api", route_handlers=[candles_of_all], opt=declared if is_routers else {})
    with pytest.raises(ImproperlyConfiguredException, match=complaint):
        build_app(services(empty_mirrors()), extra_handlers=[router])


def test_a_recorded_moment_is_the_parameter_of_the_query() -> None:
    """The gate checks the query, whatever name the route's function has for the parameter."""

    @get("/api/candles", sync_to_thread=False, opt={"feed": EVERY})
    def candles_at(moment: Annotated[str | None, QueryParameter(name="at")] = None) -> str:
        return f"{moment}"

    @get("/api/lines", sync_to_thread=False, opt={"feed": EVERY})
    def lines(at: Annotated[str | None, QueryParameter(name="place")] = None) -> str:
        return f"{at}"

    table = table_of(candles_at, lines)
    assert table.route_of(asked("/api/candles")) == Route(has_moment=True)
    assert table.route_of(asked("/api/lines")) == Route()


def test_a_service_does_not_start_with_an_event_stream_without_a_route(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The feed server would serve it, and the gate would let its requests through."""
    monkeypatch.setitem(EVENT_PATHS, "/api/sse/bonds", Feed.STOCKS)
    with pytest.raises(ImproperlyConfiguredException, match="/api/sse/bonds needs a route"):
        build_app(services(empty_mirrors()))


def test_doors_of_a_route_and_of_its_routers_add_up() -> None:
    router = Router("/udf", route_handlers=[candles], opt={"feed": Feed.CRYPTO, "door": "udf"})
    assert table_of(router).route_of(asked("/udf/api/candles/BTC/USDT")) == Route(
        feed=Feed.CRYPTO, doors=("udf", "bars"), symbols="path", has_moment=True
    )


@pytest.mark.parametrize(
    ("method", "path", "is_found"),
    [
        ("GET", "/api/market/quotes", True),
        ("HEAD", "/api/market/quotes", True),
        ("GET", "//api//market/quotes/", True),
        ("POST", "/api/market/quotes", False),
        ("OPTIONS", "/api/market/quotes", False),
        ("GET", "/api/market/quotesX", False),
        ("GET", "/", False),
    ],
)
def test_a_route_is_found_as_the_router_finds_it(method: str, path: str, *, is_found: bool) -> None:
    """What the router answers by itself, 404, 405 or the methods of a path, is no route."""
    found = app_of(services(empty_mirrors())).state.table.route_of(asked(path, method))
    assert (found == Route(feed=Feed.STOCKS, symbols="query", has_moment=True)) is is_found


@pytest.mark.parametrize(
    ("path", "query", "symbols"),
    [
        ("/api/crypto/quotes/BTC/USDT", b"", ["BTC/USDT"]),
        ("/api/crypto/quotes", b"symbols=BTC/USDT,+ETH/USDT,", ["BTC/USDT", "ETH/USDT"]),
        ("/api/crypto/quotes", b"%73ymbols=BTC/USDT", ["BTC/USDT"]),
        ("/api/crypto/quotes", b"symbols=BTC/USDT&symbols=ETH/USDT", []),
        ("/api/crypto/quotes", b"", []),
        ("/api/crypto/symbols", b"symbols=BTC/USDT", []),
        ("/api/nothing", b"symbols=BTC/USDT", []),
    ],
)
def test_symbols_of_a_request_stand_where_its_route_says(path: str, query: bytes, symbols: list[str]) -> None:
    table: RouteTable = app_of(services(empty_mirrors())).state.table
    assert [*table.symbols_of(asked(path, query=query))] == symbols


@pytest.mark.parametrize(
    ("path", "doors"),
    [
        ("/api/ws/market", ("websocket",)),
        ("/api/ws/openbb/doviz", ("websocket", "openbb")),
        ("/api/ws/unknown", ("websocket",)),
    ],
)
def test_sockets_need_the_door_of_sockets(path: str, doors: tuple[str, ...]) -> None:
    route = app_of(services(empty_mirrors())).state.table.route_of({"type": "websocket", "path": path})
    assert (route.doors, route.is_stream) == (doors, True)
