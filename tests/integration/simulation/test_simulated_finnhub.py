"""The simulated Finnhub: keys, plans, limits, paths, its stream and its refusals."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from quotecast.simulation.market.scenarios.base import Scenario
from quotecast.simulation.market.scenarios.connections import Maintenance, RateLimited
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.vendors.finnhub.rest import PREMIUM
from quotecast.simulation.vendors.finnhub.server import FinnhubServer
from quotecast.simulation.vendors.market import Market
from support.runs.manual_clock import ManualClock

#: Thursday, 2026-11-19, 15:00 in New York.
START: Final = 1_795_118_400_000
SECONDS: Final = 10
BAD_COMMANDS: Final = {
    "{": "Invalid message",
    "[]": "Invalid message",
    "[" * 20_000: "Invalid message",
    '{"type":"subscribe"}': "Invalid message",
    '{"type":"subscribe","symbol":["AAPL"]}': "Invalid message",
    '{"type":"buy","symbol":"AAPL"}': "Invalid message",
    '{"type":"subscribe","symbol":"NONE"}': "Invalid symbol NONE",
    '{"type":"subscribe","symbol":"BTC/USDT"}': "Invalid symbol BTC/USDT",
}


@asynccontextmanager
async def simulated(
    *scenarios: Scenario, always_open: bool = True, **options: Any
) -> AsyncIterator[FinnhubServer]:
    schedule = Schedule([Planned(scenario, START) for scenario in scenarios])
    market = Market(7, schedule, always_open=always_open)
    async with FinnhubServer(market, ManualClock(START), rate=1.0, **options) as server:
        yield server


@pytest.fixture
async def server() -> AsyncIterator[FinnhubServer]:
    async with simulated() as server:
        yield server


async def ask(server: FinnhubServer, path: str, key: str | None = "any", **query: Any) -> httpx.Response:
    headers = {"X-Finnhub-Token": key} if key else {}
    async with httpx.AsyncClient(base_url=f"{server.url}/api/v1", headers=headers) as client:
        return await client.get(path, params=query)


async def read(server: FinnhubServer, path: str, **query: Any) -> Any:
    answer = await ask(server, path, **query)
    assert answer.status_code == 200
    return answer.json()


def advance(server: FinnhubServer, milliseconds: int) -> None:
    """Moves the time and sends what is new."""
    assert isinstance(server.clock, ManualClock)
    server.clock.advance(milliseconds)
    server.tick()


@asynccontextmanager
async def stream(server: FinnhubServer) -> AsyncIterator[ClientConnection]:
    async with connect(f"{server.websocket_url}/?token=any") as connection:
        yield connection


async def follow(connection: ClientConnection, *symbols: str, kind: str = "subscribe") -> None:
    for symbol in symbols:
        await connection.send(msgspec.json.encode({"type": kind, "symbol": symbol}), text=True)


async def receive(connection: ClientConnection) -> Any:
    async with asyncio.timeout(SECONDS):
        return msgspec.json.decode(await connection.recv())


async def until_read(connection: ClientConnection) -> None:
    """Waits until the server has read every command."""
    await connection.send("{")
    assert (await receive(connection))["msg"] == "Invalid message"


async def test_key_is_needed(server: FinnhubServer) -> None:
    """Any will do, in the query as well as in the header."""
    answer = await ask(server, "/quote", key=None, symbol="AAPL")
    assert (answer.status_code, answer.json()) == (401, {"error": "Please use an API key."})
    assert (await ask(server, "/quote", key=None, symbol="AAPL", token="x")).status_code == 200
    with pytest.raises(InvalidStatus) as caught:
        await connect(server.websocket_url)
    assert caught.value.response.status_code == 401


async def test_wrong_key_is_refused() -> None:
    async with simulated(key="right") as server:
        answer = await ask(server, "/quote", symbol="AAPL")
        assert (answer.status_code, answer.json()) == (401, {"error": "Invalid API key."})
        assert (await ask(server, "/quote", key="right", symbol="AAPL")).status_code == 200


async def test_free_plan() -> None:
    """It lacks premium paths and older reports, and limits calls and symbols."""
    async with simulated(free=True) as server:
        for path in PREMIUM:
            answer = await ask(server, path, symbol="AAPL", freq="quarterly", resolution="D")
            assert (answer.status_code, answer.json()["error"]) == (
                403,
                "You don't have access to this resource.",
            )
        assert len(await read(server, "/stock/earnings", symbol="AAPL")) == 4
        async with stream(server) as connection:
            await follow(connection, *sorted(server.market.stocks)[:51])
            error = {"type": "error", "msg": "Subscribing to too many symbols"}
            assert await receive(connection) == error
            assert len(server.followed()) == 50


async def test_calls_are_limited() -> None:
    """Headers count them, and the market's time frees them."""
    async with simulated(free=True) as server:
        for number in range(60):
            if number == 30:
                assert (await ask(server, "/news", category="general")).status_code == 429
                advance(server, 1000)
            answer = await ask(server, "/search", q="apple")
            assert answer.status_code == 200
            assert answer.headers["X-Ratelimit-Remaining"] == str(59 - number)
        advance(server, 1000)
        answer = await ask(server, "/search", q="apple")
        assert (answer.status_code, answer.headers["X-Ratelimit-Limit"]) == (429, "60")
        assert answer.json()["error"].startswith("API limit reached.")
        assert answer.headers["X-Ratelimit-Reset"] == str(START // 1000 + 60)
        advance(server, 58_000)
        assert (await ask(server, "/search", q="apple")).status_code == 200


async def test_quote_is_the_markets(server: FinnhubServer) -> None:
    price = server.market.price("AAPL", START)
    quote = await read(server, "/quote", symbol="AAPL")
    assert (quote["c"], quote["pc"], quote["t"]) == (price.price, price.previous, START // 1000)
    assert quote["h"] >= quote["c"] >= quote["l"]


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/nothing", {}, 404),
        ("/quote", {}, 422),
        ("/stock/candle", {"symbol": "AAPL", "resolution": "7", "from": 1, "to": 2}, 422),
        ("/stock/candle", {"symbol": "AAPL", "resolution": "D", "from": -1, "to": 2}, 422),
        ("/stock/candle", {"symbol": "AAPL", "resolution": "D", "from": "²", "to": 2}, 422),
        ("/stock/symbol", {"exchange": "DE"}, 403),
        ("/company-news", {"symbol": "AAPL", "from": "2026-11-01"}, 422),
        ("/company-news", {"symbol": "AAPL", "from": "soon", "to": "later"}, 422),
        ("/news", {"category": "gossip"}, 422),
        ("/calendar/earnings", {"from": "2026-11-01"}, 422),
    ],
)
async def test_wrong_request_is_refused(
    server: FinnhubServer, path: str, query: dict[str, Any], status: int
) -> None:
    assert (await ask(server, path, **query)).status_code == status


async def test_unknown_symbol_is_no_error(server: FinnhubServer) -> None:
    assert (await read(server, "/quote", symbol="NONE"))["c"] == 0
    assert await read(server, "/stock/profile2", symbol="NONE") == {}
    assert await read(server, "/stock/earnings", symbol="NONE") == []
    candles = {"symbol": "NONE", "resolution": "D", "from": 0, "to": START // 1000}
    assert await read(server, "/stock/candle", **candles) == {"s": "no_data"}


async def test_news_is_of_the_days_and_symbols(server: FinnhubServer) -> None:
    days = {"from": "2026-11-10", "to": "2026-11-18"}
    found = await read(server, "/company-news", symbol="AAPL", **days)
    assert found
    assert all(row["related"] == "AAPL" for row in found)
    first, last = 1_794_268_800, 1_795_046_400
    assert all(first <= row["datetime"] < last for row in found)
    newest = await read(server, "/news", category="general")
    later = await read(server, "/news", category="general", minId=newest[5]["id"])
    assert later == newest[:5]


@pytest.mark.parametrize("always_open", [True, False])
async def test_sessions_are_the_markets(always_open: bool) -> None:  # noqa: FBT001
    """An exchange that never closes has no holidays."""
    async with simulated(always_open=always_open) as server:
        assert (await read(server, "/stock/market-status", exchange="US"))["session"] == "regular"
        days = (await read(server, "/stock/market-holiday", exchange="US"))["data"]
        hours = {row["atDate"]: row["tradingHour"] for row in days}
        wanted = {} if always_open else {"2026-11-26": "", "2026-11-27": "09:30-13:00", "2026-12-25": ""}
        assert wanted.items() <= hours.items()
        assert bool(hours) is not always_open
        advance(server, 3 * 3_600_000)
        status = await read(server, "/stock/market-status", exchange="US")
        assert (status["isOpen"], status["session"]) == (always_open, "regular" if always_open else None)


async def test_trades_of_stocks_and_pairs(server: FinnhubServer) -> None:
    """They are the market's; a symbol that the client leaves ends."""
    async with stream(server) as connection:
        await follow(connection, "AAPL")
        await until_read(connection)
        advance(server, 1000)
        price = server.market.price("AAPL", START + 1000)
        trade = {"s": "AAPL", "p": price.price, "t": price.time, "v": price.size, "c": ["1"]}
        assert await receive(connection) == {"type": "trade", "data": [trade]}
        await follow(connection, "AAPL", kind="unsubscribe")
        await follow(connection, "BINANCE:BTCUSDT")
        await until_read(connection)
        advance(server, 1000)
        [trade] = (await receive(connection))["data"]
        price = server.market.price("BTC/USDT", START + 2000)
        assert (trade["s"], trade["p"], trade["c"]) == ("BINANCE:BTCUSDT", price.price, None)


async def test_pings_come_by_the_clock(server: FinnhubServer) -> None:
    async with stream(server) as connection:
        await until_read(connection)
        advance(server, 20_000)
        assert await receive(connection) == {"type": "ping"}


@pytest.mark.parametrize(("command", "error"), BAD_COMMANDS.items(), ids=range(len(BAD_COMMANDS)))
async def test_bad_command_has_an_error(server: FinnhubServer, command: str, error: str) -> None:
    """And the connection lives."""
    async with stream(server) as connection:
        await connection.send(command)
        assert await receive(connection) == {"type": "error", "msg": error}
        await until_read(connection)


@pytest.mark.parametrize(("scenario", "status"), [(Maintenance(), 503), (RateLimited(), 429)])
async def test_scenario_refuses(scenario: Scenario, status: int) -> None:
    """Requests and handshakes, in Finnhub's words."""
    async with simulated(scenario) as server:
        answer = await ask(server, "/quote", symbol="AAPL")
        assert answer.status_code == status
        assert answer.json()["error"]
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"{server.websocket_url}/?token=any")
        assert caught.value.response.status_code == status
