"""Conditions as users write them, and the measures, directions and thresholds that they stand for."""

from typing import Final, Literal

from msgspec import Struct

from quotecast.errors import InvalidValue

Condition = Literal["above", "below", "rises", "falls"]
Window = Literal["5m", "15m", "1h", "day"]

#: The condition by whether it is about the price, and by the direction of the crossing.
_CONDITIONS: Final[dict[tuple[bool, str], Condition]] = {
    (True, "up"): "above",
    (True, "down"): "below",
    (False, "up"): "rises",
    (False, "down"): "falls",
}
_PLACES: Final = {condition: place for place, condition in _CONDITIONS.items()}
MAX_PRICE: Final = 1e12
MIN_PERCENT: Final = 0.01
MAX_RISE: Final = 1000.0
#: Nothing falls by more than it is worth.
MAX_FALL: Final = 99.99


class Threshold(Struct, frozen=True):
    """A value of a measure, and the direction in which the measure crosses it.

    The measure is `price`, or a window, which stands for the change in percent.
    """

    measure: str
    direction: str
    threshold: float


def threshold_of(condition: Condition, value: float, window: str | None) -> Threshold:
    """Returns the threshold of a condition. Raises InvalidValue."""
    about_price, direction = _PLACES[condition]
    if about_price:
        if window is not None:
            raise InvalidValue("window", f"Must be absent with {condition}, which is about the price")
        if not 0 < value < MAX_PRICE:
            raise InvalidValue("value", "Must be above 0 and below 10^12")
        return Threshold("price", direction, value)
    if window is None:
        raise InvalidValue("window", "Must be one of 5m, 15m, 1h, day")
    most = MAX_RISE if condition == "rises" else MAX_FALL
    if not MIN_PERCENT <= value <= most:
        raise InvalidValue("value", f"Must be a percentage from {MIN_PERCENT} to {most:g}")
    return Threshold(window, direction, value if condition == "rises" else -value)


def condition_of(measure: str, direction: str) -> Condition:
    """Returns the condition of a measure and a direction."""
    return _CONDITIONS[measure == "price", direction]


def value_of(condition: Condition, threshold: float) -> float:
    """Returns the value that the user gave for a threshold."""
    return -threshold if condition == "falls" else threshold


def window_of(measure: str) -> str | None:
    """Returns the window of a measure; None for the price."""
    return None if measure == "price" else measure
