"""Which prices are believed."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.providers.validation.judgement import ABSURD_FACTOR, JUDGING_SECONDS, Judge, believable

NOON = 1_795_118_400.0


def test_first_price_is_believed() -> None:
    """There is nothing to doubt it by."""
    assert Judge().accepts("A", 1e-9, NOON)


@pytest.mark.parametrize("price", [1.0, 0.1, 10.0])
def test_price_within_the_factor_is_believed(price: float) -> None:
    """The bounds are believed too."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON)
    assert judge.accepts("A", price, NOON)
    assert not judge.refused


@pytest.mark.parametrize("price", [0.0999, 10.001, 1e9])
def test_absurd_price_is_refused_and_the_last_good_one_still_judges(price: float) -> None:
    """However often it comes within the hour."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON)
    assert not judge.accepts("A", price, NOON)
    assert not judge.accepts("A", price, NOON + JUDGING_SECONDS - 1)
    assert judge.refused == {"absurd": 2}
    assert judge.accepts("A", 1.1, NOON + JUDGING_SECONDS - 1)


def test_leap_that_stays_is_believed_in_the_end() -> None:
    """No instrument is silenced for ever by a market that really moved."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON)
    assert not judge.accepts("A", 0.01, NOON + JUDGING_SECONDS - 1)
    assert judge.accepts("A", 0.01, NOON + JUDGING_SECONDS)


def test_reference_judges_instead_of_the_last_price() -> None:
    """After a split the last price is in other shares."""
    judge = Judge()
    assert judge.accepts("GOOGL", 2235.55, 0)
    judge.refer("GOOGL", 111.78, 60)
    assert judge.accepts("GOOGL", 113.4, 61)
    assert not judge.accepts("GOOGL", 2235.55, 62)


def test_instruments_are_judged_apart() -> None:
    """A price says nothing about another instrument."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON)
    assert judge.accepts("B", 1000.0, NOON)


def test_older_price_is_refused() -> None:
    """Never an older price after a newer one; the same number twice is not older."""
    judge = Judge()
    assert judge.accepts("A", 1.0, NOON, order=10)
    assert not judge.accepts("A", 1.1, NOON, order=9)
    assert judge.accepts("A", 1.2, NOON, order=10)
    assert judge.refused == {"outdated": 1}


def test_price_without_a_number_is_not_older() -> None:
    """Some messages of an upstream are numbered, others are not."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON, order=10)
    assert judge.accepts("A", 1.1, NOON)


def test_price_without_a_number_hides_no_older_one() -> None:
    """The last number stands, for the hour in which it judges."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON, order=10)
    assert judge.accepts("A", 1.1, NOON + JUDGING_SECONDS - 1)
    assert not judge.accepts("A", 1.0, NOON + JUDGING_SECONDS - 1, order=9)
    assert judge.accepts("A", 1.0, NOON + JUDGING_SECONDS, order=9)


def test_numbers_that_begin_again_are_believed_in_the_end() -> None:
    """An upstream that lost its count is not silenced for ever."""
    judge = Judge()
    judge.accepts("A", 1.0, NOON, order=10)
    assert judge.accepts("A", 1.0, NOON + JUDGING_SECONDS, order=1)


def test_what_was_refused_elsewhere_is_counted_with_the_rest() -> None:
    """One count by reason for each upstream."""
    judge = Judge()
    judge.refuse("malformed")
    judge.refuse("malformed")
    assert judge.refused == {"malformed": 2}


def test_instruments_no_longer_followed_are_named_and_forgotten() -> None:
    """What is gone is told once, and its price judges no more."""
    judge = Judge()
    for key in ("C", "A", "B"):
        judge.accepts(key, 1.0, NOON)
    assert judge.keep_only(["B", "D"]) == ["A", "C"]
    assert judge.keep_only(["B"]) == []
    assert judge.accepts("A", 1000.0, NOON)


@given(st.lists(st.floats(min_value=1e-9, max_value=1e9), min_size=2))
def test_neighbours_among_believed_prices_are_within_the_factor(prices: list[float]) -> None:
    """Whatever comes, no client sees a leap beyond the factor within the hour."""
    judge = Judge()
    believed = [price for price in prices if judge.accepts("A", price, NOON)]
    assert believed[0] == prices[0]
    for before, after in pairwise(believed):
        assert before / ABSURD_FACTOR <= after <= before * ABSURD_FACTOR
    assert len(believed) + judge.refused["absurd"] == len(prices)


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
    assert believable(closes) == believed
