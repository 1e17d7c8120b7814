"""The usual clients of Kraken against a simulated one."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from quotecast.simulation.vendors.market import Market
from support.servers.simulated_vendor import SimulatedVendor, run_node, run_python, simulated_vendor

pytestmark = pytest.mark.vendors

SEED: Final = 7
HOUR: Final = 3_600_000
PAIRS: Final = ("BTC/USD", "DOGE/USD", "ETH/USD")


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(SEED)


@pytest.fixture(scope="module")
def kraken() -> Iterator[SimulatedVendor]:
    with simulated_vendor("kraken", "--seed", str(SEED)) as vendor:
        yield vendor


def check_candles(market: Market, rows: list[list[Any]]) -> None:
    """Compares complete candles of an hour, whose times are in milliseconds, with the market's."""
    expected = market.bars("BTC/USD", "1h", rows[0][0], rows[-2][0] + HOUR - 1)
    assert [row[:5] for row in rows[:-1]] == [
        [each.start, each.open, each.high, each.low, each.close] for each in expected
    ]


def check_trades(market: Market, trades: list[tuple[float, float]]) -> None:
    """Compares trades, as pairs of a time in milliseconds and a price, with the market's."""
    assert trades
    assert [price for _, price in trades] == [
        market.price("BTC/USD", int(moment)).price for moment, _ in trades
    ]


def check_ccxt(market: Market, answer: dict[str, Any]) -> None:
    assert answer["markets"] == sorted(market.pairs)
    assert sorted(answer["tickers"]) == [*PAIRS]
    for ticker in (answer["ticker"], *answer["tickers"].values()):
        assert ticker["bid"] < ticker["last"] < ticker["ask"]
        assert ticker["low"] <= ticker["last"] <= ticker["high"]
    check_candles(market, answer["candles"])


def test_ccxt_reads_tickers_candles_and_trades(market: Market, kraken: SimulatedVendor) -> None:
    answer = run_python("ccxt_kraken.py", kraken.url)
    check_ccxt(market, answer)
    assert answer["status"] == "ok"
    check_trades(market, [(each["timestamp"], each["price"]) for each in answer["trades"]])
    assert answer["book"]["bids"][0][0] < answer["book"]["asks"][0][0]
    assert len(answer["book"]["bids"]) == len(answer["book"]["asks"]) == 10


def test_ccxt_of_npm_reads_tickers_and_candles(market: Market, kraken: SimulatedVendor) -> None:
    check_ccxt(market, run_node("ccxt_kraken.js", kraken.url))


def test_python_kraken_sdk_reads_rest(market: Market, kraken: SimulatedVendor) -> None:
    answer = run_python("kraken_sdk_kraken.py", "rest", kraken.url, kraken.websocket_url)
    assert answer["status"] == "online"
    assert answer["assets"] == ["XXBT", "ZUSD"]
    assert answer["pairs"]["XXBTZUSD"]["wsname"] == "XBT/USD"
    assert float(answer["ticker"]["XXBTZUSD"]["c"][0]) > 0
    rows = answer["ohlc"]["XXBTZUSD"]
    assert len(rows) == 720
    assert rows[-2][0] == answer["ohlc"]["last"]
    check_candles(market, [[row[0] * 1000, *map(float, row[1:5])] for row in rows])
    assert len(answer["trades"]["XXBTZUSD"]) == 1000
    check_trades(market, [(row[2] * 1000, float(row[0])) for row in answer["trades"]["XXBTZUSD"]])
    assert len(answer["spreads"]["XXBTZUSD"]) == 200
    assert len(answer["book"]["XXBTZUSD"]["asks"]) == 5


def test_python_kraken_sdk_reads_streams(market: Market, kraken: SimulatedVendor) -> None:
    answer = run_python("kraken_sdk_kraken.py", "streams", kraken.url, kraken.websocket_url)
    assert answer["instruments"] == len(market.pairs)
    errors = [each.get("error") for each in answer["answers"]["subscribe"] if not each["success"]]
    assert errors == ["Currency pair not supported NONE/USD"]
    assert [each["success"] for each in answer["answers"]["unsubscribe"]] == [True]
    assert answer["answers"]["pong"]
    for channel in ("ticker", "trade", "ohlc"):
        assert {row["symbol"] for row in answer["snapshots"][channel]} == {"BTC/USD"}
        assert {row["symbol"] for row in answer["updates"][channel]} == {"BTC/USD"}
    [row] = answer["updates"]["ticker"]
    assert row["low"] <= row["last"] <= row["high"]


def test_python_kraken_sdk_finds_the_checksums_of_books_right(kraken: SimulatedVendor) -> None:
    answer = run_python("kraken_sdk_kraken.py", "books", kraken.url, kraken.websocket_url)
    assert answer == {"checked": 20, "valid": True}


def test_cryptofeed_reads_every_channel(market: Market, kraken: SimulatedVendor) -> None:
    """It speaks version 1 of the WebSocket API, and checks the checksums of books."""
    answer = run_python("cryptofeed_kraken.py", kraken.url, kraken.websocket_url)
    for rows in answer.values():
        assert {row[0] for row in rows} == {"BTC-USD", "ETH-USD"}
    assert all(bid < ask for _, bid, ask in answer["ticker"])
    of_bitcoin = [row for row in answer["trades"] if row[0] == "BTC-USD"]
    check_trades(market, [(round(row[3] * 1000), row[1]) for row in of_bitcoin])
    assert all(bid < ask and levels == 10 for _, bid, ask, levels in answer["l2_book"])
    assert all(low <= high and interval == "1m" for _, low, high, interval in answer["candles"])
