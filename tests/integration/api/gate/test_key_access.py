"""API keys and plans on a running service of two workers: requests, feeds, event streams, tickets."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from websockets.sync.client import connect

from quotecast.access.plans import Plan
from quotecast.database import migrations
from support.clients.scraping import decided_alone
from support.made.keys import KeyMaker
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import FeedClient, Service

PLANS: Final = """
[plans.free]
feeds = ["crypto"]
doors = ["bars", "websocket"]
sockets = 2
symbols = 2
interval_ms = 1000
history_days = 30
requests = { crypto = 3 }
"""


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, KeyMaker, list[str]]]:
    """Runs two workers that know the plan `free` from a file; yields the URLs of their metrics too."""
    plans: Path = tmp_path_factory.mktemp("plans") / "plans.toml"
    plans.write_text(PLANS)
    with running_valkey() as valkey, running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        settings = {"QUOTECAST_DATABASE_URL": postgres.url, "QUOTECAST_PLANS": str(plans)}
        with Service(valkey, settings) as running:
            running.start("ingest")
            metrics = [running.start_measured("api") for _ in range(2)]
            yield running, KeyMaker(postgres.url), metrics


@pytest.fixture
def service(parts: tuple[Service, KeyMaker, list[str]]) -> Service:
    return parts[0]


@pytest.fixture
def keys(parts: tuple[Service, KeyMaker, list[str]]) -> KeyMaker:
    return parts[1]


def get(service: Service, key: str, path: str, **more: Any) -> httpx.Response:
    return service.get(path, headers={"X-API-Key": key, **more.pop("headers", {})}, **more)


def refused(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def opened(service: Service, stack: ExitStack, path: str, key: str, **more: Any) -> FeedClient:
    return stack.enter_context(service.feed(path, additional_headers={"X-API-Key": key}, **more))


def ended(client: FeedClient) -> tuple[dict[str, Any], int | None]:
    """Returns the last error of a socket, and its close code."""
    error = client.next_of("error")
    return error, client.closed()


def test_both_headers_carry_a_key_and_the_answer_names_its_plan(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    first = get(service, key, "/api/crypto/quotes/BTC-USDT")
    assert first.status_code == 200
    assert first.headers["x-plan"] == "free"
    assert first.headers["x-ratelimit-limit"] == "3"
    assert "private" in first.headers["cache-control"]
    assert "public" not in first.headers["cache-control"]
    bearer = service.get("/api/crypto/quotes/BTC-USDT", headers={"Authorization": f"Bearer {key}"})
    assert bearer.status_code == 200
    assert "public" in service.get("/api/crypto/quotes/BTC-USDT").headers["cache-control"]


@pytest.mark.parametrize("text", ["qc_live_nonsense", "", "x" * 9000, f"qc_live_{'0' * 24}_{'A' * 43}"])
def test_a_wrong_key_is_401_also_where_nobody_needs_one(service: Service, text: str) -> None:
    assert refused(get(service, text, "/api/crypto/quotes/BTC-USDT")) == (401, "invalid_key")


def test_the_secret_decides_not_the_id(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    assert get(service, key, "/api/crypto/symbols").status_code == 200
    assert refused(get(service, key[:-1] + ("A" if key[-1] != "A" else "B"), "/api/crypto/symbols"))[0] == 401


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/market/quotes?symbols=AAPL", "plan_feeds"),
        ("/api/market//quotes/AAPL/", "plan_feeds"),
        ("/api/market/news", "plan_feeds"),
        ("/api/financials/company/AAPL/overview", "plan_feeds"),
        ("/api/openbb/market/quotes", "plan_feeds"),
        ("/api/udf/quotes?symbols=crypto:BTC/USDT", "plan_doors"),
        ("/api/sse/crypto?symbols=all", "plan_doors"),
        ("/api/crypto/quotes?at=2026-11-20T12:00:00Z", "plan_doors"),
        ("/api/crypto/quotes?%61t=2026-11-20T12:00:00Z", "plan_doors"),
        ("/api/crypto/bars/BTC-USDT?timeframe=1h&start=2020-01-01", "plan_history"),
    ],
)
def test_a_plan_names_the_bound_that_refuses(service: Service, keys: KeyMaker, path: str, code: str) -> None:
    _, key = keys.make("free")
    response = get(service, key, path)
    assert refused(response) == (403, code)
    assert response.json()["detail"].startswith('Plan "free" ')


def test_search_and_status_know_only_the_feeds_of_the_plan(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    found = get(service, key, "/api/search?q=AAPL").json()
    assert "AAPL" not in json.dumps(found)
    assert "BTC/USDT" in json.dumps(get(service, key, "/api/search?q=BTC").json())
    assert "AAPL" in json.dumps(service.get("/api/search?q=AAPL").json())


def test_the_newest_bars_end_where_the_plans_past_begins(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    path = "/api/crypto/bars/BTC-USDT?timeframe=D&limit=500"
    bars = get(service, key, path).json()
    assert 28 <= len(bars) <= 32
    assert len(service.get(path).json()) == 500


def test_the_plans_window_holds_over_both_workers(parts: tuple[Service, KeyMaker, list[str]]) -> None:
    service, keys, workers = parts
    _, key = keys.make("free")
    before = decided_alone(workers)
    answers = [get(service, key, "/api/crypto/quotes/ETH-USDT").status_code for _ in range(6)]
    assert {*answers} <= {200, 429}
    assert 3 <= answers.count(200) <= 3 + decided_alone(workers) - before
    assert service.get("/api/crypto/quotes/ETH-USDT").status_code == 200


def test_a_key_opens_no_account(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make()
    for headers in ({"X-API-Key": key}, {"Authorization": f"Bearer {key}"}):
        assert refused(service.get("/api/keys", headers=headers)) == (403, "key_not_enough")
        assert refused(service.get("/api/portfolio/holdings", headers=headers)) == (403, "key_not_enough")


def test_a_feed_keeps_to_the_plan(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    with ExitStack() as stack:
        client = opened(service, stack, "/api/ws/crypto?symbols=BTC-USDT", key)
        assert client.next()["limits"] == {"symbols": 2, "interval": 1000}
        assert client.next_of("subscribed")["interval"] == 1000
        client.send('{"action":"subscribe","symbols":"all","id":1}')
        assert client.next_of("error")["detail"] == 'Plan "free" has at most 2 symbols per socket, so not all'
        client.send('{"action":"subscribe","symbols":["ETH-USDT","SOL-USDT"],"id":2}')
        assert client.next_of("error")["code"] == 403
        client.send('{"action":"subscribe","symbols":["ETH-USDT"],"interval":250,"id":3}')
        assert "interval of at least 1000" in client.next_of("error")["detail"]
        client.send('{"action":"subscribe","symbols":["ETH-USDT"],"id":4}')
        assert client.next_of("subscribed")["symbols"] == ["BTC/USDT", "ETH/USDT"]


def test_a_feed_outside_the_plan_says_so_and_closes(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    with ExitStack() as stack:
        error, code = ended(opened(service, stack, "/api/ws/market?symbols=AAPL", key))
        assert (error["code"], error["detail"], code) == (403, 'Plan "free" includes crypto only', 4403)
        everything = opened(service, stack, "/api/ws?crypto=BTC-USDT&market=AAPL", key)
        assert [*everything.next()["feeds"]] == ["crypto"]


def test_requests_for_a_feeds_path_open_no_feed(service: Service, keys: KeyMaker) -> None:
    """The gate remembers what it admitted over HTTP, which means nothing for a socket on the same path."""
    _, key = keys.make("free")
    for path in ("/api/ws/market", "/api/ws/openbb/crypto", "/api/ws/crypto"):
        for _ in range(6):
            assert get(service, key, path).status_code == 426
    with ExitStack() as stack:
        for path in ("/api/ws/market?symbols=AAPL", "/api/ws/openbb/crypto"):
            assert ended(opened(service, stack, path, key))[1] == 4403
        for _ in range(2):
            assert opened(service, stack, "/api/ws/crypto", key).next()["type"] == "welcome"
        assert ended(opened(service, stack, "/api/ws/crypto", key))[1] == 4453


def test_a_key_in_an_address_opens_nothing(service: Service, keys: KeyMaker) -> None:
    """Addresses are in logs; only a ticket may be there."""
    _, key = keys.make()
    with service.feed(f"/api/ws/crypto?ticket={key}") as client:
        assert ended(client)[1] == 4401
    assert refused(service.get(f"/api/sse/crypto?symbols=all&ticket={key}")) == (401, "invalid_key")


def test_sockets_are_counted_over_both_workers(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    with ExitStack() as stack:
        first, second = (opened(service, stack, "/api/ws/crypto", key) for _ in range(2))
        assert [first.next()["type"], second.next()["type"]] == ["welcome"] * 2
        error, code = ended(opened(service, stack, "/api/ws/crypto", key))
        assert (error["detail"], code) == ('Plan "free" has at most 2 sockets and event streams', 4453)
        first.connection.close()
        while ended_code(service, key) == 4453:
            pass


def ended_code(service: Service, key: str) -> int | None:
    """Opens a socket; returns its close code, or None for one that is welcome."""
    with service.feed("/api/ws/crypto", additional_headers={"X-API-Key": key}) as client:
        return None if client.next()["type"] == "welcome" else client.closed()


def test_a_ticket_opens_one_socket(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make("free")
    made = service.post("/api/keys/ticket", headers={"X-API-Key": key})
    assert made.status_code == 200
    assert made.headers["cache-control"] == "no-store"
    ticket = made.json()["ticket"]
    path = f"/api/ws/crypto?symbols=BTC-USDT&ticket={ticket}"
    with service.feed(path) as client:
        assert client.next()["limits"] == {"symbols": 2, "interval": 1000}
    with service.feed(path) as again:
        error, code = ended(again)
        assert (error["code"], code) == (401, 4401)
    assert refused(service.post("/api/keys/ticket")) == (401, "not_authenticated")


def test_a_revoked_key_ends_its_sockets_on_every_worker(service: Service, keys: KeyMaker) -> None:
    key_id, key = keys.make()
    other_id, other = keys.make()
    with ExitStack() as stack:
        clients = [opened(service, stack, "/api/ws/crypto?symbols=BTC-USDT", key) for _ in range(8)]
        bystander = opened(service, stack, "/api/ws/crypto?symbols=BTC-USDT", other)
        for client in (*clients, bystander):
            client.next_of("snapshot")
        keys.revoke(key_id)
        assert {ended(client)[1] for client in clients} == {4401}
        assert bystander.next_of("update")
        assert refused(get(service, key, "/api/crypto/symbols")) == (401, "invalid_key")
        assert get(service, other, "/api/crypto/symbols").status_code == 200
    assert other_id != key_id


def test_another_plan_closes_sockets_with_an_invitation(service: Service, keys: KeyMaker) -> None:
    keys.store_plan("silver", Plan(symbols=5))
    key_id, key = keys.make("silver")
    with ExitStack() as stack:
        client = opened(service, stack, "/api/ws/crypto?symbols=BTC-USDT", key)
        assert client.next()["limits"] == {"symbols": 5}
        client.next_of("snapshot")
        keys.set_plan(key_id, "free")
        error, code = ended(client)
        assert (error["detail"], code) == ("The rights of this API key changed; connect again", 4452)
        assert opened(service, stack, "/api/ws/crypto", key).next()["limits"]["symbols"] == 2


def test_the_scope_of_a_key_narrows_its_plan(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make(feeds=("market",), symbols=("AAPL", "sector:Energy"))
    energy = next(
        quote["ticker"]
        for quote in service.get("/api/market/quotes?symbols=all").json().values()
        if quote["sector"] == "Energy"
    )
    assert get(service, key, f"/api/market/quotes?symbols=aapl,{energy}").status_code == 200
    assert get(service, key, "/api/market/bars/AAPL?range=1D").status_code == 200
    assert get(service, key, "/api/market/status").status_code == 200
    for path in (
        "/api/openbb/market/symbols",
        "/api/market/quotes?symbols=all",
        "/api/market/quotes?symbols=AAPL,MSFT",
        "/api/market/quotes?symbols=AAPL&symbols=MSFT",
        "/api/market/quotes?symbols=AAPL&%73ymbols=MSFT",
        "/api/market/quotes/MSFT",
        "/api/market/quotes/MSFT?symbols=AAPL",
        "/api/market/bars/MSFT",
        "/api/market/heatmap",
        "/api/market/movers",
        "/api/udf/quotes?symbols=AAPL",
        "/api/openbb/market/quotes?symbol=AAPL",
        "/api/search?q=A",
        "/api/crypto/symbols",
    ):
        assert refused(get(service, key, path)) == (403, "key_scope"), path
    with ExitStack() as stack:
        client = opened(service, stack, f"/api/ws/market?symbols=AAPL,MSFT,{energy}", key)
        answer = client.next_of("subscribed")
        assert answer["symbols"] == sorted(["AAPL", energy])
        assert answer["rejected"] == [{"symbol": "MSFT", "code": 403}]
        client.send('{"action":"subscribe","symbols":"all"}')
        assert client.next_of("error")["code"] == 403


def test_lists_show_a_key_only_its_symbols(service: Service, keys: KeyMaker) -> None:
    """Also those of its groups; another key and no key see theirs at the same address."""
    _, key = keys.make(symbols=("AAPL", "BTC/USDT", "category:gold"))
    _, other = keys.make(symbols=("MSFT",))
    assets = get(service, key, "/api/market/assets")
    assert [each["ticker"] for each in assets.json()] == ["AAPL"]
    assert assets.headers["X-Total-Count"] == "1"
    assert get(service, key, "/api/market/assets?search=microsoft").json() == []
    assert [each["ticker"] for each in get(service, key, "/api/crypto/symbols").json()] == ["BTC/USDT"]
    doviz = get(service, key, "/api/doviz/symbols").json()
    everything = service.get("/api/doviz/symbols").json()
    assert doviz == {name: each if name == "gold" else [] for name, each in everything.items()}
    assert everything["gold"]
    assert [each["ticker"] for each in get(service, other, "/api/market/assets").json()] == ["MSFT"]
    assert get(service, other, "/api/crypto/symbols").json() == []
    assert len(service.get("/api/market/assets").json()) > 100


def test_a_key_is_for_its_origins_and_addresses(service: Service, keys: KeyMaker) -> None:
    _, key = keys.make(origins=("https://app.example.com",))
    path = "/api/crypto/symbols"
    assert get(service, key, path, headers={"Origin": "https://app.example.com"}).status_code == 200
    assert refused(get(service, key, path, headers={"Origin": "https://evil.example"})) == (403, "key_scope")
    assert get(service, key, path).status_code == 200
    _, elsewhere = keys.make(addresses=("192.0.2.0/24",))
    assert refused(get(service, elsewhere, path)) == (403, "key_scope")
    _, here = keys.make(addresses=("127.0.0.0/8",))
    assert get(service, here, path).status_code == 200
    with connect(
        f"ws://127.0.0.1:{service.port}/api/ws/crypto", additional_headers={"X-API-Key": elsewhere}
    ) as socket:
        assert json.loads(socket.recv(10))["code"] == 403
