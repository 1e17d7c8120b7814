"""The usual clients of Coinbase Exchange against a simulated one."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from quotecast.simulation.vendors.market import Market
from support.servers.simulated_vendor import SimulatedVendor, run_node, run_python, simulated_vendor

pytestmark = pytest.mark.vendors

SEED: Final = 5
#: 2024-01-01T00:00:00Z; the simulated vendor has the time of the machine.
START: Final = 1_704_067_200_000
HOUR: Final = 3_600_000

Row = dict[str, Any]


@pytest.fixture(scope="module")
def vendor() -> Iterator[SimulatedVendor]:
    with simulated_vendor("coinbase", "--seed", str(SEED), "--rate", "200") as vendor:
        yield vendor


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(SEED)


def expected_candles(market: Market, count: int) -> list[list[float]]:
    """Returns minutes from the start, as ccxt shows them."""
    bars = market.bars("BTC/USD", "1m", START, START + count * 60_000)[:count]
    return [[bar.start, bar.open, bar.high, bar.low, bar.close, round(bar.volume, 8)] for bar in bars]


def expect_trade(market: Market, symbol: str, trade: Row) -> None:
    """Expects a trade to be the market's at its time."""
    price = market.price(symbol, trade["timestamp"])
    assert (trade["price"], trade["amount"]) == (price.price, price.size)
    assert int(trade["id"]) == price.number


def expect_watched(market: Market, tickers: list[Row]) -> None:
    """Expects tickers of the feed to be the market's at their times, and to follow one another."""
    for ticker in tickers:
        price = market.price("BTC/USD", ticker["timestamp"])
        assert (ticker["last"], ticker["bid"], ticker["ask"]) == (price.price, price.bid, price.ask)
        assert (ticker["high"], ticker["low"]) == (price.high, price.low)
    times = [ticker["timestamp"] for ticker in tickers]
    assert times == sorted(times)
    sequences = [int(ticker["info"]["sequence"]) for ticker in tickers]
    assert sequences == sorted(set(sequences))


def test_ccxt_reads_prices_and_candles(vendor: SimulatedVendor, market: Market) -> None:
    """Tickers, statistics, trades, book and candles are those of the market of the seed."""
    answer = run_python("ccxt_coinbase.py", vendor.url, str(START))
    price = market.price("BTC/USD", answer["ticker"]["timestamp"])
    assert (answer["ticker"]["last"], answer["ticker"]["bid"]) == (price.price, price.bid)
    assert price.low <= answer["stats"]["low"] * 1.02
    assert answer["candles"]["1m"] == expected_candles(market, 5)
    [first, *_] = answer["candles"]["6h"]
    hours = market.bars("BTC/USD", "1h", START, START + 6 * HOUR)[:6]
    assert first[:5] == [
        START,
        hours[0].open,
        max(hour.high for hour in hours),
        min(hour.low for hour in hours),
        hours[-1].close,
    ]
    [day, *_] = market.bars("BTC/USD", "D", START, START + 24 * HOUR - 1)
    assert answer["candles"]["1d"][0][:5] == [START, day.open, day.high, day.low, day.close]
    assert len(answer["newest"]) == 300
    for trade in answer["trades"]:
        expect_trade(market, "BTC/USD", trade)
    assert answer["book"]["bids"][0][0] < answer["book"]["asks"][0][0]


def test_ccxt_lists_the_pairs_of_the_market(vendor: SimulatedVendor, market: Market) -> None:
    """The tickers are those of all pairs, each within its market's last day."""
    answer = run_python("ccxt_coinbase.py", vendor.url, str(START))
    assert answer["markets"] == dict.fromkeys(market.pairs, True)
    assert answer["tickers"].keys() == market.pairs.keys()
    for symbol, ticker in answer["tickers"].items():
        price = market.price(symbol, answer["time"])
        assert price.low * 0.99 <= ticker["last"] <= price.high * 1.01
    assert answer["currency"] == "Bitcoin"


def test_ccxt_pro_watches_tickers_trades_and_the_book(vendor: SimulatedVendor, market: Market) -> None:
    """Its WebSocket classes take the address as an option; their book has no crossed side."""
    answer = run_python("ccxt_pro_coinbase.py", vendor.url, vendor.websocket_url)
    expect_watched(market, answer["tickers"])
    for trade in answer["trades"]:
        expect_trade(market, "ETH/USD", trade)
    assert len(answer["bids"]) == len(answer["asks"]) == 20
    assert answer["bids"][0][0] < answer["asks"][0][0]


def test_ccxt_for_node_reads_and_watches(vendor: SimulatedVendor, market: Market) -> None:
    """The same values arrive in JavaScript."""
    answer = run_node("ccxt_coinbase.js", vendor.url, vendor.websocket_url, str(START))
    price = market.price("BTC/USD", answer["ticker"]["timestamp"])
    assert (answer["ticker"]["last"], answer["ticker"]["ask"]) == (price.price, price.ask)
    assert sorted(answer["tickers"]) == ["BTC/USD", "ETH/EUR"]
    assert answer["candles"] == expected_candles(market, 5)
    expect_watched(market, answer["watched"])
