"""Requests with a body, and methods other than GET, at each simulated vendor."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from quotecast.commands.simulate import VENDORS, server_of
from quotecast.simulation.market.scenarios.planning import plan_of
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import VendorServer
from support.runs.deadlines import scaled

#: Of each vendor, a request that its clients send, and the refusal.
REFUSALS: dict[str, tuple[str, int, Any]] = {
    "alpaca": ("/v2/watchlists", 404, {"code": 40410000, "message": "POST /v2/watchlists is not simulated"}),
    "binance": ("/api/v3/order/oco", 400, {"code": -1020, "msg": "POST /api/v3/order/oco is not simulated"}),
    "coinbase": ("/orders", 404, {"message": "POST /orders is not simulated"}),
    "kraken": (
        "/0/private/Withdraw",
        200,
        {"error": ["EGeneral:Unknown method: POST /0/private/Withdraw is not simulated"]},
    ),
    "finnhub": ("/api/v1/stock/order", 404, {"error": "POST /api/v1/stock/order is not simulated"}),
}


@contextlib.asynccontextmanager
async def running(vendor: str) -> AsyncIterator[VendorServer]:
    clock = MarketClock()
    async with server_of(vendor)(Market(1, Schedule(plan_of((), clock.start))), clock) as server:
        yield server


async def chunks() -> AsyncIterator[bytes]:
    yield b'{"symbol":'
    yield b'"AAPL"}'


@pytest.mark.parametrize("vendor", VENDORS)
async def test_what_is_not_simulated_says_so_in_the_vendors_words(vendor: str) -> None:
    """With a body of known length, in chunks, and without one."""
    path, status, body = REFUSALS[vendor]
    async with running(vendor) as server, httpx.AsyncClient(base_url=server.url) as client:
        for sent in ({"json": {"symbol": "AAPL"}}, {"content": chunks()}, {}):
            answer = await client.post(path, headers={"X-Finnhub-Token": "k"}, **sent)
            assert (answer.status_code, answer.json()) == (status, body)
        for method in ("PUT", "DELETE", "PATCH"):
            answer = await client.request(method, path, content=b"x" * 70_000)
            assert f"{method} {path} is not simulated" in answer.text


async def test_kraken_answers_its_public_methods_by_post() -> None:
    """Parameters come as a form, or in the address."""
    async with running("kraken") as server, httpx.AsyncClient(base_url=server.url) as client:
        by_get = (await client.get("/0/public/AssetPairs?pair=XBTUSD")).json()
        assert (await client.post("/0/public/AssetPairs", data={"pair": "XBTUSD"})).json() == by_get
        assert (await client.post("/0/public/AssetPairs?pair=XBTUSD")).json() == by_get
        assert [*by_get["result"]] == ["XXBTZUSD"]


@pytest.mark.parametrize(
    "head",
    [
        b"POST /orders HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nContent-Length: 2000000\r\n\r\n"
        + b"x" * 2_000_000,
        b"POST /orders HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /orders HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nContent-Length: many\r\n\r\n",
        b"POST /orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
        b"x" * 200_000,
    ],
    ids=["long", "negative", "no-number", "no-chunks", "half", "no-head"],
)
async def test_a_body_that_cannot_be_read_ends_the_connection(head: bytes) -> None:
    """And no other one."""
    async with running("coinbase") as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(server.url).port)
        async with asyncio.timeout(scaled(10)):
            with contextlib.suppress(ConnectionError):
                writer.write(head)
                writer.write_eof()
                assert b" 200 " not in await reader.read()
        writer.close()
        async with httpx.AsyncClient(base_url=server.url) as client:
            assert (await client.get("/time")).status_code == 200
