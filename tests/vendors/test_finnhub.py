"""The usual client of Finnhub against a simulated one."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from quotecast.market.bars import Interval
from quotecast.simulation.vendors.market import Market
from support.servers.simulated_vendor import run_python, simulated_vendor

pytestmark = pytest.mark.vendors

SEED: Final = 7
DAY: Final = 86_400


@pytest.fixture(scope="module")
def asked() -> int:
    """Returns the Unix time before the client's first request."""
    return int(time.time())


@pytest.fixture(scope="module")
def answer(asked: int) -> Iterator[dict[str, Any]]:
    """Returns all answers that the client reads."""
    last = datetime.fromtimestamp(asked, UTC).date()
    # Around the end of a quarter no company reports for 40 days.
    days = [(last - timedelta(days=45)).isoformat(), last.isoformat()]
    span = [str(asked - 5 * DAY), str(asked)]
    with simulated_vendor("finnhub", "--seed", str(SEED)) as vendor:
        yield run_python("finnhub_python_finnhub.py", vendor.url + "/api/v1", *days, *span)


@pytest.fixture(scope="module")
def market() -> Market:
    return Market(SEED)


def test_quotes_are_the_markets(answer: dict[str, Any], market: Market) -> None:
    for name, symbol in (("quote", "AAPL"), ("pair", "BTC/USDT")):
        quote = answer[name]
        second = [market.price(symbol, quote["t"] * 1000 + number) for number in range(0, 1000, 2)]
        assert quote["c"] in {price.price for price in second}
        assert quote["l"] <= quote["c"] <= quote["h"]
        assert quote["d"] == pytest.approx(quote["c"] - quote["pc"], abs=1e-3)
    assert answer["quote"]["pc"] == market.price("AAPL", answer["quote"]["t"] * 1000).previous
    assert answer["unknown"]["c"] == 0


@pytest.mark.parametrize(
    ("name", "symbol", "interval"), [("candles", "AAPL", "1h"), ("pair candles", "BTC/USDT", "D")]
)
def test_candles_are_the_markets(
    answer: dict[str, Any], market: Market, asked: int, *, name: str, symbol: str, interval: Interval
) -> None:
    rows = answer[name]
    assert rows["s"] == "ok"
    bars = market.bars(symbol, interval, (asked - 5 * DAY) * 1000, asked * 1000)
    expected = [bar for bar in bars if bar.start >= (asked - 5 * DAY) * 1000]
    assert rows["t"] == [bar.start // 1000 for bar in expected]
    assert (rows["o"], rows["c"]) == ([bar.open for bar in expected], [bar.close for bar in expected])
    assert (rows["h"], rows["l"]) == ([bar.high for bar in expected], [bar.low for bar in expected])


def test_company_agrees_with_its_price(answer: dict[str, Any]) -> None:
    price, shares = answer["quote"]["c"], answer["profile"]["shareOutstanding"]
    assert answer["metrics"]["metric"]["marketCapitalization"] == pytest.approx(price * shares, rel=0.01)
    assert answer["profile"]["marketCapitalization"] == pytest.approx(price * shares, rel=0.01)
    assert answer["profile"]["ticker"] == "AAPL"
    assert [len(answer[name]) for name in ("earnings", "recommendations")] == [5, 6]
    for name in ("revenue", "eps", "quality"):
        assert answer[name]["symbol"] == "AAPL"
        assert answer[name]["data"]


def test_listings_calendar_and_news(answer: dict[str, Any], market: Market) -> None:
    assert sorted(row["symbol"] for row in answer["symbols"]) == sorted(market.stocks)
    assert "BINANCE:BTCUSDT" in {row["symbol"] for row in answer["pairs"]}
    assert answer["search"]["result"][0]["symbol"] == "AAPL"
    assert answer["status"]["isOpen"] is True
    assert answer["holidays"]["timezone"] == "America/New_York"
    assert answer["calendar"]["earningsCalendar"]
    assert {row["symbol"] for row in answer["calendar"]["earningsCalendar"]} <= {*market.stocks}
    assert {row["related"] for row in answer["company news"]} == {"AAPL"}
    times = [row["datetime"] for row in answer["news"]]
    assert times == sorted(times, reverse=True)


def test_errors_are_the_clients(answer: dict[str, Any]) -> None:
    """They come as the client's exceptions, with Finnhub's texts."""
    assert answer["errors"] == {
        "missing": [422, "Missing parameters"],
        "abroad": [403, "You don't have access to this resource."],
    }
