"""The simulated Kraken's streams: both versions of its WebSocket, and its state."""

from collections.abc import AsyncIterator, Sequence
from typing import Final
from zlib import crc32

import pytest
from websockets.asyncio.client import ClientConnection

from quotecast.simulation.market.scenarios.base import Alteration, Pause, Scenario
from quotecast.simulation.market.scenarios.connections import Maintenance
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.market.scenarios.trading import BadTick
from quotecast.simulation.vendors.kraken.server import KrakenServer
from support.servers.kraken_simulated import (
    START,
    advance,
    ask,
    receive,
    result,
    send,
    simulated,
    stream,
    subscribe,
)

#: Commands that are none, with the error of version 2.
BAD_COMMANDS: Final = {
    "{": "Malformed request",
    "[]": "Malformed request",
    "7": "Malformed request",
    "[" * 20_000: "Malformed request",
    '{"method":"buy"}': "Unsupported field: 'method'",
    '{"method":"subscribe"}': "Unsupported field: 'channel'",
    '{"method":"subscribe","params":[]}': "Unsupported field: 'channel'",
    '{"method":"subscribe","params":{"channel":["ticker"]}}': "Unsupported field: 'channel'",
    '{"method":"subscribe","params":{"channel":"ticker"}}': "Unsupported field: 'symbol'",
    '{"method":"subscribe","params":{"channel":"ticker","symbol":"BTC/USD"}}': "Unsupported field: 'symbol'",
    '{"method":"subscribe","params":{"channel":"ticker","symbol":[[7]]}}': "Currency pair not supported [7]",
    '{"method":"subscribe","params":{"channel":"executions","symbol":[]}}': "ESession:Invalid session",
    '{"method":"unsubscribe","params":{"channel":"trade","symbol":["BTC/USD"]}}': "Subscription Not Found",
    '{"method":"subscribe","params":{"channel":"book","symbol":["BTC/USD"],"depth":7}}': (
        "Subscription depth not supported"
    ),
    '{"method":"subscribe","params":{"channel":"ohlc","symbol":["BTC/USD"],"interval":[1]}}': (
        "Subscription ohlc interval not supported"
    ),
}


class OneMinute(Scenario, frozen=True, tag="one-minute"):
    """A halt of a minute."""

    def alterations(self, start: int) -> Sequence[Alteration]:
        return (Pause(start, start + 60_000),)


@pytest.fixture
async def server() -> AsyncIterator[KrakenServer]:
    async with simulated() as server:
        yield server


async def test_ticker_begins_with_a_snapshot_and_follows_the_market(server: KrakenServer) -> None:
    async with stream(server) as connection:
        answer = await subscribe(connection, "ticker")
        assert answer.pop("time_in").endswith("Z")
        assert answer.pop("time_out")
        assert answer == {
            "method": "subscribe",
            "req_id": 5,
            "success": True,
            "result": {"channel": "ticker", "symbol": "BTC/USD", "event_trigger": "trades", "snapshot": True},
        }
        snapshot = await receive(connection)
        advance(server, 1000)
        update = await receive(connection)
    assert (snapshot["type"], update["type"]) == ("snapshot", "update")
    for message, moment in ((snapshot, START), (update, START + 1000)):
        price = server.market.price("BTC/USD", moment)
        [row] = message["data"]
        assert (row["last"], row["bid"], row["ask"]) == (price.price, price.bid, price.ask)
        assert row["change"] == round(price.price - price.previous, 8)


@pytest.mark.parametrize(("command", "error"), BAD_COMMANDS.items(), ids=range(len(BAD_COMMANDS)))
async def test_bad_command_has_an_error(server: KrakenServer, command: str, error: str) -> None:
    """And the connection lives."""
    async with stream(server) as connection:
        await connection.send(command)
        answer = await receive(connection)
        assert (answer["error"], answer["success"]) == (error, False)
        await send(connection, {"method": "ping", "req_id": 9})
        answer = await receive(connection)
        assert (answer["method"], answer["req_id"]) == ("pong", 9)


async def test_subscription_twice_is_an_error(server: KrakenServer) -> None:
    async with stream(server) as connection:
        assert (await subscribe(connection, "trade"))["success"]
        assert (await subscribe(connection, "trade"))["error"] == "Already subscribed"
        await send(
            connection, {"method": "unsubscribe", "params": {"channel": "trade", "symbol": ["BTC/USD"]}}
        )
        assert (await receive(connection))["success"]
        assert not server.topics
        assert (await subscribe(connection, "trade"))["success"]


async def test_heartbeat_comes_when_nothing_else_does(server: KrakenServer) -> None:
    """Once a second of the market, to clients with a subscription."""
    server.rate = 0
    async with stream(server) as connection, stream(server) as other:
        await subscribe(connection, "trade")
        for _ in range(2):
            advance(server, 500)
            advance(server, 500)
            assert await receive(connection) == {"channel": "heartbeat"}
        await send(other, {"method": "ping"})
        assert (await receive(other))["method"] == "pong"


async def test_book_follows_its_checksum(server: KrakenServer) -> None:
    """A client that applies every change has the book that the checksum covers."""
    async with stream(server) as connection:
        assert (await subscribe(connection, "book", depth=25))["result"]["depth"] == 25
        sides: dict[str, dict[float, float]] = {"bids": {}, "asks": {}}
        for _ in range(20):
            [row] = (await receive(connection))["data"]
            for name, side in sides.items():
                side |= {level["price"]: level["qty"] for level in row[name]}
                sides[name] = {price: quantity for price, quantity in side.items() if quantity}
            assert [len(side) for side in sides.values()] == [25, 25]
            assert row["checksum"] == checksum(sides)
            advance(server, 1000)


def checksum(sides: dict[str, dict[float, float]]) -> int:
    """Returns the checksum of the ten best levels of each side, whose prices have two decimals."""
    best = [*sorted(sides["asks"].items())[:10], *sorted(sides["bids"].items(), reverse=True)[:10]]
    digits = [f"{price:.2f} {quantity:.8f}".replace(".", "").split() for price, quantity in best]
    return crc32("".join(each.lstrip("0") for pair in digits for each in pair).encode())


async def test_second_client_of_a_book_joins_it(server: KrakenServer) -> None:
    """Its snapshot is the book that the next change applies to."""
    async with stream(server) as first, stream(server) as second:
        await subscribe(first, "book")
        await receive(first)
        advance(server, 1000)
        changed = (await receive(first))["data"][0]["checksum"]
        await subscribe(second, "book")
        assert (await receive(second))["data"][0]["checksum"] == changed


async def test_candle_in_progress(server: KrakenServer) -> None:
    async with stream(server) as connection:
        answer = await subscribe(connection, "ohlc", interval=5, snapshot=False)
        assert answer["result"]["warnings"]
        advance(server, 1000)
        [row] = (await receive(connection))["data"]
    [bar] = server.market.bars("BTC/USD", "5m", START, START + 1000)
    assert (row["open"], row["high"], row["low"], row["close"]) == (bar.open, bar.high, bar.low, bar.close)
    assert row["interval_begin"] == "2026-11-19T20:00:00.000000000Z"
    assert row["interval"] == 5


async def test_maintenance_is_announced_and_refuses() -> None:
    """Then the exchange reopens by steps."""
    async with simulated(Maintenance(seconds=60)) as server:
        assert (await ask(server, "SystemStatus"))["result"]["status"] == "maintenance"
        assert await ask(server, "Time") == {"error": ["EService:Unavailable"]}
    async with simulated() as server, stream(server) as connection:
        await subscribe(connection, "trade")
        server.market.schedule.add(Planned(Maintenance(seconds=60), START + 1000))
        advance(server, 1000)
        states = [await next_status(connection)]
        for _ in range(3):
            advance(server, 1000)
        assert (await subscribe(connection, "ticker"))["error"] == "EService:Unavailable"
        for milliseconds in (57_000, 5000, 5000):
            advance(server, milliseconds)
            states.append(await next_status(connection))
    assert states == ["maintenance", "cancel_only", "post_only", "online"]


async def test_halted_pair_takes_cancellations_only(server: KrakenServer) -> None:
    """The channel of instruments says so when it begins and when it ends, for both pairs of the price."""
    async with stream(server) as connection:
        assert (await subscribe(connection, "instrument"))["success"]
        pairs = (await receive(connection))["data"]["pairs"]
        assert {row["status"] for row in pairs} == {"online"}
        server.market.schedule.add(Planned(OneMinute(symbols=("BTC/USD",)), START + 1000))
        advance(server, 500)
        for milliseconds, state in ((1000, "cancel_only"), (60_000, "online")):
            advance(server, milliseconds)
            rows = (await receive(connection))["data"]["pairs"]
            assert {row["symbol"]: row["status"] for row in rows} == {"BTC/USDT": state, "BTC/USD": state}
            listed = await result(server, "AssetPairs", pair="XBTUSD")
            assert listed["XXBTZUSD"]["status"] == state
        assert (await subscribe(connection, "instrument"))["error"] == "Already subscribed"


@pytest.mark.parametrize(("path", "name"), [("/v2", "BTC/USD"), ("/", "XBT/USD")])
async def test_bad_ticks_are_kraken_rows(path: str, name: str) -> None:
    """NaN is text: JSON has no such number."""
    async with simulated(BadTick(every=1, kind="nan")) as server, stream(server, path) as connection:
        if path == "/v2":
            await subscribe(connection, "ticker", name, snapshot=False)
        else:
            command = {"event": "subscribe", "pair": [name], "subscription": {"name": "ticker"}}
            await send(connection, command)
            await receive(connection)
            await receive(connection)
        advance(server, 1000)
        row = await receive(connection)
        assert (row["data"][0]["last"] if path == "/v2" else row[1]["c"][0]) == "NaN"


async def next_status(connection: ClientConnection) -> str:
    while (message := await receive(connection))["channel"] != "status":
        pass
    state: str = message["data"][0]["system"]
    return state


async def test_client_that_closes_ends_no_other(server: KrakenServer) -> None:
    """What waits for a closed connection is dropped."""
    async with stream(server) as connection:
        await subscribe(connection, "trade")
        async with stream(server) as leaving:
            await subscribe(leaving, "trade")
            await leaving.close()
            advance(server, 1000)
        advance(server, 1000)
        assert (await receive(connection))["channel"] == "trade"


async def test_version_1(server: KrakenServer) -> None:
    """Its subscriptions, rows and errors."""
    async with stream(server, "/") as connection:
        for name in ("ticker", "spread", "trade", "ohlc", "book"):
            command = {"event": "subscribe", "pair": ["XBT/USD", "X"], "subscription": {"name": name}}
            await send(connection, command)
            answer = await receive(connection)
            assert (answer["status"], answer["pair"]) == ("subscribed", "XBT/USD")
            number, _, channel, pair = await receive(connection)
            assert (number, channel, pair) == (answer["channelID"], answer["channelName"], "XBT/USD")
            assert (await receive(connection))["errorMessage"] == "Currency pair not supported X"
        advance(server, 1000)
        update = await receive(connection)
        price = server.market.price("BTC/USD", START + 1000)
        assert update[1]["c"][0] == f"{price.price:.2f}"
        assert update[-2:] == ["ticker", "XBT/USD"]
        for _ in range(4):
            await receive(connection)
        await send(connection, command | {"event": "unsubscribe"})
        assert (await receive(connection))["status"] == "unsubscribed"
        await receive(connection)
        for text, problem in (("{", "Malformed request"), ("{}", "Event(s) not found")):
            await connection.send(text)
            assert (await receive(connection))["errorMessage"] == problem
