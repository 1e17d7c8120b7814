"""MCP over both transports against a running service, with the SDK's own client."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest

from quotecast.asgi import code_of_status
from quotecast.database import migrations
from quotecast.mcp.tools import TOOLS
from support.clients.mcp_clients import environment, over_http, over_stdio, refusal, structured
from support.clients.scraping import scrape
from support.runs.deadlines import scaled
from support.servers.processes import running_postgres, running_valkey
from support.servers.service import Service

LIMIT: Final = 3
PING: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CONTENT: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
SETTINGS: Final = {
    "QUOTECAST_TRUSTED_PROXIES": "127.0.0.1",
    "QUOTECAST_LIMIT_DOVIZ": str(LIMIT),
    "QUOTECAST_LIMIT_MCP": "30",
    "QUOTECAST_LOG_LEVEL": "debug",
    "QUOTECAST_METRICS_PORT": "-1",
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the file with everything that the workers log."""
    return tmp_path_factory.mktemp("mcp") / "log"


class Running(NamedTuple):
    """An ingest and a worker, and the address of the worker's metrics."""

    service: Service
    metrics: str


@pytest.fixture(scope="module")
def running(log: Path) -> Iterator[Running]:
    with (
        log.open("wb") as errors,
        running_valkey() as valkey,
        running_postgres() as postgres,
        Service(valkey, {**SETTINGS, "QUOTECAST_DATABASE_URL": postgres.url}) as service,
    ):
        asyncio.run(migrations.apply(postgres.url))
        service.start("ingest")
        service.launch("api", stderr=errors)
        said = service._links[-1].recv(1000).decode()
        found = re.search(r"; tools for language models on /mcp;.*; metrics on (http://\S+)\n", said)
        assert found, said
        yield Running(service, found[1])


@pytest.fixture(scope="module")
def service(running: Running) -> Service:
    return running.service


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    """Returns the token of a user who owns a share."""
    body = {"name": "Ayşe", "email": "ayse@example.com", "password": "correct horse battery"}
    token: str = service.post("/api/auth/register", json=body).json()["token"]
    holding = {"ticker": "AAPL", "shares": 1, "avg_cost": 2}
    bearer = {"authorization": f"Bearer {token}"}
    assert service.post("/api/portfolio/holdings", json=holding, headers=bearer).status_code == 201
    return token


def post(service: Service, body: Any = PING, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return service.post("/mcp", content=content, headers=CONTENT | headers)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_generations_of_the_protocol_read_the_service_s_data(service: Service, mode: str) -> None:
    """The result is what the REST route answers; it is structured, with a text for other clients."""
    async with over_http(service.url, mode=mode) as client:
        result = await client.call_tool("company", {"symbol": "AAPL", "part": "earnings"})
        resource = await client.read_resource("quotecast://symbols/crypto")
    earnings = service.get("/api/financials/company/AAPL/earnings").json()
    assert result.structured_content == {"record": {"earnings": earnings}}
    summary, text = result.content
    assert summary.text == "One record."  # type: ignore[union-attr]  # a text
    assert json.loads(text.text) == result.structured_content  # type: ignore[union-attr]  # a text
    pairs = service.get("/api/crypto/symbols").json()
    assert json.loads(resource.contents[0].text) == pairs  # type: ignore[union-attr]  # a text


async def test_every_tool_works_and_says_that_it_only_reads(service: Service, token: str) -> None:
    """The client checks each result against the tool's schema."""
    given: dict[str, dict[str, Any]] = {
        "search": {"query": "apple"},
        "quotes": {"symbols": ["AAPL", "ZZZZ"]},
        "bars": {"symbol": "BTC/USDT", "feed": "crypto", "limit": 2},
        "company": {"symbol": "AAPL"},
    }
    async with over_http(service.url, {"authorization": f"Bearer {token}"}) as client:
        tools = (await client.list_tools()).tools
        found = {tool.name: await structured(client, tool.name, **given.get(tool.name, {})) for tool in tools}
    for tool in tools:
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is (tool.name == "news")
        assert tool.description
    assert found["quotes"]["missing"] == ["ZZZZ"]
    assert len(found["bars"]["rows"]) == 2
    assert found["feed_state"]["record"]["feeds"]["stocks"]["simulated"]
    assert [row["ticker"] for row in found["portfolio"]["rows"]] == ["AAPL"]


async def test_account_data_needs_the_users_token(service: Service, log: Path, token: str) -> None:
    """Without one the tools are not listed, and the service refuses; no token is in a log."""
    async with over_http(service.url) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        said = await refusal(client, "portfolio")
    assert not names & {"portfolio", "watchlist", "watchlists"}
    assert said.startswith("Not authenticated (HTTP 401, not_authenticated, ")
    async with over_http(service.url, {"authorization": "Bearer forged"}) as client:
        assert "invalid_token" in await refusal(client, "watchlists")
    logged = await asyncio.to_thread(log.read_text, "utf-8")
    assert token not in logged
    assert "Traceback" not in logged


async def test_limits_are_those_of_the_route_for_the_client_s_address(service: Service) -> None:
    """Reads by MCP and by REST share one window; another client has its own."""
    mine, other = {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-for": "192.0.2.2"}
    wanted = {"feed": "doviz", "symbols": ["gram-altin"]}
    async with over_http(service.url, mine) as client:
        for _ in range(LIMIT - 1):
            await structured(client, "quotes", **wanted)
        assert service.get("/api/doviz/quotes", headers=mine).status_code == 200
        said = await refusal(client, "quotes", **wanted)
        assert said.startswith("Too Many Requests; try again in ")
    assert service.get("/api/doviz/quotes", headers=mine).status_code == 429
    async with over_http(service.url, other) as client:
        await structured(client, "quotes", **wanted)


def test_requests_to_mcp_itself_have_a_limit(service: Service) -> None:
    with httpx.Client(base_url=service.url, headers=CONTENT | {"x-forwarded-for": "192.0.2.3"}) as client:
        answers = [client.post("/mcp", json=PING) for _ in range(31)]
    assert [each.status_code for each in answers] == [200] * 30 + [429]
    assert answers[0].headers["x-ratelimit-limit"] == "30"
    assert answers[0].headers["cache-control"] == "no-store"


def test_a_request_needs_no_session(service: Service) -> None:
    """Any worker answers it: a client that lost its worker goes on with another."""
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "movers", "arguments": {}}}
    answer = post(service, call, **{"mcp-protocol-version": "2025-11-25"})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    assert not answer.json()["result"]["isError"]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (PING, {"host": "attacker.example"}, 421),
        (PING, {"origin": "https://attacker.example"}, 403),
        (PING, {"content-type": "text/plain"}, 400),
        (b"{", {}, 400),
        (b" " * 70_000, {}, 413),
        ([PING, PING], {}, 400),
        (PING, {"origin": "http://localhost:5173"}, 200),
    ],
    ids=["host", "origin", "type", "no JSON", "too large", "batch", "local page"],
)
def test_a_request_of_another_site_or_form_is_refused(
    service: Service, body: Any, headers: dict[str, str], status: int
) -> None:
    """Neither DNS rebinding nor another site's page reaches a tool."""
    answer = post(service, body, **{"x-forwarded-for": "192.0.2.4"}, **headers)
    assert answer.status_code == status
    allowed = answer.headers.get("access-control-allow-origin")
    assert allowed == (headers["origin"] if status == 200 else None)
    told = answer.json()
    if "jsonrpc" not in told:
        assert told["request_id"] == answer.headers["x-request-id"]
        assert told["code"] == code_of_status(status)


@pytest.mark.parametrize("body", [[], [PING], 1, "ping", {}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}])
def test_a_message_that_is_no_request_is_refused_in_one_sentence(service: Service, body: Any) -> None:
    """Names of the SDK's classes are no help."""
    answer = post(service, body, **{"x-forwarded-for": "192.0.2.5"})
    error = {"code": -32600, "message": "Must be one JSON-RPC 2.0 request, not a batch"}
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_only_post_is_allowed(service: Service) -> None:
    """The server sends nothing unasked, so it opens no stream for GET."""
    for method in ("GET", "DELETE"):
        answer = httpx.request(method, f"{service.url}/mcp", timeout=scaled(10))
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert answer.json()["code"] == "method_not_allowed"


@pytest.mark.slow
async def test_stdio_serves_the_same_tools(service: Service, tmp_path: Path, token: str) -> None:
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    bearer = {"authorization": f"Bearer {token}"}
    async with over_http(service.url, bearer) as http, over_stdio(service.url, file) as stdio:
        assert (await stdio.list_tools()).tools == (await http.list_tools()).tools
        company = {"symbol": "MSFT", "part": "metrics"}
        assert await structured(stdio, "company", **company) == await structured(http, "company", **company)
        holdings = await structured(stdio, "portfolio")
        assert "symbol_not_found" in await refusal(stdio, "bars", symbol="NOPE")
    assert [row["ticker"] for row in holdings["rows"]] == ["AAPL"]


@pytest.mark.slow
def test_standard_output_carries_the_protocol_alone(service: Service) -> None:
    """Even with every log on."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nothing", "arguments": {}}},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "quotecast", "mcp", "--url", service.url],
        env={**environment(), "QUOTECAST_LOG_LEVEL": "debug"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        process.stdin.flush()
        first, second = (json.loads(process.stdout.readline()) for _ in range(2))
        process.stdin.close()
        rest = process.stdout.read()
    assert (process.returncode, rest) == (0, "")
    assert first["result"]["serverInfo"]["name"] == "quotecast"
    assert second["result"]["isError"]


async def test_calls_are_counted_by_tool_and_outcome(running: Running) -> None:
    name = "quotecast_mcp_calls_total"
    outcomes = {"ok": {"symbol": "NVDA"}, "refused": {"symbol": "NOPE"}, "invalid": {"symbols": "NVDA"}}
    before = scrape(running.metrics)
    async with over_http(running.service.url) as client:
        for given in outcomes.values():
            await client.call_tool("bars", given)
        await client.call_tool("no such tool", {})
    after = scrape(running.metrics)
    for outcome in outcomes:
        labels = {"tool": "bars", "outcome": outcome}
        assert after.value(name, **labels) - before.value(name, **labels) == 1
    assert after.value(name, tool="other") - before.value(name, tool="other") == 1
    assert {each["tool"] for each in after.labels(name)} <= {*TOOLS, "resource", "other"}
    assert after.value("quotecast_http_request_duration_seconds_count", route="/mcp") > 0
