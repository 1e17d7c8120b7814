"""The usual clients of Alpaca against a simulated one."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from quotecast.market.bars import Interval
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.vendors.market import Candle, Market
from support.servers.simulated_vendor import SimulatedVendor, run_node, run_python, simulated_vendor

pytestmark = pytest.mark.vendors

SEED: Final = 7
#: A Friday, two hours of which clients ask for.
START: Final = datetime(2026, 11, 20, 14, tzinfo=UTC)
END: Final = START + timedelta(hours=2)
SINCE: Final = milliseconds(START)


@pytest.fixture(scope="module")
def vendor() -> Iterator[SimulatedVendor]:
    """Yields an Alpaca whose time runs fast enough for a story to appear; its first trades are of START."""
    start = (END + timedelta(hours=6)).isoformat()
    with simulated_vendor(
        "alpaca", "--seed", str(SEED), "--rate", "500", "--speed", "100", "--start", start
    ) as vendor:
        yield vendor


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(SEED)


def values(candles: Sequence[Candle]) -> list[list[float]]:
    return [[each.open, each.high, each.low, each.close, round(each.volume, 8)] for each in candles]


def candles(market: Market, symbol: str, interval: Interval, end: datetime = END) -> list[Candle]:
    """Returns the candles that begin from START to the end, both included."""
    found = market.bars(symbol, interval, SINCE, milliseconds(end) + 3_599_999)
    return [each for each in found if SINCE <= each.start <= milliseconds(end)]


def price_at(market: Market, symbol: str, time: str) -> float:
    return market.price(symbol, milliseconds(datetime.fromisoformat(time))).price


def test_alpaca_py_reads_stocks(vendor: SimulatedVendor, market: Market) -> None:
    """Bars of odd lengths, snapshots, trades, quotes, the broker's lists, news and both streams."""
    span = START.isoformat(), END.isoformat()
    found = run_python("alpaca_py_alpaca.py", vendor.url, vendor.websocket_url, *span, "stories")
    expect_bars(found["stocks"]["bars"], market)
    for time, price in found["stocks"]["trades"]:
        assert price == price_at(market, "AAPL", time)
    assert all(bid < ask for bid, ask in found["stocks"]["spread"])
    assert set(found["stocks"]["snapshots"]) == {"AAPL", "BRK.B"}
    assert [each[1:] for each in found["pairs"]["bars"]["BTC/USD"]] == values(
        candles(market, "BTC/USD", "1h")
    )
    assert found["pairs"]["quotes"] == ["BTC/USD", "ETH/USD"]
    assert found["broker"]["is_open"]
    assert (found["broker"]["stocks"], found["broker"]["pairs"]) == (len(market.stocks), len(market.pairs))
    assert found["broker"]["apple"] == "Apple Inc."
    assert len(found["news"]) == 60
    expect_stream(found["stream"], market)
    [[number, headline, _]] = found["news_stream"]
    assert isinstance(number, int)
    assert headline


def expect_bars(found: dict[str, dict[str, list[list[Any]]]], market: Market) -> None:
    """Expects bars of stocks to be the market's."""
    for symbol in ("AAPL", "BRK.B"):
        five = [list(each)[1:] for each in found["5m"][symbol]]
        assert five == values(candles(market, symbol, "5m"))
    minutes = candles(market, "AAPL", "1m", END + timedelta(minutes=6))
    time, opened, high, low, close, volume = found["7m"]["AAPL"][0]
    assert datetime.fromisoformat(time) == datetime(2026, 11, 20, 14, tzinfo=UTC)
    first = minutes[:7]
    assert (opened, close) == (first[0].open, first[-1].close)
    assert (high, low) == (max(each.high for each in first), min(each.low for each in first))
    assert volume == sum(each.volume for each in first)


def expect_stream(found: dict[str, list[list[Any]]], market: Market) -> None:
    """Expects a stream's trades to be the market's at their times, in order."""
    for symbol, time, price in found["trades"]:
        assert price == price_at(market, symbol, time)
    assert {symbol for symbol, _, _ in found["trades"]} == {"AAPL", "BRK.B"}
    times = [time for _, time, _ in found["trades"]]
    assert times == sorted(times)
    assert all(symbol == "AAPL" and bid < ask for symbol, bid, ask in found["quotes"])


def test_ccxt_reads_pairs(vendor: SimulatedVendor, market: Market) -> None:
    """Tickers, candles of five lengths, trades and the book; and ccxt.pro's stream."""
    found = run_python("ccxt_alpaca.py", vendor.url, vendor.websocket_url, str(SINCE))
    assert found["ticker"]["last"] == price_at(market, "BTC/USD", found["ticker"]["datetime"])
    assert found["ticker"]["bid"] < found["ticker"]["last"] < found["ticker"]["ask"]
    assert set(found["tickers"]) == {"BTC/USD", "ETH/USD"}
    assert found["all"] == len(market.pairs)
    for interval in ("1m", "15m", "1h"):
        bars = market.bars("BTC/USD", interval, SINCE, SINCE + 5 * 3_600_000)[:5]
        assert [each[1:] for each in found["candles"][interval]] == values(bars)
        assert [each[0] for each in found["candles"][interval]] == [bar.start for bar in bars]
    for trade in found["trades"]:
        assert trade["price"] == price_at(market, "BTC/USD", trade["datetime"])
    for ticker in found["watched"]["tickers"]:
        price = market.price("BTC/USD", ticker["timestamp"])
        assert (ticker["bid"], ticker["ask"]) == (price.bid, price.ask)
    assert found["watched"]["book"]["bids"][0][0] < found["watched"]["book"]["asks"][0][0]


def test_ccxt_for_node_reads_pairs(vendor: SimulatedVendor, market: Market) -> None:
    found = run_node("ccxt_alpaca.js", vendor.url, str(SINCE))
    bars = market.bars("BTC/USD", "1h", SINCE, SINCE + 5 * 3_600_000)[:5]
    assert [each[1:] for each in found["candles"]] == values(bars)
    assert found["ticker"]["last"] == price_at(market, "BTC/USD", found["ticker"]["datetime"])
    assert set(found["tickers"]) == {"BTC/USD", "ETH/USD"}


def test_alpacas_own_library_for_node_reads_everything(vendor: SimulatedVendor, market: Market) -> None:
    """Bars by pages of seven, snapshots, the broker, news, and the streams of stocks and pairs."""
    span = START.isoformat(), END.isoformat()
    found = run_node("alpaca_trade_api_alpaca.js", vendor.url, vendor.websocket_url, *span)
    rest = found["rest"]
    assert [sum(map(len, page.values())) for page in rest["pages"]] == [7, 7, 4]
    for symbol in ("AAPL", "MSFT"):
        rows = [row for page in rest["pages"] for row in page.get(symbol, ())]
        assert [[row[name] for name in "ohlcv"] for row in rows] == values(candles(market, symbol, "15m"))
    assert rest["asset"] == "Apple Inc."
    assert len(rest["news"]) == 3
    for trade in [*found["stocks"]["trades"], *found["pairs"]["trades"]]:
        assert trade["price"] == price_at(market, trade["symbol"], trade["timestamp"])
    for quote in [*found["stocks"]["quotes"], *found["pairs"]["quotes"]]:
        price = market.price(quote["symbol"], milliseconds(datetime.fromisoformat(quote["timestamp"])))
        assert (quote["bidPrice"], quote["askPrice"]) == (price.bid, price.ask)
