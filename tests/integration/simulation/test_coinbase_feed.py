"""The WebSocket feed of a simulated Coinbase Exchange."""

from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from quotecast.simulation.market.scenarios.connections import Frozen, Maintenance
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.vendors.coinbase.book import book_of
from quotecast.simulation.vendors.coinbase.commands import PRODUCT_CHANNELS, signature_of
from quotecast.simulation.vendors.coinbase.server import CoinbaseServer
from quotecast.simulation.vendors.market import Market
from support.runs.manual_clock import ManualClock
from support.servers.coinbase_simulated import NOW, FeedClient, Row, Session, feed_client

SECRET: Final = b64encode(b"secret").decode()
LOGIN: Final = {"signature": "s", "key": "k", "passphrase": "p", "timestamp": "1"}


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    session = Session(Market(3))
    async with session.server:
        yield session


@pytest.fixture
async def client(session: Session) -> AsyncIterator[FeedClient]:
    async with feed_client(session) as client:
        yield client


def of_kind(messages: list[Row], kind: str) -> list[Row]:
    return [message for message in messages if message["type"] == kind]


def subscribed(answer: Row) -> dict[str, list[str]]:
    assert answer["type"] == "subscriptions"
    return {channel["name"]: channel["product_ids"] for channel in answer["channels"]}


async def test_subscription_is_answered_with_all_channels(client: FeedClient) -> None:
    """The products at the top level belong to every channel, also to one with products of its own."""
    answer = await client.follow(
        ["heartbeat", {"name": "ticker", "product_ids": ["ETH-BTC"]}, {"name": "status"}], "BTC-USD"
    )
    assert subscribed(answer) == {
        "heartbeat": ["BTC-USD"],
        "ticker": ["BTC-USD", "ETH-BTC"],
        "status": ["BTC-USD"],
    }
    await client.send({"type": "subscribe", "product_ids": ["ETH-USD"], "channels": ["matches", "ticker"]})
    answer = (await client.until("subscriptions"))[-1]
    assert subscribed(answer)["ticker"] == ["BTC-USD", "ETH-BTC", "ETH-USD"]
    assert subscribed(answer)["matches"] == ["ETH-USD"]


async def test_unsubscription_ends_products_or_a_whole_channel(session: Session, client: FeedClient) -> None:
    """A channel without products is no longer listed, and its messages end."""
    await client.follow(["ticker", "matches"], "BTC-USD", "ETH-USD")
    await client.send({"type": "unsubscribe", "product_ids": ["BTC-USD"], "channels": ["ticker"]})
    assert subscribed((await client.until("subscriptions"))[-1]) == {
        "ticker": ["ETH-USD"],
        "matches": ["BTC-USD", "ETH-USD"],
    }
    await client.send({"type": "unsubscribe", "channels": ["matches"]})
    assert subscribed((await client.until("subscriptions"))[-1]) == {"ticker": ["ETH-USD"]}
    session.pass_time(400)
    received = {(each["type"], each["product_id"]) for each in await client.all()}
    assert received == {("ticker", "ETH-USD")}


async def test_ticker_shows_the_market_and_its_sequence_has_no_gaps(
    session: Session, client: FeedClient
) -> None:
    """The first ticker comes with the subscription; each later one is a trade of the market at its time."""
    await client.follow(["ticker"], "BTC-USD", "SHIB-USD")
    session.pass_time(2000)
    tickers = of_kind(await client.all(), "ticker")
    for product, symbol in (("BTC-USD", "BTC/USD"), ("SHIB-USD", "SHIB/USD")):
        own = [ticker for ticker in tickers if ticker["product_id"] == product]
        assert len(own) > 20
        first = own[0]["sequence"]
        assert [ticker["sequence"] for ticker in own] == list(range(first, first + len(own)))
        assert [ticker["time"] for ticker in own] == sorted({ticker["time"] for ticker in own})
        for ticker in own:
            price = session.market.price(symbol, ticker["trade_id"] * 2)
            shown = [float(ticker[name]) for name in ("price", "best_bid", "best_ask", "open_24h", "low_24h")]
            assert shown == [price.price, price.bid, price.ask, price.open, price.low]
    assert tickers[0]["time"][:23] == "2026-11-19T20:00:00.000"
    assert len(tickers[0]["time"]) == len("2026-11-19T20:00:00.000000Z")


async def test_matches_and_tickers_of_a_trade_have_one_sequence(session: Session, client: FeedClient) -> None:
    """`last_match` is the trade before the subscription; a match has the side of the order in the book."""
    await client.follow(["matches", "ticker"], "BTC-USD")
    session.pass_time(500)
    messages = await client.all()
    assert [message["type"] for message in messages[:2]] == ["last_match", "ticker"]
    matches = {match["sequence"]: match for match in of_kind(messages, "match")}
    tickers = {ticker["sequence"]: ticker for ticker in of_kind(messages, "ticker")[1:]}
    assert len(matches) > 5
    assert matches.keys() == tickers.keys()
    for sequence, match in matches.items():
        ticker = tickers[sequence]
        assert (match["price"], match["size"]) == (ticker["price"], ticker["last_size"])
        assert (match["trade_id"], match["time"]) == (ticker["trade_id"], ticker["time"])
        assert match["side"] != ticker["side"]


async def test_heartbeats_come_every_second_with_the_newest_sequence(
    session: Session, client: FeedClient
) -> None:
    """Each product has its own, also one that nobody follows otherwise."""
    await client.follow(["heartbeat"], "BTC-USD", "ETH-USD")
    await client.follow(["ticker"], "BTC-USD")
    session.pass_time(3000)
    newest: dict[str, Row] = {}
    beats: list[Row] = []
    for message in await client.all():
        if message["type"] == "ticker":
            newest[message["product_id"]] = message
        elif message["type"] == "heartbeat":
            beats.append(message)
            if message["product_id"] == "BTC-USD":
                ticker = newest["BTC-USD"]
                assert (message["sequence"], message["last_trade_id"]) == (
                    ticker["sequence"],
                    ticker["trade_id"],
                )
    times = [(beat["product_id"], beat["time"]) for beat in beats]
    assert times == [
        (product, f"2026-11-19T20:00:0{second}.000000Z")
        for second in (1, 2, 3)
        for product in ("BTC-USD", "ETH-USD")
    ]


async def test_late_client_continues_the_sequence_of_others(session: Session, client: FeedClient) -> None:
    """Both see the same numbers of the same trades."""
    await client.follow(["ticker"], "BTC-USD")
    session.pass_time(1000)
    async with feed_client(session) as late:
        await late.follow(["ticker"], "BTC-USD")
        before = of_kind(await client.all(), "ticker")
        session.pass_time(1000)
        tickers = of_kind(await late.all(), "ticker")
        assert tickers[0] == before[-1]
        assert tickers[1:] == of_kind(await client.all(), "ticker")
        assert len(tickers) > 10


async def test_ticker_batch_comes_every_five_seconds(session: Session, client: FeedClient) -> None:
    """Its messages are tickers, the newest of each product."""
    await client.follow(["ticker_batch"], "BTC-USD")
    session.pass_time(11_000)
    tickers = await client.all()
    assert {ticker["type"] for ticker in tickers} == {"ticker"}
    seconds = [ticker["time"][17:19] for ticker in tickers]
    assert seconds[0] == "00"
    assert len(seconds) == 3
    assert [round(float(ticker["time"][17:23])) for ticker in tickers] == [0, 5, 10]


async def test_status_lists_products_and_currencies_every_five_seconds(
    session: Session, client: FeedClient
) -> None:
    """The first message comes with the subscription."""
    await client.follow([{"name": "status"}])
    session.pass_time(10_000)
    messages = await client.until("status", 3)
    assert [message["type"] for message in messages] == ["status"] * 3
    [bitcoin] = [row for row in messages[-1]["products"] if row["id"] == "BTC-USD"]
    assert (bitcoin["status"], bitcoin["quote_increment"], bitcoin["type"]) == ("online", "0.01", "spot")
    assert {"BTC", "USD"} <= {row["id"] for row in messages[-1]["currencies"]}


async def test_maintenance_shows_products_offline(client: FeedClient, session: Session) -> None:
    """Requests are refused in Coinbase's words, and streams go on."""
    await client.follow([{"name": "status"}])
    session.market.schedule.add(Planned(Maintenance(), NOW))
    session.pass_time(5000)
    [_, status] = await client.until("status", 2)
    assert {row["status"] for row in status["products"]} == {"offline"}
    assert all(row["trading_disabled"] for row in status["products"])
    async with httpx.AsyncClient(base_url=session.server.url) as http:
        answer = await http.get("/products")
    assert (answer.status_code, answer.json()) == (503, {"message": "Service is under maintenance"})


@pytest.mark.parametrize(("channel", "more"), [("level2_batch", {}), ("level2", LOGIN)])
async def test_snapshot_and_updates_make_the_book_of_the_last_price(
    session: Session, client: FeedClient, channel: str, more: dict[str, str]
) -> None:
    """Size 0 removes a level."""
    await client.follow(["ticker", channel], "BTC-USD", **more)
    session.pass_time(3000)
    messages = await client.all()
    [snapshot], updates = of_kind(messages, "snapshot"), of_kind(messages, "l2update")
    assert len(updates) > 10
    sides = {"buy": dict(snapshot["bids"]), "sell": dict(snapshot["asks"])}
    for update in updates:
        for side, level, size in update["changes"]:
            sides[side][level] = size
            if float(size) == 0:
                del sides[side][level]
    last = of_kind(messages, "ticker")[-1]
    book = book_of(session.market.price("BTC/USD", last["trade_id"] * 2), 2)
    assert sides == {"buy": book.bids, "sell": book.asks}
    assert next(iter(book.bids.items())) == (last["best_bid"], last["best_bid_size"])
    assert next(iter(book.asks.items())) == (last["best_ask"], last["best_ask_size"])


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("{", "Malformed JSON"),
        ("[" * 100_000, "Malformed JSON"),
        ("[]", "Type has to be either subscribe or unsubscribe"),
        ({"type": "follow"}, "Type has to be either subscribe or unsubscribe"),
        ({"type": "subscribe"}, "No channels provided"),
        ({"type": "subscribe", "channels": ["trades"]}, "trades is not a valid channel"),
        ({"type": "subscribe", "channels": [{"name": 1}]}, "Malformed JSON"),
        ({"type": "subscribe", "channels": ["ticker"]}, " is not a valid product"),
        (
            {"type": "subscribe", "channels": ["ticker"], "product_ids": ["BTC-USD", "NO-SUCH"]},
            "NO-SUCH is not a valid product",
        ),
    ],
)
async def test_wrong_command_ends_the_connection_with_a_reason(
    client: FeedClient, command: Any, reason: str
) -> None:
    """The error comes before the close."""
    await client.send(command)
    assert await client.next() == {"type": "error", "message": "Failed to subscribe", "reason": reason}
    with pytest.raises(ConnectionClosed):
        await client.next()


async def test_level2_needs_a_signature(client: FeedClient) -> None:
    """As do level3, full and user."""
    answer = await client.follow(["level2"], "BTC-USD")
    assert answer["reason"].startswith("level2, level3, and full channels now require authentication.")


@pytest.mark.parametrize(
    ("key", "signature", "kind"),
    [
        ("key", signature_of("1795118400", SECRET), "subscriptions"),
        ("key", signature_of("1795118401", SECRET), "error"),
        ("another", signature_of("1795118400", SECRET), "error"),
    ],
)
async def test_given_key_and_secret_alone_are_accepted(key: str, signature: str, kind: str) -> None:
    """Without them the server accepts any login."""
    server = CoinbaseServer(Market(3), ManualClock(NOW), key="key", secret=SECRET)
    login = {"key": key, "signature": signature, "passphrase": "p", "timestamp": 1_795_118_400}
    async with server, connect(server.websocket_url) as connection:
        client = FeedClient(connection)
        answer = await client.follow(["level2"], "BTC-USD", **login)
    assert answer["type"] == kind
    if kind == "error":
        assert answer["message"] == "Authentication Failed"


async def test_frozen_feed_answers_and_is_silent(session: Session, client: FeedClient) -> None:
    """Not even a new subscription gets a price."""
    session.market.schedule.add(Planned(Frozen(), NOW))
    await client.follow(["ticker", "matches", "heartbeat", "level2_batch", "status"], "BTC-USD")
    session.pass_time(2000)
    assert await client.all() == []


async def test_client_that_does_not_subscribe_is_disconnected(session: Session) -> None:
    """The time for it is five seconds; a subscription in time lets the connection live."""
    session.server.subscribe_seconds = 0.1
    async with feed_client(session) as quick, feed_client(session) as idle:
        await quick.follow(["heartbeat"], "BTC-USD")
        with pytest.raises(ConnectionClosed):
            await idle.next()
        session.pass_time(1000)
        assert (await quick.next())["type"] == "heartbeat"


async def test_too_many_commands_end_the_connection(client: FeedClient) -> None:
    """A client may send a hundred at once."""
    for _ in range(101):
        await client.send({"type": "unsubscribe", "channels": ["ticker"]})
    messages = await client.until("error")
    assert len(messages) == 101
    assert messages[-1]["message"] == "ErrSlowRead"


async def transcript() -> list[bytes]:
    """Returns what a client of all channels receives in three seconds."""
    session = Session(Market(9), rate=200)
    async with session.server, feed_client(session) as client:
        await client.follow([*PRODUCT_CHANNELS, "status"], "BTC-USD", "ETH-USD", "SOL-EUR", **LOGIN)
        session.pass_time(6000)
        await client.send({"type": "unsubscribe", "channels": ["ticker"]})
        received: list[bytes] = []
        while not received or b'"subscriptions"' not in received[-1]:
            received.append(await client.connection.recv(decode=False))
        return received


async def test_sessions_of_one_seed_are_equal() -> None:
    """Byte for byte, over all channels."""
    first, second = await transcript(), await transcript()
    assert len(first) > 1000
    assert first == second
