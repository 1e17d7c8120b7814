"""The usual clients of Binance against a simulated one: values are those of the market of the seed."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from quotecast.simulation.vendors.market import Market
from support.servers.simulated_vendor import SimulatedVendor, run_node, run_python, simulated_vendor

pytestmark = pytest.mark.vendors

SEED: Final = 5
#: 2024-01-01, a midnight in UTC: the vendor's clock is that of the machine, so this must be in the past.
START: Final = 1_704_067_200_000
HOUR: Final = 3_600_000
BITCOIN, ETHER = "BTC/USDT", "ETH/USDT"

Row = dict[str, Any]


@pytest.fixture(scope="module")
def vendor() -> Iterator[SimulatedVendor]:
    with simulated_vendor("binance", "--seed", str(SEED), "--rate", "200") as vendor:
        yield vendor


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(SEED)


def minutes(market: Market, count: int = 5) -> list[list[float]]:
    """Returns Bitcoin's minutes from the start, as ccxt shows them."""
    bars = market.bars(BITCOIN, "1m", START, START + count * 60_000)[:count]
    return [[bar.start, bar.open, bar.high, bar.low, bar.close, round(bar.volume, 8)] for bar in bars]


def candles(rows: list[list[Any]]) -> list[list[float]]:
    """Returns rows of Binance's candles as ccxt shows them."""
    return [[row[0], *map(float, row[1:6])] for row in rows]


def expect_event(market: Market, event: Row) -> None:
    """Expects a ticker, of REST or of a stream, to be the market's at its time."""
    names = ("symbol", "closeTime", "lastPrice", "bidPrice", "askPrice", "highPrice", "lowPrice", "lastId")
    short = ("s", "C", "c", "b", "a", "h", "l", "L")
    symbol, time, *figures = (event.get(name, event.get(key)) for name, key in zip(names, short, strict=True))
    price = market.price({"BTCUSDT": BITCOIN, "ETHUSDT": ETHER}[str(symbol)], int(time or 0))
    *values, number = figures
    assert [float(value or 0) for value in values] == [
        price.price,
        price.bid,
        price.ask,
        price.high,
        price.low,
    ]
    assert number == price.number


def expect_trade(market: Market, symbol: str, time: int, price: float, size: float) -> None:
    """Expects a trade to be the market's at its time."""
    expected = market.price(symbol, time)
    assert (expected.time, price, size) == (time, expected.price, expected.size)


def expect_watched(market: Market, tickers: list[Row]) -> None:
    """Expects tickers of a stream to be the market's at their times, in ascending order."""
    for ticker in tickers:
        price = market.price(BITCOIN, ticker["timestamp"])
        assert (ticker["last"], ticker["high"], ticker["low"]) == (price.price, price.high, price.low)
    times = [ticker["timestamp"] for ticker in tickers]
    assert times == sorted(set(times))


def test_python_binance_reads_rest(vendor: SimulatedVendor, market: Market) -> None:
    """Tickers, candles page by page, trades and the book; its thread and its sockets get the same market."""
    answer = run_python("python_binance_binance.py", vendor.url, vendor.websocket_url, str(START))
    rest, streams = answer["rest"], answer["streams"]
    assert rest["status"] == {"status": 0, "msg": "normal"}
    assert (rest["info"]["status"], rest["info"]["baseAsset"]) == ("TRADING", "BTC")
    expect_event(market, rest["ticker"])
    listed = [pair for pair in market.pairs.values() if pair.quote != "USD"]
    assert rest["tickers"] == rest["prices"] == len(listed)
    assert candles(rest["klines"]) == minutes(market)
    starts = [row[0] for row in rest["history"]]
    assert starts == [*range(START, START + 2000 * HOUR, HOUR)]
    assert rest["earliest"] == 1_502_928_000_000
    assert len(rest["book"]["bids"]) == len(rest["book"]["asks"]) == 5
    assert float(rest["book"]["bids"][0][0]) < float(rest["book"]["asks"][0][0])
    assert [row["id"] for row in rest["trades"]] == sorted(row["id"] for row in rest["trades"])
    for row in rest["trades"]:
        expect_trade(market, BITCOIN, row["time"], float(row["price"]), float(row["qty"]))
    assert [row["T"] for row in rest["aggregates"]] == [START + 2 * number for number in range(5)]
    assert rest["weight"] > 0
    expect_event(market, streams["btcusdt@ticker"])
    assert len(streams["btcusdt@depth5@100ms"]["bids"]) == 5
    assert streams["kline"]["k"]["i"] == "1m"
    assert {row["s"] for row in streams["all"]} <= {pair.base + pair.quote for pair in listed}
    for trade in [streams["trade"], *answer["thread"]]:
        symbol = {"BTCUSDT": BITCOIN, "ETHUSDT": ETHER}[trade["s"]]
        expect_trade(market, symbol, trade["T"], float(trade["p"]), float(trade["q"]))


def test_binance_connector_reads_rest_and_streams(vendor: SimulatedVendor, market: Market) -> None:
    """Raw and combined streams answer commands; errors have Binance's codes."""
    answer = run_python("binance_connector_binance.py", vendor.url, vendor.websocket_url, str(START))
    rest = answer["rest"]
    assert rest["error"] == [400, -1121, "Invalid symbol."]
    assert int(rest["info"]["limit_usage"]["x-mbx-used-weight-1m"]) >= 20
    assert [row["symbol"] for row in rest["info"]["data"]["symbols"]] == ["BTCUSDT", "ETHUSDT"]
    assert candles(rest["klines"]["data"]) == minutes(market)
    assert [row["symbol"] for row in rest["day"]["data"]] == ["BTCUSDT", "ETHUSDT"]
    book = rest["depth"]["data"]
    best, offered = market.price(BITCOIN, book["lastUpdateId"] * 2), float(book["bids"][0][0])
    assert (offered, float(book["asks"][0][0])) == (best.bid, best.ask)
    for received in (answer["raw"], answer["combined"]):
        assert received["4"] == ["btcusdt@ticker", "btcusdt@kline_5m", "!miniTicker@arr"]
        expect_event(market, received["24hrTicker"])
        kline = received["kline"]["k"]
        [bar] = market.bars(BITCOIN, "5m", kline["t"], received["kline"]["E"])[-1:]
        assert (kline["t"], float(kline["o"]), float(kline["c"])) == (bar.start, bar.open, bar.close)
        assert (float(kline["h"]), float(kline["l"])) == (bar.high, bar.low)
        assert kline["x"] is False


def test_ccxt_reads_prices_and_candles(vendor: SimulatedVendor, market: Market) -> None:
    """Tickers, trades, the book and candles; longer candles consist of the market's hours."""
    answer = run_python("ccxt_binance.py", vendor.url, str(START))
    expect_event(market, answer["ticker"]["info"])
    assert answer["tickers"].keys() == answer["markets"].keys()
    for symbol in (BITCOIN, ETHER):
        expect_event(market, answer["tickers"][symbol]["info"])
    assert answer["markets"][BITCOIN] == 0.01
    assert answer["bids"].keys() == {BITCOIN, ETHER}
    assert answer["candles"]["1m"] == minutes(market)
    hours = market.bars(BITCOIN, "1h", START, START + 6 * HOUR)[:6]
    assert answer["candles"]["6h"][0][:5] == [
        START,
        hours[0].open,
        max(hour.high for hour in hours),
        min(hour.low for hour in hours),
        hours[-1].close,
    ]
    [day, *_] = market.bars(BITCOIN, "D", START, START + 24 * HOUR)
    assert answer["candles"]["1d"][0][:5] == [START, day.open, day.high, day.low, day.close]
    assert len(answer["newest"]) == 500
    for trade in answer["trades"]:
        expect_trade(market, BITCOIN, trade["timestamp"], trade["price"], trade["amount"])
    assert len(answer["book"]["bids"]) == 10


def test_ccxt_pro_watches_tickers_trades_candles_and_the_book(
    vendor: SimulatedVendor, market: Market
) -> None:
    """Its WebSocket classes take the address as an option; differences never cross their book."""
    answer = run_python("ccxt_pro_binance.py", vendor.url, vendor.websocket_url)
    expect_watched(market, answer["tickers"])
    for trade in answer["trades"]:
        expect_trade(market, ETHER, trade["timestamp"], trade["price"], trade["amount"])
    [bar] = market.bars(BITCOIN, "1m", answer["candles"][-1][0], answer["candles"][-1][0])[-1:]
    assert answer["candles"][-1][1] == bar.open
    for bid, ask, levels in answer["books"]:
        assert ask - bid == pytest.approx(0.02)
        assert levels >= 100


def test_cryptofeed_follows_all_its_channels(vendor: SimulatedVendor, market: Market) -> None:
    """Tickers, trades, candles and the book; the library wants the stream's address from its login hook."""
    answer = run_python("cryptofeed_binance.py", vendor.url, vendor.websocket_url)
    names = {"BTC-USDT": BITCOIN, "ETH-USDT": ETHER}
    for symbol, price, size, seconds in answer["trades"]:
        expect_trade(market, names[symbol], round(seconds * 1000), price, size)
    for _, bid, ask in answer["ticker"]:
        assert bid < ask
    for symbol, bid, ask, levels in answer["l2_book"]:
        assert bid < ask
        assert (symbol in names, levels) == (True, 10)
    for symbol, start, values in answer["candles"]:
        [bar] = market.bars(names[symbol], "1m", round(start * 1000), round(start * 1000) + 59_999)
        assert values[0] == bar.open
        assert bar.low <= values[2] <= values[1] <= bar.high


def test_ccxt_for_node_reads_and_watches(vendor: SimulatedVendor, market: Market) -> None:
    """The same values arrive in JavaScript."""
    answer = run_node("ccxt_binance.js", vendor.url, vendor.websocket_url, str(START))
    expect_event(market, answer["ticker"]["info"])
    assert sorted(answer["tickers"]) == [BITCOIN, ETHER]
    assert answer["candles"] == minutes(market)
    expect_watched(market, answer["watched"])
