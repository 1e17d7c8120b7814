"""Conditions of users and the thresholds that they stand for."""

import pytest

from quotecast.alerts.conditions import Condition, Threshold, condition_of, threshold_of, value_of, window_of


@pytest.mark.parametrize(
    ("condition", "value", "window", "threshold"),
    [
        ("above", 300.0, None, Threshold("price", "up", 300.0)),
        ("below", 0.5, None, Threshold("price", "down", 0.5)),
        ("rises", 3.0, "5m", Threshold("5m", "up", 3.0)),
        ("falls", 99.99, "day", Threshold("day", "down", -99.99)),
    ],
)
def test_a_condition_goes_to_its_threshold_and_back(
    condition: Condition, value: float, window: str | None, threshold: Threshold
) -> None:
    """A fall by a percentage is a negative change that is crossed downwards."""
    assert threshold_of(condition, value, window) == threshold
    back = condition_of(threshold.measure, threshold.direction)
    assert (back, value_of(back, threshold.threshold), window_of(threshold.measure)) == (
        condition,
        value,
        window,
    )
