"""The value of a portfolio on past days, against a plain sum."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.worth_history import CARRIED, Factor, Position, value_history

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(40)]

CLOSES = st.dictionaries(st.sampled_from(DAYS), st.floats(0.01, 1e6), max_size=40)
FACTORS = st.builds(Factor, CLOSES, st.booleans())
LOTS = st.lists(st.tuples(st.sampled_from(DAYS), st.floats(1e-8, 1e6)), min_size=1, max_size=5)
POSITIONS = st.lists(st.builds(Position, LOTS, st.lists(FACTORS, min_size=1, max_size=3)), max_size=4)


def price_on(factor: Factor, day: date) -> float | None:
    for back in range(CARRIED.days + 1):
        close = factor.closes.get(day - timedelta(days=back))
        if close is not None:
            return 1 / close if factor.inverse else close
    return None


def value_on(positions: list[Position], day: date) -> float | None:
    total = 0.0
    for position in positions:
        shares = sum(count for bought, count in position.lots if bought <= day)
        if not shares:
            continue
        worth = shares
        for factor in position.factors:
            price = price_on(factor, day)
            if price is None:
                return None
            worth *= price
        total += worth
    return total


@given(POSITIONS)
def test_each_day_is_the_sum_of_that_day(positions: list[Position]) -> None:
    """Lots count from their day on; a close stands for ten days; an unknown one makes the day unknown."""
    found = value_history(positions, DAYS)
    if not positions:
        assert found == [None] * len(DAYS)
        return
    for day, value in zip(DAYS, found, strict=True):
        expected = value_on(positions, day)
        assert value == (None if expected is None else pytest.approx(expected, rel=1e-9))


def test_shares_that_are_sold_leave_nothing() -> None:
    lots = [(FIRST, 0.1), (FIRST, 0.2), (DAYS[1], -0.3)]
    position = Position(lots, [Factor(dict.fromkeys(DAYS[:2], 1e12))])
    assert value_history([position], DAYS[:2]) == [3e11, 0.0]


def test_few_shares_keep_their_digits() -> None:
    """Those of before a reverse split may be less than the last place of the ledger."""
    position = Position([(FIRST, 4.768371584e-13)], [Factor({FIRST: 1.0})])
    assert value_history([position], [FIRST]) == [4.768371584e-13]


def test_a_value_has_twelve_digits() -> None:
    """No digits of binary fractions show."""
    position = Position([(FIRST, 0.1), (FIRST, 0.2)], [Factor({FIRST: 3.0})])
    assert value_history([position], [FIRST]) == [0.9]


def test_a_close_of_zero_is_no_price() -> None:
    for inverse in (False, True):
        position = Position([(FIRST, 1.0)], [Factor({FIRST: 0.0}, inverse)])
        assert value_history([position], [FIRST]) == [None]
