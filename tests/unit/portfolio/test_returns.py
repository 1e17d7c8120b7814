"""Returns of a portfolio, against a fund with shares of its own."""

import random
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quotecast.portfolio.returns import Period, money_weighted, time_weighted

FIRST = date(2026, 1, 1)


def period(
    first: int, last: int, values: tuple[float, float], paid: float = 0.0, taken: float = 0.0
) -> Period:
    return Period(FIRST + timedelta(days=first), FIRST + timedelta(days=last), *values, paid, taken)


def test_a_year_at_ten_percent() -> None:
    found = [period(0, 365, (100.0, 110.0))]
    assert time_weighted(found) == pytest.approx(0.1)
    assert money_weighted(found) == pytest.approx(0.1, abs=1e-9)


def test_money_that_comes_later_grows_for_a_part_of_the_time() -> None:
    """100 for two years and 100 for the second one, at 21 % in all."""
    found = [period(0, 365, (100.0, 110.0)), period(365, 730, (110.0, 231.0), paid=100.0)]
    assert money_weighted(found) == pytest.approx(0.21, abs=1e-9)


def test_payments_change_only_the_money_weighted_return() -> None:
    """A lot is paid in before a fall: the holdings rose and fell alike, the owner lost."""
    found = [
        period(0, 182, (100.0, 200.0)),
        period(182, 365, (200.0, 600.0), paid=1000.0),
    ]
    assert time_weighted(found) == pytest.approx(0.0)
    lost = money_weighted(found)
    assert lost is not None
    assert lost < -0.3


def test_what_is_taken_out_belongs_to_the_return() -> None:
    assert time_weighted([period(0, 1, (100.0, 50.0), taken=60.0)]) == pytest.approx(0.1)


@pytest.mark.parametrize("periods", [[], [period(0, 1, (0.0, 0.0))]])
def test_without_anything_invested_there_is_no_return(periods: list[Period]) -> None:
    assert time_weighted(periods) is None
    assert money_weighted(periods) is None


def test_a_total_loss_loses_all() -> None:
    found = [period(0, 365, (100.0, 0.0))]
    assert time_weighted(found) == -1.0
    assert money_weighted(found) == -1.0


def test_a_fee_while_nothing_is_held_leaves_the_return() -> None:
    """Bought for 100 and sold for 110; the custody of the next day costs 1."""
    sold = period(0, 1, (0.0, 0.0), paid=100.0, taken=110.0)
    custody = replace(period(1, 2, (0.0, 0.0), paid=1.0), fees=1.0)
    assert time_weighted([sold, custody]) == pytest.approx(0.1)
    assert time_weighted([custody]) is None


def test_a_fee_lessens_the_return_of_what_is_held() -> None:
    assert time_weighted([replace(period(0, 1, (100.0, 110.0), paid=1.0), fees=1.0)]) == pytest.approx(0.09)


def test_a_gain_of_one_day_has_its_interest_over_a_year() -> None:
    found = [period(0, 1, (0.0, 0.0), paid=100.0, taken=110.0), period(1, 365, (0.0, 0.0))]
    assert money_weighted(found) == pytest.approx(1.1**365 - 1, rel=1e-9)


@given(seed=st.integers(min_value=0))
def test_the_time_weighted_return_is_that_of_a_share_of_a_fund(seed: int) -> None:
    """Payments buy shares at the price before the day, and sell them at the price after it."""
    draw = random.Random(seed)
    price, shares, found = 1.0, 0.0, []
    for day in range(draw.randint(1, 40)):
        value, paid = shares * price, draw.choice((0.0, 0.0, draw.uniform(1, 1000)))
        shares += paid / price
        price *= draw.uniform(0.8, 1.25) if shares else 1.0
        taken = draw.choice((0.0, 0.0, 0.5)) * shares * price
        shares -= taken / price
        found.append(period(day, day + 1, (value, shares * price), paid=paid, taken=taken))
    expected = price - 1 if any(each.paid_in for each in found) else None
    assert time_weighted(found) == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9))


@given(seed=st.integers(min_value=0))
def test_at_the_money_weighted_return_all_payments_are_worth_the_last_value(seed: int) -> None:
    draw = random.Random(seed)
    rate, balance, found = draw.uniform(-0.6, 1.5), draw.uniform(100, 1000), []
    count = draw.randint(1, 12)
    for number in range(count):
        before, paid = balance, draw.choice((0.0, draw.uniform(0, 500)))
        grown = (balance + paid) * (1 + rate) ** (1 / count)
        taken = draw.choice((0.0, draw.uniform(0, 0.5) * grown))
        balance = grown - taken
        found.append(period(30 * number, 30 * number + 30, (before, balance), paid=paid, taken=taken))
    assert money_weighted(found) == pytest.approx(rate, abs=1e-6)
