"""Which prices are believed."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.providers.validation.judgement import ABSURD_FACTOR, JUDGING_SECONDS, Judge, judge_closes

NOON = 1_795_118_400.0


def test_first_price_is_believed() -> None:
    """There is nothing to doubt it by."""
    assert Judge().doubt("A", 1e-9, NOON) is None


@pytest.mark.parametrize("price", [1.0, 0.1, 10.0])
def test_price_within_the_factor_is_believed(price: float) -> None:
    """The bounds are believed too."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON)
    assert judge.doubt("A", price, NOON) is None


@pytest.mark.parametrize("price", [0.0999, 10.001, 1e9])
def test_absurd_price_is_refused_and_the_last_good_one_still_judges(price: float) -> None:
    """However often it comes within the hour."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON)
    assert judge.doubt("A", price, NOON) == "absurd"
    assert judge.doubt("A", price, NOON + JUDGING_SECONDS - 1) == "absurd"
    assert judge.doubt("A", 1.1, NOON + JUDGING_SECONDS - 1) is None


def test_leap_that_stays_is_believed_in_the_end() -> None:
    """No instrument is silenced for ever by a market that really moved."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON)
    assert judge.doubt("A", 0.01, NOON + JUDGING_SECONDS - 1) == "absurd"
    assert judge.doubt("A", 0.01, NOON + JUDGING_SECONDS) is None


def test_reference_judges_instead_of_the_last_price() -> None:
    """After a split the last price is in other shares."""
    judge = Judge()
    assert judge.doubt("GOOGL", 2235.55, 0) is None
    judge.refer("GOOGL", 111.78, 60)
    assert judge.doubt("GOOGL", 113.4, 61) is None
    assert judge.doubt("GOOGL", 2235.55, 62) == "absurd"


def test_instruments_are_judged_apart() -> None:
    """A price says nothing about another instrument."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON)
    assert judge.doubt("B", 1000.0, NOON) is None


def test_older_price_is_refused() -> None:
    """Never an older price after a newer one; the same number twice is not older."""
    judge = Judge()
    assert judge.doubt("A", 1.0, NOON, order=10) is None
    assert judge.doubt("A", 1.1, NOON, order=9) == "outdated"
    assert judge.doubt("A", 1.2, NOON, order=10) is None


def test_price_without_a_number_is_not_older() -> None:
    """Some messages of an upstream are numbered, others are not."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON, order=10)
    assert judge.doubt("A", 1.1, NOON) is None


def test_price_without_a_number_hides_no_older_one() -> None:
    """The last number counts for an hour."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON, order=10)
    assert judge.doubt("A", 1.1, NOON + JUDGING_SECONDS - 1) is None
    assert judge.doubt("A", 1.0, NOON + JUDGING_SECONDS - 1, order=9) == "outdated"
    assert judge.doubt("A", 1.0, NOON + JUDGING_SECONDS, order=9) is None


def test_numbers_that_begin_again_are_believed_in_the_end() -> None:
    """An upstream that lost its count is not silenced for ever."""
    judge = Judge()
    judge.doubt("A", 1.0, NOON, order=10)
    assert judge.doubt("A", 1.0, NOON + JUDGING_SECONDS, order=1) is None


def test_instruments_no_longer_followed_are_named_and_forgotten() -> None:
    """`keep_only` returns each forgotten instrument once, and its price judges no more."""
    judge = Judge()
    for key in ("C", "A", "B"):
        judge.doubt(key, 1.0, NOON)
    assert judge.keep_only(["B", "D"]) == ["A", "C"]
    assert judge.keep_only(["B"]) == []
    assert judge.doubt("A", 1000.0, NOON) is None


@given(st.lists(st.floats(min_value=1e-9, max_value=1e9), min_size=2))
def test_neighbours_among_believed_prices_are_within_the_factor(prices: list[float]) -> None:
    """Whatever comes, no client sees a leap beyond the factor within the hour."""
    judge = Judge()
    believed = [price for price in prices if judge.doubt("A", price, NOON) is None]
    assert believed[0] == prices[0]
    for before, after in pairwise(believed):
        assert before / ABSURD_FACTOR <= after <= before * ABSURD_FACTOR


@pytest.mark.parametrize(
    ("closes", "believed"),
    [
        ([], []),
        ([5.0], [True]),
        ([5.0, 500.0, 5.1], [True, False, True]),
        ([500.0, 5.0, 5.1], [False, True, True]),
        ([5.0, 5.1, 500.0], [True, True, False]),
        ([5.0, 5.1, 500.0, 501.0, 502.0], [True] * 5),
    ],
)
def test_a_close_far_from_all_around_it_is_no_close(closes: list[float], believed: list[bool]) -> None:
    """One that stays where it leapt is; a good one is not refused for the sake of a bad neighbour."""
    assert judge_closes(closes) == believed
