"""A client without a feed or a door asks every route: no answer, header or error holds what it hides."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Final

import httpx
import pytest
from msgspec.structs import replace

from quotecast.access.plans import DOORS, FEEDS, Door, FeedName, Plan
from quotecast.api.route_table import RouteTable
from quotecast.feed.documents import Documents
from quotecast.market.feeds import Feed
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import DOVIZ, app_of, doviz, mirror_of
from support.made.factories import services as parts
from support.made.market import pair, stock
from support.oracles.plan_hunt import prepare, requests
from support.stages.account_service import AccountService, account_service
from support.stages.bar_service import FRIDAY, History, bar

#: Prices and names that stand nowhere else.
POISON: Final = {
    Feed.STOCKS: ("7777.77", "Poison Industries"),
    Feed.CRYPTO: ("8888.88", "Poisoncoin"),
    Feed.DOVIZ: ("9999.99", "Zehir Altın"),
}


def mirrors() -> dict[Feed, Any]:
    """Returns mirrors in which one instrument of each feed has a poisoned price and name."""
    price = {feed: float(poison[0]) for feed, poison in POISON.items()}
    bitter = pair("PSN/USDT", price[Feed.CRYPTO])
    gold = doviz("zehir-altin", "gold")
    return {
        Feed.STOCKS: mirror_of(
            Feed.STOCKS, [stock("PSN", price[Feed.STOCKS], POISON[Feed.STOCKS][1]), stock("AAPL")]
        ),
        Feed.CRYPTO: mirror_of(Feed.CRYPTO, [replace(bitter, name=POISON[Feed.CRYPTO][1]), pair("BTC/USDT")]),
        Feed.DOVIZ: mirror_of(
            Feed.DOVIZ, [replace(gold, price=price[Feed.DOVIZ], name=POISON[Feed.DOVIZ][1]), *DOVIZ]
        ),
    }


def documents() -> Documents:
    """Returns assets and news with the poisoned stock."""
    made = Documents()
    made.assets.take(assets_of(asset("PSN", POISON[Feed.STOCKS][1])))
    made.news.take(news_of(article(headline=POISON[Feed.STOCKS][1], symbols=["PSN"])))
    return made


async def leaks(client: httpx.AsyncClient, feed: Feed, headers: dict[str, str]) -> list[str]:
    """Returns what the routes answer of a feed."""
    document = (await client.get("/api/openapi.json")).json()
    found = []
    for path, query in requests(document):
        answer = await client.get(path, params=query, headers=headers)
        text = answer.text + json.dumps(dict(answer.headers))
        found += [f"{path} {query}: {each}" for each in POISON[feed] if each in text]
    return found


@pytest.fixture(params=[*Feed])
async def closed(
    request: pytest.FixtureRequest, accounts_url: str
) -> AsyncIterator[tuple[AccountService, Feed]]:
    """Runs the routes with a plan of everybody that excludes one feed."""
    feed: Feed = request.param
    others: tuple[FeedName, ...] = tuple(name for name in FEEDS if name != feed.spec.name)
    plans = {"anonymous": Plan(feeds=others)}
    async with account_service(
        accounts_url, plans=plans, mirrors=mirrors(), documents=documents()
    ) as service:
        yield service, feed


async def test_no_route_answers_with_an_excluded_feed(closed: tuple[AccountService, Feed]) -> None:
    service, feed = closed
    user = await prepare(service)
    headers = {"Authorization": f"Bearer {user.token}"}
    assert await leaks(service.client, feed, {}) == []
    assert await leaks(service.client, feed, headers) == []


async def test_the_hunt_finds_the_poison_without_a_plan(accounts_url: str) -> None:
    """Without the plan each feed's poison comes out of several routes: the hunt above can fail."""
    async with account_service(accounts_url, mirrors=mirrors(), documents=documents()) as service:
        user = await prepare(service)
        for feed in Feed:
            headers = {"Authorization": f"Bearer {user.token}"}
            found = await leaks(service.client, feed, headers)
            assert len({each.partition(" ")[0] for each in found}) > 5, feed


#: A close that stands nowhere else.
POISONED_CLOSE: Final = "6666.66"


def table() -> RouteTable:
    return app_of(parts(mirrors())).state.table  # type: ignore[no-any-return]  # an attribute of a state


def with_bars() -> dict[str, Any]:
    """Returns services in which each feed has poisoned bars; the last one closes with the current price."""
    minutes = [FRIDAY - timedelta(minutes=ago) for ago in (60, 30, 0)]
    history = History(*(bar(minute, float(POISONED_CLOSE)) for minute in minutes))
    return {
        "mirrors": mirrors(),
        "documents": documents(),
        "history": {feed: {"test": history} for feed in Feed},
    }


async def codes(client: httpx.AsyncClient, **more: str) -> AsyncIterator[tuple[str, set[str], str]]:
    """Yields each GET route's path, its doors by the table, and the code of its answer to a first request."""
    routes, seen = table(), set()
    for path, query in requests((await client.get("/api/openapi.json")).json()):
        asked = {"type": "http", "method": "GET", "path": path, "query_string": b""}
        route = routes.route_of(asked)
        if route is None or not route.has_data or (path, route) in seen:
            continue
        seen.add((path, route))
        answer = await client.get(path, params=query | more)
        is_json = answer.headers.get("content-type") == "application/json"
        body = answer.json() if is_json else None
        doors = {*route.doors, *(["replay"] if route.has_moment and "at" in more else [])}
        yield path, doors, body.get("code", "") if isinstance(body, dict) else ""


@pytest.mark.parametrize("door", [each for each in DOORS if each not in {"mcp", "websocket"}])
async def test_a_closed_door_closes_the_routes_that_declare_it(door: Door, accounts_url: str) -> None:
    """And no others. Sockets and tools have tests of their own."""
    plans = {"anonymous": Plan(doors=tuple(each for each in DOORS if each != door))}
    more = {"at": "2026-11-20T12:00:00Z"} if door == "replay" else {}
    async with account_service(accounts_url, plans=plans, **with_bars()) as service:
        found = [each async for each in codes(service.client, **more)]
    closed = {path for path, _, code in found if code == "plan_doors"}
    assert closed == {path for path, doors, _ in found if door in doors}
    assert closed


@pytest.mark.parametrize("is_open", [True, False])
async def test_no_route_answers_with_bars_behind_a_closed_door(accounts_url: str, *, is_open: bool) -> None:
    """With the door open the poisoned bar comes out of the routes of all feeds, UDF, OpenBB and CSV."""
    doors = DOORS if is_open else tuple(each for each in DOORS if each != "bars")
    found = set()
    async with account_service(accounts_url, plans={"anonymous": Plan(doors=doors)}, **with_bars()) as made:
        for path, query in requests((await made.client.get("/api/openapi.json")).json()):
            answer = await made.client.get(path, params=query)
            if POISONED_CLOSE in answer.text:
                found.add(path.split("/")[2] + (" csv" if "format" in query else ""))
    expected = {"market", "crypto", "doviz", "udf", "openbb", "market csv", "crypto csv", "doviz csv"}
    assert found == (expected if is_open else set())


async def test_a_closed_plan_leaves_accounts_and_the_reference_open(accounts_url: str) -> None:
    plans = {"anonymous": Plan(feeds=(), doors=()), "user": Plan(feeds=FEEDS, doors=DOORS)}
    async with account_service(accounts_url, plans=plans, mirrors=mirrors()) as service:
        user = await service.register()
        for path in ("/api/health", "/api/openapi.json", "/api/docs"):
            assert (await service.client.get(path)).status_code == 200
        refused = await service.client.get("/api/market/quotes/PSN")
        assert (refused.status_code, refused.json()["detail"]) == (403, 'Plan "anonymous" includes no feeds')
        assert (await user.get("/api/market/quotes/PSN")).json()["price"] == 7777.77
