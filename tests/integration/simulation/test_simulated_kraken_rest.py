"""The simulated Kraken's REST: names of pairs, candles, trades, and its refusals."""

import math
from collections.abc import AsyncIterator

import pytest

from quotecast.simulation.market.scenarios.connections import RateLimited
from quotecast.simulation.vendors.kraken.server import KrakenServer
from support.servers.kraken_simulated import START, advance, ask, result, simulated


@pytest.fixture
async def server() -> AsyncIterator[KrakenServer]:
    async with simulated() as server:
        yield server


async def test_time_is_the_markets(server: KrakenServer) -> None:
    assert (await result(server, "Time"))["unixtime"] == START // 1000


@pytest.mark.parametrize("name", ["XXBTZUSD", "XBTUSD", "BTCUSD"])
async def test_pair_has_many_names(server: KrakenServer, name: str) -> None:
    [(key, row)] = (await result(server, "Ticker", pair=name)).items()
    assert key == "XXBTZUSD"
    assert row["c"][0] == f"{server.market.price('BTC/USD', START).price:.2f}"


@pytest.mark.parametrize("name", ["XBT/USD", "BTC/USD"])
async def test_answer_has_the_name_with_a_slash(server: KrakenServer, name: str) -> None:
    assert [*await result(server, "AssetPairs", pair=name)] == [name]


async def test_without_a_pair_all_answer(server: KrakenServer) -> None:
    pairs = await result(server, "AssetPairs")
    assert len(pairs) == len(await result(server, "Ticker")) == len(server.market.pairs)
    assert {"XXBTZUSD", "XDGUSD", "XETHXXBT", "SOLUSD", "XBTUSDT"} <= {*pairs}
    assert pairs["XDGUSD"]["base"] == "XXDG"


@pytest.mark.parametrize(
    ("method", "query", "error"),
    [
        ("Nothing", {}, "EGeneral:Unknown method"),
        ("Ticker", {"pair": "NONESUCH"}, "EQuery:Unknown asset pair"),
        ("Assets", {"asset": "NONE"}, "EQuery:Unknown asset"),
        ("OHLC", {}, "EGeneral:Invalid arguments"),
        ("OHLC", {"pair": "XBTUSD", "interval": "7"}, "EGeneral:Invalid arguments"),
        ("OHLC", {"pair": "XBTUSD", "interval": "1e999"}, "EGeneral:Invalid arguments"),
        ("OHLC", {"pair": "XBTUSD", "since": "-1"}, "EGeneral:Invalid arguments"),
        ("OHLC", {"pair": "XBTUSD", "since": "soon"}, "EGeneral:Invalid arguments"),
        ("Trades", {"pair": "XBTUSD", "count": "1001"}, "EGeneral:Invalid arguments"),
        ("Depth", {"pair": "XBTUSD", "count": "501"}, "EGeneral:Invalid arguments"),
    ],
)
async def test_wrong_request_has_krakens_error(
    server: KrakenServer, method: str, query: dict[str, str], error: str
) -> None:
    assert (await ask(server, method, **query))["error"] == [error]


@pytest.mark.parametrize("minutes", [1, 5, 15, 30, 60, 240, 1440, 10_080, 21_600])
async def test_candles_are_720_without_a_gap(server: KrakenServer, minutes: int) -> None:
    """They begin at multiples of their length; `last` is the newest complete one."""
    answer = await result(server, "OHLC", pair="XBTUSD", interval=minutes)
    opened = [row[0] for row in answer["XXBTZUSD"]]
    newest = START // 1000 // (minutes * 60) * minutes * 60
    assert opened == [newest - number * minutes * 60 for number in reversed(range(720))]
    assert answer["last"] == opened[-2]


async def test_longer_candles_are_made_of_days(server: KrakenServer) -> None:
    weeks = (await result(server, "OHLC", pair="XBTUSD", interval=10_080))["XXBTZUSD"]
    days = (await result(server, "OHLC", pair="XBTUSD", interval=1440))["XXBTZUSD"]
    parts = [row for row in days if weeks[-2][0] <= row[0] < weeks[-1][0]]
    assert len(parts) == 7
    assert (weeks[-2][1], weeks[-2][4]) == (parts[0][1], parts[-1][4])
    assert float(weeks[-2][2]) == max(float(row[2]) for row in parts)
    assert math.isclose(float(weeks[-2][6]), sum(float(row[6]) for row in parts), abs_tol=1e-6)


async def test_candles_and_trades_since(server: KrakenServer) -> None:
    """A client that asks again with `last` gets what is new."""
    last = (await result(server, "OHLC", pair="XBTUSD"))["last"]
    answer = await result(server, "OHLC", pair="XBTUSD", since=last)
    assert [row[0] for row in answer["XXBTZUSD"]] == [last + 60]
    last = (await result(server, "Trades", pair="XBTUSD"))["last"]
    assert (await result(server, "Trades", pair="XBTUSD", since=last))["XXBTZUSD"] == []
    advance(server, 2500)
    rows = (await result(server, "Trades", pair="XBTUSD", since=last))["XXBTZUSD"]
    assert [row[2] * 1000 for row in rows] == [START + 1000, START + 2000]


async def test_calls_are_limited() -> None:
    """As many as the limit at once, and one more each second of the market."""
    async with simulated(calls=3) as server:
        for _ in range(3):
            await result(server, "Time")
        assert await ask(server, "Time") == {"error": ["EAPI:Rate limit exceeded"]}
        advance(server, 1000)
        await result(server, "Time")
        assert (await ask(server, "Time"))["error"]


async def test_rate_limited_scenario_refuses() -> None:
    async with simulated(RateLimited()) as server:
        assert await ask(server, "Time") == {"error": ["EGeneral:Too many requests"]}
