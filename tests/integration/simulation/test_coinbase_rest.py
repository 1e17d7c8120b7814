"""REST of a simulated Coinbase Exchange."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final

import httpx
import pytest

from quotecast.market.bars import Interval
from quotecast.simulation.market.scenarios.connections import RateLimited
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.market.scenarios.trading import Delisting, Halt, NewListing
from quotecast.simulation.vendors.coinbase.book import book_of
from quotecast.simulation.vendors.market import Market
from support.servers.coinbase_simulated import NOW, Row, Session, feed_client

DAY: Final = 86_400_000
SECOND: Final = NOW // 1000


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    session = Session(Market(3))
    async with session.server:
        yield session


@pytest.fixture
async def http(session: Session) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=session.server.url) as http:
        yield http


async def read(http: httpx.AsyncClient, path: str, **parameters: Any) -> Any:
    answer = await http.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(http: httpx.AsyncClient, path: str, **parameters: Any) -> tuple[int, str]:
    answer = await http.get(path, params=parameters)
    assert answer.json().keys() == {"message"}
    return answer.status_code, answer.json()["message"]


async def test_request_without_user_agent_is_refused(http: httpx.AsyncClient) -> None:
    """Coinbase asks for the header."""
    request = http.build_request("GET", "/products")
    del request.headers["User-Agent"]
    answer = await http.send(request)
    assert (answer.status_code, answer.json()) == (400, {"message": "User-Agent header is required."})


async def test_ten_requests_a_second_pass_and_fifteen_at_once() -> None:
    """The others have to wait; tokens come back with the time."""
    session = Session(Market(3), limit=10)
    async with session.server, httpx.AsyncClient(base_url=session.server.url) as http:
        statuses = [(await http.get("/time")).status_code for _ in range(17)]
        assert statuses == [200] * 15 + [429] * 2
        assert await refused(http, "/time") == (429, "Public rate limit exceeded")
        session.clock.advance(500)
        statuses = [(await http.get("/time")).status_code for _ in range(6)]
        assert statuses == [200] * 5 + [429]


async def test_time_is_that_of_the_market(session: Session, http: httpx.AsyncClient) -> None:
    session.clock.advance(1504)
    assert await read(http, "/time") == {"iso": "2026-11-19T20:00:01.504Z", "epoch": SECOND + 1.504}


async def test_products_are_the_pairs_of_the_market(session: Session, http: httpx.AsyncClient) -> None:
    """One product has the row of the list."""
    rows = await read(http, "/products")
    assert [row["id"].replace("-", "/") for row in rows] == [*session.market.pairs]
    [bitcoin] = [row for row in rows if row["id"] == "BTC-USD"]
    assert await read(http, "/products/BTC-USD") == bitcoin
    expected = {
        "base_currency": "BTC",
        "quote_currency": "USD",
        "quote_increment": "0.01",
        "status": "online",
        "trading_disabled": False,
    }
    assert bitcoin.items() >= expected.items()


async def test_currencies_have_names(http: httpx.AsyncClient) -> None:
    rows = {row["id"]: row for row in await read(http, "/currencies")}
    assert (rows["BTC"]["name"], rows["BTC"]["details"]["type"]) == ("Bitcoin", "crypto")
    assert (rows["EUR"]["name"], rows["EUR"]["details"]["type"]) == ("Euro", "fiat")
    assert await read(http, "/currencies/BTC") == rows["BTC"]


@pytest.mark.parametrize(
    "path",
    ["/", "/x", "/products/NO-SUCH", "/products/NO-SUCH/ticker", "/products/BTC-USD/x", "/currencies/X"],
)
async def test_unknown_path_is_not_found(http: httpx.AsyncClient, path: str) -> None:
    assert await refused(http, path) == (404, "NotFound")


async def test_ticker_and_statistics_show_the_newest_trade(session: Session, http: httpx.AsyncClient) -> None:
    """Statistics of 30 days are of the days before today."""
    price = session.market.price("ETH/USD", NOW)
    ticker = await read(http, "/products/ETH-USD/ticker")
    assert ticker.items() >= {"trade_id": price.number, "size": f"{price.size:.8f}"}.items()
    assert [float(ticker[name]) for name in ("price", "bid", "ask")] == [price.price, price.bid, price.ask]
    stats = await read(http, "/products/ETH-USD/stats")
    shown = [float(stats[name]) for name in ("open", "high", "low", "last")]
    assert shown == [price.open, price.high, price.low, price.price]
    today = NOW // DAY * DAY
    days = session.market.bars("ETH/USD", "D", today - 30 * DAY, today - 1)
    assert len(days) == 30
    assert float(stats["volume_30day"]) == pytest.approx(sum(day.volume for day in days))
    every = await read(http, "/products/stats")
    assert len(every) == len(session.market.pairs)
    assert every["ETH-USD"] == {
        "stats_30day": {"volume": stats["volume_30day"]},
        "stats_24hour": {name: stats[name] for name in ("open", "high", "low", "last", "volume")},
    }


@pytest.mark.parametrize(
    ("granularity", "interval"), [(60, "1m"), (300, "5m"), (900, "15m"), (3600, "1h"), (86400, "D")]
)
async def test_candles_are_those_of_the_market(
    session: Session, http: httpx.AsyncClient, granularity: int, interval: Interval
) -> None:
    """From the one that opens at `start` to the one that opens at `end`, newest first."""
    end = SECOND // granularity * granularity
    start = end - 9 * granularity
    path, query = "/products/BTC-USD/candles", {"granularity": granularity, "start": start}
    rows = await read(http, path, **query, end=datetime.fromtimestamp(end, UTC).isoformat())
    bars = session.market.bars("BTC/USD", interval, start * 1000, NOW)
    assert rows == [
        [bar.start // 1000, bar.low, bar.high, bar.open, bar.close, round(bar.volume, 8)]
        for bar in reversed(bars)
    ]
    assert len(rows) == 10
    assert await read(http, path, **query, end=end - 1) == rows[1:]
    assert (
        await read(http, path, granularity=granularity, start=end + granularity, end=end + 9 * granularity)
        == []
    )


async def test_candles_of_six_hours_are_made_of_hours(session: Session, http: httpx.AsyncClient) -> None:
    [row] = await read(http, "/products/BTC-USD/candles", granularity=21600, start=1795046400, end=1795046400)
    hours = session.market.bars("BTC/USD", "1h", 1795046400_000, 1795068000_000)[:6]
    low, high = min(hour.low for hour in hours), max(hour.high for hour in hours)
    assert row[:5] == [1795046400, low, high, hours[0].open, hours[-1].close]
    assert row[5] == pytest.approx(sum(hour.volume for hour in hours))


async def test_candles_are_at_most_300(http: httpx.AsyncClient) -> None:
    """Without start and end they are the newest; one bound alone counts for nothing."""
    path = "/products/BTC-USD/candles"
    rows = await read(http, path, granularity=60)
    assert [row[0] for row in rows] == [SECOND // 60 * 60 - 60 * age for age in range(300)]
    assert await read(http, path, start=0) == rows
    status, message = await refused(http, path, granularity=60, start=SECOND - 301 * 60, end=SECOND)
    assert (status, message.partition(".")[0]) == (
        400,
        "granularity too small for the requested time range",
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"granularity": "120"}, "Unsupported granularity"),
        ({"granularity": "x"}, "Unsupported granularity"),
        ({"start": "yesterday", "end": "today"}, "Invalid start or end"),
        ({"start": "0", "end": "9" * 400}, "granularity too small"),
    ],
)
async def test_wrong_parameters_of_candles_are_refused(
    http: httpx.AsyncClient, query: dict[str, str], message: str
) -> None:
    status, said = await refused(http, "/products/BTC-USD/candles", **query)
    assert (status, said.startswith(message)) == (400, True)


async def test_pages_of_trades_go_back_without_a_gap(session: Session, http: httpx.AsyncClient) -> None:
    """CB-AFTER leads to older trades, CB-BEFORE to newer ones."""
    path = "/products/BTC-USD/trades"
    first = await http.get(path, params={"limit": 5})
    older = await http.get(path, params={"limit": 5, "after": first.headers["CB-AFTER"]})
    rows: list[Row] = [*first.json(), *older.json()]
    newest = session.market.price("BTC/USD", NOW).number
    assert [row["trade_id"] for row in rows] == list(range(newest, newest - 10, -1))
    for row in rows:
        price = session.market.price("BTC/USD", row["trade_id"] * 2)
        assert (float(row["price"]), float(row["size"])) == (price.price, price.size)
    assert await read(http, path, before=older.headers["CB-BEFORE"]) == first.json()
    assert await read(http, path, before=newest) == []
    assert len(await read(http, path)) == 1000
    for wrong in ({"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"after": "x"}):
        assert (await refused(http, path, **wrong))[0] == 400


async def test_book_has_two_levels_of_detail(session: Session, http: httpx.AsyncClient) -> None:
    """Level 1 is the best bid and ask of the ticker; level 3 needs a key."""
    path = "/products/BTC-USD/book"
    price = session.market.price("BTC/USD", NOW)
    book = book_of(price, 2)
    best, whole = await read(http, path), await read(http, path, level=2)
    assert [(level, size) for level, size, _ in whole["bids"]] == [*book.bids.items()]
    assert [(level, size) for level, size, _ in whole["asks"]] == [*book.asks.items()]
    assert (best["bids"], best["asks"]) == (whole["bids"][:1], whole["asks"][:1])
    assert (float(best["bids"][0][0]), float(best["asks"][0][0])) == (price.bid, price.ask)
    assert await refused(http, path, level=3) == (401, "Unauthorized.")
    assert await refused(http, path, level=4) == (400, "Invalid level")


async def test_sequence_of_the_book_is_that_of_the_feed(session: Session, http: httpx.AsyncClient) -> None:
    async with feed_client(session) as client:
        await client.follow(["ticker"], "BTC-USD")
        session.pass_time(500)
        tickers = await client.all()
        book = await read(http, "/products/BTC-USD/book")
    assert book["sequence"] == tickers[-1]["sequence"]


async def test_rate_limited_market_refuses_each_request(session: Session, http: httpx.AsyncClient) -> None:
    """The scenario has the words of the limit."""
    session.market.schedule.add(Planned(RateLimited(), NOW - 1))
    answers = {await refused(http, "/products") for _ in range(5)}
    assert answers == {(429, "Public rate limit exceeded")}


async def test_halts_and_listings_show_in_products() -> None:
    """A delisted product has candles only, and cannot be followed; one that is not listed yet is unknown."""
    plan = [
        Planned(Halt(symbols=("BTC/USD",)), NOW - 1000),
        Planned(Delisting(symbols=("ETH/USD",)), NOW - 1000),
        Planned(NewListing(symbols=("SOL/USD",)), NOW + 60_000),
    ]
    session = Session(Market(3, Schedule(plan)))
    async with session.server, httpx.AsyncClient(base_url=session.server.url) as http:
        rows = {row["id"]: row for row in await read(http, "/products")}
        assert "SOL-USD" not in rows
        states = {product: (row["status"], row["trading_disabled"]) for product, row in rows.items()}
        assert states["BTC-USD"] == ("online", True)
        assert states["ETH-USD"] == ("delisted", True)
        assert states["ETH-EUR"] == ("online", False)
        assert await refused(http, "/products/SOL-USD/ticker") == (404, "NotFound")
        assert await refused(http, "/products/ETH-USD/ticker") == (400, "Not allowed for delisted products")
        assert await read(http, "/products/ETH-USD/candles", granularity=86400)
        assert "ETH-USD" not in await read(http, "/products/stats")
        async with feed_client(session) as client:
            answer = await client.follow(["ticker"], "ETH-USD")
        assert answer["reason"] == "ETH-USD is delisted"
        session.clock.advance(60_000)
        assert "SOL-USD" in {row["id"] for row in await read(http, "/products")}
        [trade] = await read(http, "/products/SOL-USD/trades", after=(NOW + 60_000) // 2 + 1)
        assert trade["time"].startswith("2026-11-19T20:01:00.000")


async def test_halted_product_has_heartbeats_and_no_trades(session: Session, http: httpx.AsyncClient) -> None:
    """After the halt the sequence goes on, and the price has a gap."""
    async with feed_client(session) as client:
        await client.follow(["ticker", "heartbeat"], "BTC-USD")
        session.market.schedule.add(Planned(Halt(symbols=("BTC/USD",), seconds=5.0), NOW + 1000))
        session.pass_time(1000)
        *_, last, _ = await client.all()
        session.pass_time(4980)
        halted = await client.all()
        session.pass_time(1000)
        resumed = [message for message in await client.all() if message["type"] == "ticker"]
    assert [message["type"] for message in halted] == ["heartbeat"] * 4
    assert {(message["sequence"], message["last_trade_id"]) for message in halted} == {
        (last["sequence"], last["trade_id"])
    }
    assert resumed[0]["sequence"] == last["sequence"] + 1
    assert float(resumed[0]["price"]) == pytest.approx(float(last["price"]) * 1.03, rel=0.005)
    trades = await read(http, "/products/BTC-USD/trades", limit=1000)
    identifiers = [trade["trade_id"] for trade in trades]
    assert identifiers == sorted(set(identifiers), reverse=True)
    assert last["trade_id"] in identifiers


async def test_scenario_that_undoes_the_last_trade_does_not_turn_the_feed_back() -> None:
    """A halt that began a minute ago has its last trade before that of the first ticker."""
    session = Session(Market(3), rate=1)
    async with session.server, feed_client(session) as client:
        await client.follow(["ticker"], "BTC-USD")
        session.market.schedule.add(Planned(Halt(symbols=("BTC/USD",), seconds=90.0), NOW - 60_000))
        session.pass_time(4000, step=1000)
        [first] = await client.all()
    assert first["trade_id"] == NOW // 2
