"""How the rates of Turkish sources become quotes."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.quotes import DovizQuote
from quotecast.providers.turkey.dealing import DealerRate, Dealing

NOW = 1_795_118_400.0


def rate(selling: str, **other: Any) -> DealerRate:
    return DealerRate("gram-altin", Decimal(selling), **other)


def test_rate_becomes_a_whole_quote() -> None:
    """The change and the previous close follow from the percentage, in as many digits as the price has."""
    [quote] = Dealing().take(
        [rate("6641.00", buying=Decimal("6640.10"), change_percent=Decimal("0.4"))], "truncgil", NOW
    )
    assert quote == DovizQuote(
        provider="truncgil",
        symbol="gram-altin",
        name="Gram Altın",
        category="gold",
        source="Serbest Piyasa",
        unit="gram",
        currency="TRY",
        buying=6640.1,
        selling=6641.0,
        price=6641.0,
        change=26.46,
        change_percent=0.4,
        previous_close=6614.54,
        timestamp="2026-11-19T20:00:00Z",
    )


@given(
    st.integers(min_value=1, max_value=10**9), st.integers(0, 6), st.integers(min_value=-2000, max_value=2000)
)
def test_change_agrees_with_the_percentage(digits: int, places: int, hundredths: int) -> None:
    """To the hundredth that the source gives, for prices of few digits too: 0.0025 rises by 0.13 %."""
    percent = Decimal(hundredths) / 100
    [quote] = Dealing().take([rate(f"{Decimal(digits).scaleb(-places):f}", change_percent=percent)], "", NOW)
    assert quote.change is not None
    assert quote.previous_close is not None
    assert quote.change / quote.previous_close * 100 == pytest.approx(float(percent), abs=0.005)
    assert quote.price - quote.change == pytest.approx(quote.previous_close)


@pytest.mark.parametrize("percent", [None, Decimal(-100), Decimal("-99." + "9" * 40)])
def test_rate_without_a_change_has_none(percent: Decimal | None) -> None:
    """Null rather than 0; a price cannot have lost all of itself."""
    [quote] = Dealing().take([rate("6641.00", change_percent=percent)], "truncgil", NOW)
    assert (quote.change, quote.change_percent, quote.previous_close) == (None, None, None)


def test_first_quote_is_of_the_time_that_the_source_names() -> None:
    """Later ones of when they change; a source whose clock is ahead is not believed."""
    friday = datetime(2026, 11, 13, 15, tzinfo=UTC)
    dealing = Dealing()
    [first] = dealing.take([rate("6641.00")], "truncgil", NOW, friday)
    [moved] = dealing.take([rate("6642.00")], "truncgil", NOW + 60, friday)
    assert (first.timestamp, moved.timestamp) == ("2026-11-13T15:00:00Z", "2026-11-19T20:01:00Z")
    [ahead] = Dealing().take([rate("6641.00")], "truncgil", NOW, datetime(2027, 1, 1, tzinfo=UTC))
    assert ahead.timestamp == "2026-11-19T20:00:00Z"


def test_ounce_is_priced_in_dollars_and_an_unknown_currency_in_lira() -> None:
    """As the table says, and as the market does."""
    ounce, kroner = Dealing().take(
        [DealerRate("ons", Decimal(4000)), DealerRate("ISK", Decimal("0.35"), name="İzlanda Kronu")],
        "truncgil",
        NOW,
    )
    assert (ounce.currency, ounce.unit) == ("USD", "ons")
    assert (kroner.name, kroner.unit, kroner.currency) == ("İzlanda Kronu", "1 ISK", "TRY")


def test_unchanged_rate_is_not_told_again() -> None:
    """Its timestamp stays: the source's own clock moves while prices stand still."""
    dealing = Dealing()
    dealing.take([rate("6641.00")], "truncgil", NOW)
    assert dealing.take([rate("6641.00")], "truncgil", NOW + 60) == []
    assert dealing.quotes()[0].timestamp == "2026-11-19T20:00:00Z"
    [moved] = dealing.take([rate("6642.00")], "truncgil", NOW + 120)
    assert moved.timestamp == "2026-11-19T20:02:00Z"
    [told] = dealing.take([rate("6642.00")], "genelpara", NOW + 180)
    assert told.provider == "genelpara"


def test_absurd_rate_is_refused_and_a_missing_side_keeps_its_last_value() -> None:
    """The last good rate stays, and the absurd one counts as refused."""
    dealing = Dealing()
    dealing.take([rate("6641.00", buying=Decimal(6640))], "truncgil", NOW)
    assert dealing.take([rate("66410.01")], "truncgil", NOW) == []
    assert dealing.statistics() == {"absurd": 1}
    [moved] = dealing.take([rate("6650.00")], "truncgil", NOW)
    assert moved.buying == 6640.0


@pytest.mark.parametrize("buying", ["664000", "6641.01", "664.09"])
def test_buying_price_above_the_selling_one_or_far_below_keeps_its_last_value(buying: str) -> None:
    """It counts as refused; without a last value it is the selling price."""
    dealing = Dealing()
    [first] = dealing.take([rate("6641.00", buying=Decimal(buying))], "truncgil", NOW)
    assert (first.buying, dealing.statistics()) == (6641.0, {"absurd_field": 1})
    dealing.take([rate("6641.00", buying=Decimal(6640))], "truncgil", NOW)
    [kept] = dealing.take([rate("6641.00", buying=Decimal(buying))], "genelpara", NOW)
    assert (kept.buying, dealing.statistics()) == (6640.0, {"absurd_field": 2})
    [fallen] = dealing.take([rate("6639.00")], "truncgil", NOW)
    assert fallen.buying == 6639.0


@pytest.mark.parametrize("percent", ["-99.9", "100999", "-90.01", "900.01"])
def test_change_by_more_than_a_factor_of_ten_is_null(percent: str) -> None:
    """It counts as refused, and the price goes on."""
    dealing = Dealing()
    [made] = dealing.take([rate("6641.00", change_percent=Decimal(percent))], "truncgil", NOW)
    assert (made.price, made.change, made.change_percent, made.previous_close) == (6641.0, None, None, None)
    assert dealing.statistics() == {"absurd_field": 1}


@pytest.mark.parametrize(
    ("selling", "believed"), [("22.09", True), ("88.36", True), ("22.08", False), ("88.37", False)]
)
def test_rate_is_believed_within_twice_its_reference(selling: str, *, believed: bool) -> None:
    """And half of it."""
    dealing = Dealing()
    assert dealing.judge_by({"USD": 44.18}) == []
    assert bool(dealing.take([DealerRate("USD", Decimal(selling))], "truncgil", NOW)) is believed
    assert dealing.statistics() == ({} if believed else {"far_off": 1})


@given(
    st.decimals(min_value=Decimal("1e-18"), max_value=Decimal("1e18"), allow_nan=False),
    st.none() | st.decimals(min_value=-(10**18), max_value=10**18, allow_nan=False),
)
def test_whatever_is_told_quotes_are_sound(selling: Decimal, percent: Decimal | None) -> None:
    """Nothing raises, and prices are above zero."""
    for quote in Dealing().take([DealerRate("USD", selling, change_percent=percent)], "truncgil", NOW):
        assert quote.price > 0
        assert quote.change == quote.change
