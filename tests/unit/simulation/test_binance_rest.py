"""REST of a simulated Binance: values of the market, and refusals in Binance's words."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from quotecast.market.bars import Interval
from quotecast.providers.binance import wire
from quotecast.providers.binance.history import Kline
from quotecast.simulation.market.scenarios.base import Listed, Pause, Scenario
from quotecast.simulation.market.scenarios.connections import Maintenance, RateLimited
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.vendors.binance.intervals import LENGTHS, opening
from quotecast.simulation.vendors.binance.limits import MAX_WEIGHT
from quotecast.simulation.vendors.market import DAY
from support.servers.binance_simulated import NOW, Session

HOUR = 3_600_000
PAIRS = 70


class Halted(Scenario, frozen=True, kw_only=True, tag="test-halted"):
    """A halt from an hour after the start on, for an hour."""

    def alterations(self, start: int) -> tuple[Pause]:
        return (Pause(start + HOUR, start + 2 * HOUR),)


class Gone(Scenario, frozen=True, kw_only=True, tag="test-gone"):
    """A pair that exists for an hour."""

    def alterations(self, start: int) -> tuple[Listed]:
        return (Listed(start, start + HOUR),)


@pytest.fixture
def session() -> Session:
    return Session()


def test_listing_has_every_pair_but_those_in_dollars(session: Session) -> None:
    """Ticks are those of the market; our adapter reads the rows."""
    info = session.read("exchangeInfo")
    assert info["serverTime"] == NOW
    rows = {row["symbol"]: row for row in info["symbols"]}
    assert rows.keys() == {
        f"{pair.base}{pair.quote}" for pair in session.market.pairs.values() if pair.quote != "USD"
    }
    assert rows["BTCUSDT"]["filters"][0] == {
        "filterType": "PRICE_FILTER",
        "minPrice": "0.01000000",
        "maxPrice": "1000000.00000000",
        "tickSize": "0.01000000",
    }
    assert all(wire.symbol(msgspec.json.encode(row)).tradable for row in rows.values())
    assert info["rateLimits"][0]["limit"] == MAX_WEIGHT
    assert [row["symbol"] for row in session.read("exchangeInfo", symbol="ETHUSDT")["symbols"]] == ["ETHUSDT"]
    assert session.read("exchangeInfo", symbolStatus="BREAK")["symbols"] == []


def test_statistics_are_those_of_the_market(session: Session) -> None:
    """The short form, prices and best offers have the same figures."""
    row = session.read("ticker/24hr", symbol="BTCUSDT")
    price = session.market.price("BTC/USDT", NOW)
    figures = [
        row[name] for name in ("lastPrice", "bidPrice", "askPrice", "highPrice", "lowPrice", "openPrice")
    ]
    assert [float(text) for text in figures] == [
        price.price,
        price.bid,
        price.ask,
        price.high,
        price.low,
        price.open,
    ]
    assert (row["lastId"], row["closeTime"], row["openTime"]) == (price.number, NOW, NOW - DAY)
    assert float(row["priceChange"]) == pytest.approx(price.price - price.previous)
    assert float(row["weightedAvgPrice"]) * float(row["volume"]) == pytest.approx(float(row["quoteVolume"]))
    assert session.read("ticker/24hr", symbol="BTCUSDT", type="MINI").items() <= row.items()
    assert session.read("ticker/price", symbol="BTCUSDT") == {"symbol": "BTCUSDT", "price": row["lastPrice"]}
    assert session.read("ticker/bookTicker", symbol="BTCUSDT").items() <= row.items()
    assert row in session.read("ticker/24hr")
    assert session.read("ticker/24hr", symbols='["ETHUSDT","BTCUSDT"]')[1] == row


MARKETS: list[tuple[str, Interval]] = [
    ("1m", "1m"),
    ("5m", "5m"),
    ("15m", "15m"),
    ("30m", "30m"),
    ("1h", "1h"),
    ("4h", "4h"),
    ("1d", "D"),
    ("1w", "W"),
    ("1M", "M"),
]


@pytest.mark.parametrize(("interval", "own"), MARKETS)
def test_candles_are_those_of_the_market(session: Session, interval: str, own: Interval) -> None:
    """The newest one is in progress; our adapter reads the rows."""
    rows = session.read("klines", symbol="BTCUSDT", interval=interval, limit=3)
    bars = session.market.bars("BTC/USDT", own, rows[0][0], NOW)
    assert [[row[0], *map(float, row[1:5])] for row in rows] == [
        [bar.start, bar.open, bar.high, bar.low, bar.close] for bar in bars
    ]
    assert [row[6] + 1 for row in rows[:-1]] == [row[0] for row in rows[1:]]
    assert rows[-1][0] <= NOW <= rows[-1][6]
    read = msgspec.convert(rows[0], Kline).to_bar()
    assert read
    assert read.close == bars[0].close


@pytest.mark.parametrize("interval", LENGTHS)
def test_candles_of_all_intervals_follow_one_another(session: Session, interval: str) -> None:
    """As many as the client asks for, and a page begins where the client says."""
    rows = session.read("klines", symbol="ETHUSDT", interval=interval, limit=20)
    assert len(rows) == 20
    assert all(before[6] + 1 == after[0] for before, after in pairwise(rows))
    start = rows[4][0]
    page = session.read("uiKlines", symbol="ETHUSDT", interval=interval, startTime=start - 1, limit=5)
    assert page == rows[4:9]
    assert session.read("klines", symbol="ETHUSDT", interval=interval, endTime=start, limit=2) == rows[3:5]
    assert opening(interval, start) == start


def test_candles_begin_when_binance_did(session: Session) -> None:
    """A client that asks from 1970 on gets the first there is; the future is empty."""
    [row] = session.read("klines", symbol="BTCUSDT", interval="1d", startTime=0, limit=1)
    assert row[0] == 1_502_928_000_000
    assert session.read("klines", symbol="BTCUSDT", interval="1d", startTime=NOW + DAY) == []
    assert len(session.read("klines", symbol="BTCUSDT", interval="1m", limit=5000)) == 1000


def test_trades_are_those_of_the_market(session: Session) -> None:
    """Newest last; pages go by number and by time."""
    trades = session.read("trades", symbol="BTCUSDT", limit=5)
    for trade in trades:
        price = session.market.price("BTC/USDT", trade["time"])
        assert (trade["id"], float(trade["price"]), float(trade["qty"])) == (
            price.number,
            price.price,
            price.size,
        )
    assert trades[-1]["time"] == NOW
    assert session.read("historicalTrades", symbol="BTCUSDT", fromId=trades[1]["id"], limit=2) == trades[1:3]
    by_time = session.read("aggTrades", symbol="BTCUSDT", startTime=NOW - 4, endTime=NOW)
    assert [row["a"] for row in by_time] == [trade["id"] for trade in trades[-3:]]


def test_book_is_around_the_price(session: Session) -> None:
    """The best offers are those of the ticker; no level repeats."""
    book = session.read("depth", symbol="BTCUSDT", limit=20)
    best = session.read("ticker/bookTicker", symbol="BTCUSDT")
    assert book["bids"][0] == [best["bidPrice"], best["bidQty"]]
    assert book["asks"][0] == [best["askPrice"], best["askQty"]]
    bids, asks = ([float(level[0]) for level in book[side]] for side in ("bids", "asks"))
    assert (len(bids), len(asks)) == (20, 20)
    assert bids == sorted(set(bids), reverse=True)
    assert asks == sorted(set(asks))


def test_average_is_of_five_minutes(session: Session) -> None:
    rows = session.read("klines", symbol="BTCUSDT", interval="1m", limit=5)
    average = session.read("avgPrice", symbol="BTCUSDT")
    assert average["mins"] == 5
    assert min(float(row[3]) for row in rows) <= float(average["price"]) <= max(float(row[2]) for row in rows)


CANDLES = {"symbol": "BTCUSDT", "interval": "1m"}
PROBLEMS: list[tuple[str, dict[str, Any], int, str]] = [
    ("ticker/price", {"symbol": "btcusdt"}, -1100, "Illegal characters found in parameter 'symbol'"),
    ("ticker/price", {"symbols": "BTCUSDT"}, -1100, "Illegal characters found in parameter 'symbols'"),
    ("ticker/price", {"symbols": "[]"}, -1100, "Illegal characters found in parameter 'symbols'"),
    ("klines", CANDLES | {"limit": "x"}, -1100, "Illegal characters found in parameter 'limit'"),
    ("klines", CANDLES | {"startTime": "-1"}, -1100, "Illegal characters found in parameter 'startTime'"),
    ("klines", {"symbol": "BTCUSDT"}, -1102, "Mandatory parameter 'interval' was not sent"),
    ("depth", {}, -1102, "Mandatory parameter 'symbol' was not sent"),
    ("time", {"now": 1}, -1104, "read '0' parameter(s) but was sent '1'"),
    ("ticker/price", {"symbol": ""}, -1105, "Parameter 'symbol' was empty."),
    ("klines", CANDLES | {"interval": "7m"}, -1120, "Invalid interval."),
    ("trades", {"symbol": "NONESUCH"}, -1121, "Invalid symbol."),
    ("trades", {"symbol": "BTCUSD"}, -1121, "Invalid symbol."),
    ("ticker/24hr", {"symbol": "BTCUSDT", "symbols": '["ETHUSDT"]'}, -1128, "Combination of optional"),
    ("aggTrades", {"symbol": "BTCUSDT", "fromId": 1, "startTime": 1}, -1128, "Combination of optional"),
    ("klines", CANDLES | {"timeZone": "3"}, -1130, "Data sent for parameter 'timeZone' is not valid."),
    ("klines", CANDLES | {"limit": 0}, -1130, "Data sent for parameter 'limit' is not valid."),
    ("ticker/24hr", {"type": "HALF"}, -1130, "Data sent for parameter 'type' is not valid."),
    ("exchangeInfo", {"symbolStatus": "OPEN"}, -1130, "Data sent for parameter 'symbolStatus' is not valid."),
]


@pytest.mark.parametrize(("path", "query", "code", "text"), PROBLEMS)
def test_bad_parameters_have_binances_errors(
    session: Session, path: str, query: dict[str, Any], code: int, text: str
) -> None:
    """The code says which rule the request breaks."""
    found, message = session.problem(path, **query)
    assert (found, text in message) == (code, True), message


@pytest.mark.parametrize("number", ["9" * 19, "1" + "0" * 18])
def test_numbers_without_sense_are_no_failure(session: Session, number: str) -> None:
    """A time far in the future or a number that no trade has gives an empty list."""
    assert session.read("klines", **CANDLES, startTime=number) == []
    assert session.read("klines", **CANDLES, endTime=0) == []
    assert session.read("aggTrades", symbol="BTCUSDT", fromId=number) == []
    assert session.read("historicalTrades", symbol="BTCUSDT", fromId=number) == []
    assert session.read("historicalTrades", symbol="BTCUSDT", fromId=0) == []
    assert session.read("aggTrades", symbol="BTCUSDT", startTime=number) == []


def test_unknown_path_is_not_found(session: Session) -> None:
    assert session.get("/api/v3/orders").status == 404


def test_weight_counts_and_ends_with_the_minute(session: Session) -> None:
    """Each answer says what the minute's requests weigh; the next minute begins at zero."""
    for path, query, weight in (
        ("time", {}, 1),
        ("exchangeInfo", {}, 21),
        ("ticker/24hr", {}, 101),
        ("ticker/24hr", {"symbol": "BTCUSDT"}, 103),
        ("depth", {"symbol": "BTCUSDT", "limit": 5000}, 353),
    ):
        headers = session.get(f"/api/v3/{path}", **query).headers
        assert headers["X-MBX-USED-WEIGHT-1M"] == headers["X-MBX-USED-WEIGHT"] == str(weight)
    session.clock.advance(60_000)
    assert session.get("/api/v3/time").headers["X-MBX-USED-WEIGHT-1M"] == "1"


def test_weight_beyond_the_limit_is_429_then_418(session: Session) -> None:
    """A client that goes on is banned; after the ban it is welcome."""
    session.clock.advance(10_000)
    while (answer := session.get("/api/v3/ticker/24hr")).status == 200:
        pass
    assert (answer.status, answer.headers["Retry-After"]) == (429, "50")
    assert b'"code":-1003' in answer.body
    answers = [session.get("/api/v3/ping") for _ in range(12)]
    assert [each.status for each in answers] == [429] * 9 + [418] * 3
    assert answers[-1].headers["Retry-After"] == "120"
    session.clock.advance(60_000)
    assert session.get("/api/v3/ping").status == 418
    session.clock.advance(60_000)
    assert session.get("/api/v3/ping").status == 200


def test_maintenance_is_503_and_the_status_of_the_system_says_so() -> None:
    session = Session(Planned(Maintenance(), NOW))
    answer = session.get("/api/v3/time")
    assert (answer.status, b'"code":-1001' in answer.body) == (503, True)
    status = session.get("/sapi/v1/system/status")
    assert (status.status, status.body) == (200, b'{"status":1,"msg":"system_maintenance"}')
    assert Session().get("/sapi/v1/system/status").body == b'{"status":0,"msg":"normal"}'


def test_rate_limited_is_429_then_418() -> None:
    session = Session(Planned(RateLimited(), NOW))
    statuses = [session.get("/api/v3/time").status for _ in range(12)]
    assert statuses == [429] * 10 + [418] * 2


def test_halted_pair_has_its_status_and_no_trades() -> None:
    """Its statistics end with the last trade; other pairs go on."""
    session = Session(Planned(Halted(symbols=("BTC/USDT",)), NOW))
    session.clock.advance(90 * 60_000)
    statuses = {row["symbol"]: row["status"] for row in session.read("exchangeInfo")["symbols"]}
    assert (statuses["BTCUSDT"], statuses["ETHUSDT"]) == ("HALT", "TRADING")
    assert session.read("ticker/24hr", symbol="BTCUSDT")["closeTime"] < NOW + HOUR
    assert session.read("ticker/24hr", symbol="ETHUSDT")["closeTime"] == NOW + 90 * 60_000
    assert len(session.read("trades", symbol="BTCUSDT", limit=10)) == 1
    session.clock.advance(60 * 60_000)
    statuses = {row["symbol"]: row["status"] for row in session.read("exchangeInfo")["symbols"]}
    assert statuses["BTCUSDT"] == "TRADING"


def test_pair_that_is_not_listed_is_unknown() -> None:
    """Before its first day and after its last one; in between it is there."""
    session = Session(Planned(Gone(symbols=("ETH/USDT",)), NOW + HOUR))
    listed = []
    for _ in range(3):
        symbols = {row["symbol"] for row in session.read("ticker/price")}
        listed.append("ETHUSDT" in symbols)
        assert symbols == {row["symbol"] for row in session.read("exchangeInfo")["symbols"]}
        assert (session.get("/api/v3/klines", symbol="ETHUSDT", interval="1m").status == 200) == listed[-1]
        session.clock.advance(HOUR)
    assert listed == [False, True, False]
