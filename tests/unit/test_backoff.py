"""Exponential backoff."""

import pytest

from quotecast.backoff import Backoff, without_jitter


def test_delays_double_up_to_the_last() -> None:
    """Half a second, a second, two and so on, at most thirty."""
    backoff = Backoff(chance=without_jitter)
    assert [backoff.delay() for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff.tries == 8


def test_reset_starts_over() -> None:
    """After a success the next failure waits for the first delay."""
    backoff = Backoff(0.1, 0.8, chance=without_jitter)
    delays = [backoff.delay(), backoff.delay()]
    backoff.reset()
    assert (delays, backoff.tries, backoff.delay()) == ([0.1, 0.2], 0, 0.1)


@pytest.mark.parametrize(("chance", "delay"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_jitter_takes_up_to_half(chance: float, delay: float) -> None:
    """Clients that lost one server come back at different times."""
    assert Backoff(2.0, chance=lambda: chance).delay() == delay


def test_an_outage_of_any_length_has_a_delay() -> None:
    """A doubling for each of thousands of tries would overflow."""
    backoff = Backoff(chance=without_jitter)
    assert {backoff.delay() for _ in range(5000)} == {0.5, 1, 2, 4, 8, 16, 30}
