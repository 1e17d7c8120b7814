"""Adjustments of prices for corporate actions, against holders who reinvest their dividends."""

import random
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.actions import Adjustment, CorporateAction, with_dividends, without_splits
from quotecast.market.conversion import times

FIRST = date(2026, 1, 1)


def action(kind: Any, day: int, **terms: Any) -> CorporateAction:
    return CorporateAction(
        id=f"{kind} {day}",
        type=kind,
        symbol="S",
        ex_day=FIRST + timedelta(days=day),
        provider="test",
        **terms,
    )


def test_raw_prices_are_in_the_shares_of_their_own_day() -> None:
    """A 4:1 split and a reverse 1:10 split; the price of the ex-day itself is after the action."""
    splits = [
        action("split", 5, old_shares=1.0, new_shares=4.0),
        action("split", 9, old_shares=10.0, new_shares=1.0),
    ]
    raw = without_splits(splits, FIRST + timedelta(days=30))
    factors = [float(raw.factor(FIRST + timedelta(days=day))) for day in (4, 5, 8, 9)]
    assert factors == [0.4, 0.1, 0.1, 1.0]


def test_a_stock_dividend_counts_as_a_split_and_a_rename_changes_nothing() -> None:
    found = [
        action("stock_dividend", 5, old_shares=1.0, new_shares=1.05),
        action("rename", 6, new_symbol="T"),
        action("merger", 7, old_shares=1.0, new_shares=2.0, new_symbol="T"),
    ]
    assert float(without_splits(found, FIRST + timedelta(days=30)).factor(FIRST)) == 1.05


def test_what_is_announced_changes_no_price_yet() -> None:
    coming = [action("split", 40, old_shares=1.0, new_shares=2.0), action("cash_dividend", 41, amount=1.0)]
    closes = {FIRST: 100.0}
    today = FIRST + timedelta(days=30)
    assert without_splits(coming, today).factor(FIRST) == 1
    assert with_dividends(coming, closes, today).factor(FIRST) == 1


@pytest.mark.parametrize("amount", [100.0, 250.0])
def test_a_dividend_as_large_as_the_price_is_left_out(amount: float) -> None:
    """So is one before the first close."""
    closes = {FIRST + timedelta(days=3): 100.0}
    given = [action("cash_dividend", 5, amount=amount), action("cash_dividend", 2, amount=1.0)]
    assert with_dividends(given, closes, FIRST + timedelta(days=30)) == Adjustment([])


def test_dividends_of_one_day_add_up() -> None:
    """A special dividend beside the regular one; one in euros is left out."""
    given = [action("cash_dividend", 5, amount=amount, currency="USD") for amount in (1.0, 9.0)]
    given.append(action("cash_dividend", 5, amount=3.0, currency="EUR"))
    closes = {FIRST + timedelta(days=4): 20.0}
    assert with_dividends(given, closes, FIRST + timedelta(days=30)).factor(FIRST) == Decimal("0.5")


def test_a_dividend_long_after_the_last_close_is_left_out() -> None:
    given = [action("cash_dividend", 40, amount=1.0)]
    assert with_dividends(given, {FIRST: 20.0}, FIRST + timedelta(days=50)) == Adjustment([])


def test_prices_have_twelve_digits() -> None:
    third = without_splits([action("split", 1, old_shares=3.0, new_shares=1.0)], FIRST + timedelta(days=9))
    assert times(100.0, third.factor(FIRST)) == 33.3333333333
    assert times(0.1, Adjustment().factor(FIRST)) == 0.1


@given(seed=st.integers(min_value=0))
def test_adjusted_prices_are_those_of_a_holder_who_reinvests(seed: int) -> None:
    """From a raw price and the holder's shares since then: an oracle in fractions, without our formulas."""
    draw = random.Random(seed)
    raw = {day: Fraction(draw.randint(500, 50_000), 100) for day in range(60) if draw.random() < 0.7}
    raw[59] = Fraction(10_000, 100)
    actions: list[CorporateAction] = []
    #: Shares that one share of the day before becomes on a day: by splits, and by dividends that buy more.
    splits, bought = dict.fromkeys(range(60), Fraction(1)), dict.fromkeys(range(60), Fraction(1))
    for day in sorted(draw.sample(range(1, 60), draw.randint(0, 8))):
        before = max((other for other in raw if other < day), default=None)
        if draw.random() < 0.4:
            old, new = draw.choice([(1.0, 2.0), (1.0, 3.0), (2.0, 3.0), (10.0, 1.0)])
            actions.append(action("split", day, old_shares=old, new_shares=new))
            splits[day] *= Fraction(new) / Fraction(old)
        elif before is not None:
            # In the shares of the ex-day: a split may lie between.
            price = raw[before]
            for other in range(before + 1, day):
                price /= splits[other]
            amount = round(float(price) * draw.uniform(0.001, 0.2), 2) or 0.01
            actions.append(action("cash_dividend", day, amount=amount))
            bought[day] *= price / (price - Fraction(str(amount)))

    def since(growth: dict[int, Fraction], day: int) -> Fraction:
        total = Fraction(1)
        for other in range(day + 1, 60):
            total *= growth[other]
        return total

    today = FIRST + timedelta(days=59)
    adjusted_closes = {
        FIRST + timedelta(days=day): float(price / since(splits, day)) for day, price in raw.items()
    }
    unsplit = without_splits(actions, today)
    whole = with_dividends(actions, adjusted_closes, today)
    for day, price in raw.items():
        at = FIRST + timedelta(days=day)
        assert float(unsplit.factor(at)) == pytest.approx(float(since(splits, day)), rel=1e-12)
        expected = price / since(splits, day) / since(bought, day)
        assert times(adjusted_closes[at], whole.factor(at)) == pytest.approx(float(expected), rel=1e-9)
