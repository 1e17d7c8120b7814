"""Exact decimals, from JSON and to JSON."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market import money

AMOUNTS = st.decimals(0, 999_999_999_999, places=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(AMOUNTS)
def test_an_amount_is_read_and_written_exactly(amount: Decimal) -> None:
    """The number of digits does not matter."""
    read = money.parse_amount(f"{amount:f}".encode())
    assert read == amount
    assert Decimal(bytes(money.amount_json(read)).decode()) == amount


@given(AMOUNTS)
def test_an_amount_is_written_plainly(amount: Decimal) -> None:
    """An amount has digits and at most one point: no exponent, no trailing zero, no sign at zero."""
    text = bytes(money.amount_json(money.without_zeros(amount))).decode()
    assert not set(text) - set("0123456789.")
    assert "." not in text or not text.endswith("0")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1e3", "1000"),
        ("2.50", "2.5"),
        ("0.10000000000", "0.1"),
        ("1E-8", "0.00000001"),
        ("-3.0e+1", "-30"),
        ("-0", "0"),
        ("0e-9999", "0"),
    ],
)
def test_all_spellings_of_a_number_are_one(text: str, written: str) -> None:
    """JSON allows many spellings of one number."""
    amount = money.parse_amount(text.encode())
    assert amount is not None
    assert bytes(money.amount_json(amount)).decode() == written


@pytest.mark.parametrize(
    "text", ["", '"1"', "true", "null", "[1]", "NaN", "1_0", " 1", "1e999999999", "1e-999999999", "1" * 65]
)
def test_what_is_no_number_is_no_amount(text: str) -> None:
    """A number with a huge exponent is rejected too: it would have millions of digits."""
    assert money.parse_amount(text.encode()) is None


def test_nothing_is_written_as_null() -> None:
    """An unknown amount is null, not zero."""
    assert bytes(money.amount_json(None)) == b"null"


@pytest.mark.parametrize(("text", "places"), [("0.10000000000", 1), ("1e-9", 9), ("1e3", 0), ("120", 0)])
def test_decimal_places_are_those_of_the_value(text: str, places: int) -> None:
    """Trailing zeros do not count."""
    amount = money.parse_amount(text.encode())
    assert amount is not None
    assert money.decimal_places(amount) == places


@given(AMOUNTS, AMOUNTS, FLOATS, FLOATS)
def test_a_worth_is_exact(shares: Decimal, avg_cost: Decimal, price: float, change: float) -> None:
    """Every digit of any float counts; floats convert by their shortest decimal representation."""
    worth = money.worth_of(shares, avg_cost, price, change)
    value, cost = Fraction(shares) * Fraction(repr(price)), Fraction(shares) * Fraction(avg_cost)
    assert Fraction(worth.market_value) == value
    assert Fraction(worth.gain) == value - cost
    assert worth.day_change is not None
    assert Fraction(worth.day_change) == Fraction(shares) * Fraction(repr(change))
    if cost:
        assert worth.gain_percent is not None
        assert abs(Fraction(worth.gain_percent) - (value - cost) / cost * 100) <= Fraction(1, 20_000)
        assert money.decimal_places(worth.gain_percent) <= 4
    else:
        assert worth.gain_percent is None


@given(AMOUNTS, AMOUNTS, FLOATS)
def test_a_worth_has_no_negative_zero(shares: Decimal, avg_cost: Decimal, price: float) -> None:
    """JSON has a negative zero, and clients would show it."""
    worth = money.worth_of(shares, avg_cost, price, -0.0)
    amounts = (worth.market_value, worth.gain, worth.gain_percent, worth.day_change)
    assert all(math.copysign(1, each) > 0 for each in amounts if each == 0)


def test_an_unknown_change_stays_unknown() -> None:
    """The day change is None, not zero."""
    assert money.worth_of(Decimal(1), Decimal(1), 1.0, None).day_change is None
