"""The figures of a feed's day: ages, sums over ingests, and gaps between bars."""

import pytest

from quotecast.market.feed_days import AGE_BOUNDS, DayFigures, gaps, total_of


def with_ages(*milliseconds: float) -> DayFigures:
    figures = DayFigures()
    for each in milliseconds:
        figures.add_age(each)
    return figures


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_an_age_is_at_most_a_tenth_too_high(share: float) -> None:
    ages = [float(number) for number in range(1, 10_001)]
    found = with_ages(*ages).age(share)
    assert found is not None
    assert share * 10_000 <= found <= share * 11_000 + 0.1


def test_ages_outside_the_bounds_count_in_the_first_and_the_last() -> None:
    """A quote from the future is as young as can be, and one of last week older than a day."""
    assert DayFigures().age(0.5) is None
    assert with_ages(-5000.0).age(0.99) == 1.0
    assert with_ages(7 * 86_400_000.0).age(0.5) == round(AGE_BOUNDS[-1], 1) > 86_400_000


def test_two_ingests_together_are_as_one_that_counted_everything() -> None:
    one, other = with_ages(10.0, 20.0), with_ages(4000.0)
    one.updates, one.minutes, one.led_seconds, one.refused = 5, 2, 60.0, {"absurd": 1}
    other.updates, other.corrections, other.stale_seconds = 7, 1, 2.5
    other.refused = {"absurd": 2, "malformed": 3}
    both = with_ages(10.0, 20.0, 4000.0)
    both.updates, both.minutes, both.corrections, both.led_seconds, both.stale_seconds = 12, 2, 1, 60.0, 2.5
    both.refused = {"absurd": 3, "malformed": 3}
    assert total_of([one, other]) == total_of([other, one]) == both


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        ([], [(0, 600)]),
        ([*range(0, 600, 60)], []),
        ([60, 120, 300], [(0, 60), (180, 300), (360, 600)]),
        ([0, 540], [(60, 540)]),
    ],
)
def test_gaps_are_the_minutes_without_a_bar(opened: list[int], expected: list[tuple[int, int]]) -> None:
    assert gaps(0, 600, opened) == expected
