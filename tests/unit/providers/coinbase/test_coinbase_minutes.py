"""Minutes made of Coinbase's trades."""

import msgspec

from quotecast.market.own_bars import OwnBar, VenueBar
from quotecast.providers.coinbase.tickers import CoinbaseTickers

#: Thursday, 2026-11-19, 20:00 in UTC.
BEGIN = 1_795_118_400


def ticker(price: str) -> bytes:
    return msgspec.json.encode(
        {
            "type": "ticker",
            "product_id": "BTC-USD",
            "sequence": 1,
            "price": price,
            "time": "2026-11-19T19:59:59Z",
        }
    )


def match(time: str, price: str, size: str) -> bytes:
    return msgspec.json.encode(
        {
            "type": "match",
            "product_id": "BTC-USD",
            "price": price,
            "size": size,
            "time": f"2026-11-19T{time}Z",
        }
    )


def begun(now: float) -> CoinbaseTickers:
    tickers = CoinbaseTickers()
    tickers.begin(now)
    tickers.read([ticker("100")], now)
    return tickers


def test_a_minute_has_all_its_trades() -> None:
    tickers = begun(BEGIN - 1)
    tickers.read([match("20:00:00.5", "100.5", "0.1"), match("20:00:10", "99", "0.2")], BEGIN + 10)
    assert tickers.take_bars() == [
        VenueBar("BTC/USD", OwnBar(BEGIN, 100.5, 100.5, 99.0, 99.0, 0.3, 0), final=False)
    ]
    tickers.read([match("20:00:59", "101", "1"), match("20:01:00", "98", "2")], BEGIN + 60)
    assert [each.bar.volume for each in tickers.take_bars()] == [1.3, 2.0]
    assert tickers.take_bars() == []


def test_the_minute_in_which_a_connection_begins_is_not_whole() -> None:
    """Nor is it after a new connection, which begins with trades of the minute before."""
    tickers = begun(BEGIN + 10)
    tickers.read([match("20:00:30", "100", "1")], BEGIN + 30)
    assert tickers.take_bars() == []
    tickers.read([match("20:01:00", "100", "1"), match("20:00:59", "50", "9")], BEGIN + 60)
    assert [each.bar.low for each in tickers.take_bars()] == [100.0]
    tickers.begin(BEGIN + 90)
    tickers.read([match("20:01:40", "100", "1"), match("20:02:00", "100", "2")], BEGIN + 120)
    assert [(each.bar.opened, each.bar.volume) for each in tickers.take_bars()] == [(BEGIN + 120, 2.0)]


def test_unreadable_and_absurd_trades_are_counted() -> None:
    tickers = begun(BEGIN - 1)
    tickers.read([match("20:00:01", "-1", "1"), match("25:00:01", "100", "1")], BEGIN + 1)
    tickers.read([match("20:00:02", "5000", "1")], BEGIN + 2)
    assert tickers.take_bars() == []
    assert tickers.statistics().items() >= {"unreadable": 2, "absurd": 1}.items()
