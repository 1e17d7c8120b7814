"""The ranking of gainers and losers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from quotecast.market.movers import TOP, Floors, movers_of
from quotecast.market.quotes import StockQuote
from support.made.market import stock

#: Few values, so that ties are frequent.
percents = st.none() | st.sampled_from([-0.0, 0.0]) | st.integers(-5, 5).map(float) | st.floats(-1e4, 1e4)
volumes = st.none() | st.integers(0, 2000).map(str)


@st.composite
def markets(draw: st.DrawFn) -> list[StockQuote]:
    tickers = draw(st.lists(st.sampled_from([f"T{number}" for number in range(90)]), unique=True))
    return [moved(ticker, draw(percents), draw(st.floats(0.01, 10)), draw(volumes)) for ticker in tickers]


def moved(ticker: str, percent: float | None, price: float = 10.0, volume: str | None = "1000") -> StockQuote:
    return structs.replace(stock(ticker, price), change_percent=percent, volume=volume)


floors = st.builds(Floors, st.sampled_from([0.0, 1.0, 5.0]), st.sampled_from([0, 1, 1000]))


@given(markets(), floors)
def test_gainers_rose_and_losers_fell(quotes: list[StockQuote], floors: Floors) -> None:
    """The greatest move comes first, ties go by ticker, and no stock appears twice."""
    movers = movers_of(quotes, floors)
    gains = [(-each.change_percent, each.ticker) for each in movers.gainers]
    losses = [(each.change_percent, each.ticker) for each in movers.losers]
    assert gains == sorted(set(gains))
    assert losses == sorted(set(losses))
    assert all(each.change_percent > 0 for each in movers.gainers)
    assert all(each.change_percent < 0 for each in movers.losers)


@given(markets(), floors)
def test_nobody_left_out_moved_further(quotes: list[StockQuote], floors: Floors) -> None:
    """A list is full if enough stocks qualify, else it holds all that do."""
    movers = movers_of(quotes, floors)
    qualified = {
        quote.ticker: quote.change_percent
        for quote in quotes
        if quote.change_percent
        and quote.price >= floors.price
        and (quote.volume is None or int(quote.volume) >= floors.volume)
    }
    rises = {ticker: percent for ticker, percent in qualified.items() if percent > 0}
    falls = {ticker: -percent for ticker, percent in qualified.items() if percent < 0}
    for listed, moves in ((movers.gainers, rises), (movers.losers, falls)):
        assert len(listed) == min(TOP, len(moves))
        left_out = moves.keys() - {each.ticker for each in listed}
        assert all(moves[out] <= abs(each.change_percent) for out in left_out for each in listed)


def test_the_20_furthest_are_listed() -> None:
    """Gainers and losers have 20 places each."""
    quotes = [moved(f"U{n:02}", 1.0 + n) for n in range(30)] + [
        moved(f"D{n:02}", -1.0 - n) for n in range(30)
    ]
    movers = movers_of(quotes, Floors())
    assert [each.ticker for each in movers.gainers] == [f"U{n}" for n in range(29, 9, -1)]
    assert [each.ticker for each in movers.losers] == [f"D{n}" for n in range(29, 9, -1)]


@pytest.mark.parametrize(
    ("price", "volume", "listed"),
    [(5.0, "100", True), (4.99, "100", False), (5.0, "99", False), (5.0, None, True)],
)
def test_cheap_and_hardly_traded_stocks_are_left_out(
    price: float,
    volume: str | None,
    listed: bool,  # noqa: FBT001 - a case
) -> None:
    """A stock at the floor qualifies; so does one with an unknown volume, as on Alpaca's free plan."""
    movers = movers_of([moved("AAPL", 2.0, price, volume)], Floors(price=5.0, volume=100))
    assert bool(movers.gainers) is listed


def test_the_last_update_is_that_of_the_newest_quote() -> None:
    """The newest quote counts even if its stock is not a mover."""
    early, late = "2026-11-20T15:00:00.000Z", "2026-11-20T15:00:01.000Z"
    quotes = [
        structs.replace(moved("A", 1.0), timestamp=early),
        structs.replace(moved("B", None), timestamp=late),
    ]
    assert movers_of(quotes, Floors()).last_update == late
    assert movers_of([], Floors()).last_update is None
