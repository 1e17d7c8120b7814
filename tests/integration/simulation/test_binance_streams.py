"""Streams of a simulated Binance, on a clock that the test moves."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quotecast.providers.binance.client import BinanceProvider
from quotecast.simulation.market.scenarios.connections import Maintenance, RateLimited
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.vendors.market import DAY
from support.servers.binance_simulated import NOW, Session, StreamClient, stream_client

SECOND = 1000


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    session = Session()
    async with session.server:
        yield session


def follow(*names: str) -> str:
    """Returns the path of combined streams."""
    return f"/stream?streams={'/'.join(names)}"


async def messages(session: Session, path: str, milliseconds: int = 2 * SECOND) -> list[Any]:
    """Returns what a client of a path receives in a time of the market."""
    async with stream_client(session, path) as client:
        await client.all()
        session.pass_time(milliseconds)
        return await client.all()


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("btcusdt@ticker", "24hrTicker"),
        ("btcusdt@miniTicker", "24hrMiniTicker"),
        ("btcusdt@trade", "trade"),
        ("btcusdt@aggTrade", "aggTrade"),
        ("btcusdt@kline_1m", "kline"),
        ("btcusdt@kline_3d", "kline"),
        ("btcusdt@depth", "depthUpdate"),
        ("btcusdt@depth@100ms", "depthUpdate"),
    ],
)
async def test_raw_streams_send_events(session: Session, name: str, event: str) -> None:
    """Every message is of the symbol and has a time."""
    received = await messages(session, f"/ws/{name}")
    assert received
    assert {(each["e"], each["s"]) for each in received} == {(event, "BTCUSDT")}
    assert all(NOW < each["E"] <= NOW + 2 * SECOND for each in received)


async def test_trades_and_best_offers_are_the_markets(session: Session) -> None:
    """Each price is one message of each stream; numbers rise."""
    received = await messages(session, follow("btcusdt@trade", "btcusdt@bookTicker", "btcusdt@ticker"))
    by_stream: dict[str, list[Any]] = {}
    for each in received:
        by_stream.setdefault(each["stream"], []).append(each["data"])
    trades, books, tickers = (by_stream[f"btcusdt@{kind}"] for kind in ("trade", "bookTicker", "ticker"))
    assert len(trades) == len(books) == len(tickers) > 50
    for trade, book, ticker in zip(trades, books, tickers, strict=True):
        price = session.market.price("BTC/USDT", trade["T"])
        assert trade["t"] == book["u"] == ticker["L"] == price.number
        assert (float(trade["p"]), float(trade["q"])) == (price.price, price.size)
        assert (float(book["b"]), float(book["a"])) == (price.bid, price.ask)
        assert trade["p"] == ticker["c"]
    numbers = [trade["t"] for trade in trades]
    assert numbers == sorted(set(numbers))


async def test_partial_book_has_as_many_levels_as_its_name_says(session: Session) -> None:
    """The first comes at once, the others at full seconds or tenths of a second."""
    slow = await messages(session, "/ws/btcusdt@depth5", 3 * SECOND)
    fast = await messages(session, "/ws/btcusdt@depth20@100ms", 3 * SECOND)
    assert {len(each["bids"]) for each in slow} == {5}
    assert {len(each["asks"]) for each in fast} == {20}
    assert (len(slow), len(fast)) == (1 + 3, 1 + 30)


async def test_differences_lead_to_the_book_of_rest(session: Session) -> None:
    """Without a gap in the numbers, from a snapshot taken at any time."""
    async with stream_client(session, "/ws/btcusdt@depth@100ms") as client:
        await client.all()
        session.pass_time(700)
        book = session.read("depth", symbol="BTCUSDT", limit=1000)
        session.pass_time(5 * SECOND)
        received = await client.all()
        expected = session.read("depth", symbol="BTCUSDT", limit=1000)
    assert all(before["u"] + 1 == after["U"] for before, after in pairwise(received))
    sides = {side: dict(book[name]) for side, name in (("b", "bids"), ("a", "asks"))}
    fresh = [each for each in received if each["u"] > book["lastUpdateId"]]
    assert fresh[0]["U"] <= book["lastUpdateId"] + 1 <= fresh[0]["u"]
    for each in fresh:
        for side, levels in sides.items():
            levels.update(each[side])
            sides[side] = {price: size for price, size in levels.items() if float(size)}
    assert fresh[-1]["u"] == expected["lastUpdateId"]
    assert sides == {"b": dict(expected["bids"]), "a": dict(expected["asks"])}


async def test_candle_closes_with_the_values_of_rest(session: Session) -> None:
    """The closing message comes once, before the first of the next candle."""
    received = await messages(session, "/ws/ethusdt@kline_1m", 150 * SECOND)
    closed = [each["k"] for each in received if each["k"]["x"]]
    rows = session.read("klines", symbol="ETHUSDT", interval="1m", startTime=NOW, limit=2)
    assert [[kline["t"], *(kline[name] for name in "ohlcv"), kline["T"]] for kline in closed] == [
        row[:7] for row in rows
    ]
    starts = [(each["k"]["t"], not each["k"]["x"]) for each in received]
    assert starts == sorted(starts, key=lambda start: start[0])
    assert 140 <= len(received) <= 153


async def test_arrays_hold_what_has_changed(session: Session) -> None:
    """All symbols once a second, as raw and as combined stream."""
    raw = await messages(session, "/ws/!miniTicker@arr", 3 * SECOND)
    combined = await messages(session, follow("!ticker@arr"), 3 * SECOND)
    symbols = {row["symbol"] for row in session.read("ticker/price")}
    assert len(raw) == 3
    assert {row["s"] for row in raw[0]} == symbols
    assert {each["stream"] for each in combined} == {"!ticker@arr"}
    assert {row["e"] for row in combined[0]["data"]} == {"24hrTicker"}


async def test_commands_change_what_a_connection_carries(session: Session) -> None:
    """A stream that does not exist stays silent; an unsubscribed one ends."""
    async with stream_client(session) as client:
        assert await client.result("SUBSCRIBE", ["btcusdt@trade", "nonesuch@trade", "BTCUSDT@trade"]) is None
        names = await client.result("LIST_SUBSCRIPTIONS")
        assert names == ["btcusdt@trade", "nonesuch@trade", "BTCUSDT@trade"]
        session.pass_time(SECOND)
        assert {each["s"] for each in await client.all()} == {"BTCUSDT"}
        assert await client.result("UNSUBSCRIBE", ["btcusdt@trade"]) is None
        session.pass_time(SECOND)
        assert await client.all() == []
        assert session.server.topics == {}


async def test_property_makes_messages_name_their_stream(session: Session) -> None:
    """It may change while streams flow."""
    async with stream_client(session, "/ws/btcusdt@trade") as client:
        assert await client.result("GET_PROPERTY", ["combined"]) is False
        assert await client.result("SET_PROPERTY", ["combined", True]) is None
        session.pass_time(SECOND)
        assert {each["stream"] for each in await client.all()} == {"btcusdt@trade"}
        assert await client.result("SET_PROPERTY", ["combined", False]) is None
        session.pass_time(SECOND)
        assert {each["e"] for each in await client.all()} == {"trade"}


PROBLEMS: list[tuple[Any, Any, int, str]] = [
    ("SET_PROPERTY", ["compressed", True], 0, "Unknown property"),
    ("SET_PROPERTY", ["combined", "yes"], 1, "Invalid value type: expected Boolean"),
    ("SET_PROPERTY", ["combined"], 2, "Invalid request: property name and value expected"),
    ("GET_PROPERTY", [7], 2, "Invalid request: property name must be a string"),
    ("GET_PROPERTY", ["combined", 1], 2, "Invalid request: too many parameters"),
    ("SUBSCRIBE", "btcusdt@trade", 2, "Invalid request: params must be an array of stream names"),
    ("SUBSCRIBE", [7], 2, "Invalid request: params must be an array of stream names"),
    ("TRADE", [], 2, "Invalid request: unknown variant `TRADE`"),
    ([], [], 2, "Invalid request: unknown variant"),
]


@pytest.mark.parametrize(("method", "params", "code", "text"), PROBLEMS)
async def test_bad_commands_have_binances_errors(
    session: Session, method: Any, params: Any, code: int, text: str
) -> None:
    """The connection goes on."""
    async with stream_client(session) as client:
        _, answer = await client.command(method, params)
        assert (answer["code"], answer["msg"][: len(text)]) == (code, text)
        assert await client.result("LIST_SUBSCRIPTIONS") == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", 3),
        ("[]", 3),
        ("[" * 100_000, 3),
        ('{"id":1}', 2),
        ('{"id":-1,"method":"LIST_SUBSCRIPTIONS"}', 2),
    ],
)
async def test_text_that_is_no_command_is_answered(session: Session, text: str, code: int) -> None:
    async with stream_client(session) as client:
        await client.connection.send(text)
        assert (await client.next())["code"] == code


async def test_sixth_message_in_a_second_ends_the_connection(session: Session) -> None:
    """Binance accepts five."""
    session.server.sessions.seconds = lambda: 0.0
    async with stream_client(session) as client:
        for _ in range(5):
            assert await client.result("LIST_SUBSCRIPTIONS") == []
        with pytest.raises(ConnectionClosed) as caught:
            await client.result("LIST_SUBSCRIPTIONS")
    assert caught.value.rcvd
    assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (1008, "Too many requests")


async def test_connection_carries_a_thousand_streams_and_24(session: Session) -> None:
    """The command that goes beyond changes nothing."""
    async with stream_client(session) as client:
        names = [f"c{number}usdt@trade" for number in range(1024)]
        assert await client.result("SUBSCRIBE", names) is None
        _, answer = await client.command("SUBSCRIBE", ["btcusdt@trade"])
        assert answer["error"] == {"code": 4, "msg": "Too many subscriptions"}
        assert await client.result("LIST_SUBSCRIPTIONS") == names


async def test_connection_ends_after_a_day_and_says_so_before(session: Session) -> None:
    """`serverShutdown` comes ten minutes before the end."""
    async with stream_client(session) as client:
        await client.all()
        session.pass_time(DAY - 600_000 - 20, DAY - 600_000 - 20)
        assert await client.all() == []
        session.pass_time(20)
        assert await client.all() == [{"e": "serverShutdown", "E": NOW + DAY - 600_000}]
        session.pass_time(600_000, 600_000)
        with pytest.raises(ConnectionClosed) as caught:
            await client.next()
    assert caught.value.rcvd
    assert caught.value.rcvd.code == 1001


@pytest.mark.parametrize(("scenario", "status"), [(Maintenance(), 503), (RateLimited(), 429)])
async def test_scenarios_refuse_handshakes(scenario: Any, status: int) -> None:
    session = Session(Planned(scenario, NOW))
    async with session.server:
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"{session.server.websocket_url}/ws")
    assert caught.value.response.status_code == status


async def test_restricted_location_is_451() -> None:
    session = Session(restricted=True)
    async with session.server:
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"{session.server.websocket_url}/ws")
    assert caught.value.response.status_code == 451


async def test_other_paths_have_no_streams(session: Session) -> None:
    with pytest.raises(InvalidStatus) as caught:
        await connect(f"{session.server.websocket_url}/v2")
    assert caught.value.response.status_code == 404


async def test_our_adapter_follows_it(session: Session) -> None:
    """Quotes are the market's, by REST at first and by the stream then."""
    adapter = BinanceProvider(
        session.server.url,
        session.server.websocket_url,
        ["BTC/USDT"],
        clock=lambda: session.clock.moment() / 1000,
    )
    async with aclosing(adapter.updates()) as updates:
        [quote] = (await anext(updates)).quotes
        assert quote.price == session.market.price("BTC/USDT", NOW).price
        session.pass_time(40)
        [quote] = (await anext(updates)).quotes
        assert quote.price == session.market.price("BTC/USDT", NOW + 40).price


async def test_two_sessions_of_a_seed_are_equal() -> None:
    """Byte by byte."""
    received = []
    for _ in range(2):
        session = Session()
        async with (
            session.server,
            stream_client(session, follow("btcusdt@ticker", "ethusdt@kline_1m")) as client,
        ):
            received.append(await all_texts(session, client))
    assert received[0] == received[1]


async def all_texts(session: Session, client: StreamClient) -> list[bytes]:
    """Returns the messages of two seconds as they came."""
    await client.all()
    session.pass_time(2 * SECOND)
    await client.connection.send('{"method":"LIST_SUBSCRIPTIONS","id":77}')
    texts: list[bytes] = []
    while not texts or b'"id":77' not in texts[-1]:
        texts.append(await client.connection.recv(decode=False))
    return texts
