"""Returns of a portfolio over a range: time-weighted and money-weighted."""

from collections.abc import Sequence
from datetime import date
from math import fsum
from typing import Final

from msgspec import Struct

#: Bounds of a return, and the steps that find it to the last digit.
_LOWEST: Final = -0.999999
_HIGHEST: Final = 1e18
_STEPS: Final = 150


class Period(Struct, frozen=True):
    """A period between two values: what was paid in and taken out on the days after `before` up to `day`.

    `fees` are the part of `paid_in` that bought nothing.
    """

    before: date
    day: date
    start_value: float
    end_value: float
    paid_in: float
    taken_out: float
    fees: float = 0.0


def time_weighted(periods: Sequence[Period]) -> float | None:
    """Returns the product of the periods' returns, less one; None without anything invested.

    Money that comes in counts from the beginning of its period, money that goes out to its end. Fees lessen
    what is left at the end; those of a period in which nothing is held count in none.
    """
    product, is_invested = 1.0, False
    for each in periods:
        invested = each.start_value + each.paid_in - each.fees
        if invested > 0:
            product *= max(each.end_value + each.taken_out - each.fees, 0.0) / invested
            is_invested = True
    return product - 1 if is_invested else None


def money_weighted(periods: Sequence[Period]) -> float | None:
    """Returns the interest, over all periods, at which the payments grow to the last value; None without one.

    Money that comes in counts from the beginning of its period, money that goes out from its end.
    """
    if not periods:
        return None
    first, last = periods[0], periods[-1]
    length = (last.day - first.before).days
    flows = [(first.before, first.start_value), (last.day, -last.end_value)]
    for each in periods:
        flows += [(each.before, each.paid_in), (each.day, -each.taken_out)]
    flows = [flow for flow in flows if flow[1]]
    if length == 0 or not flows:
        return None
    if all(amount > 0 for _, amount in flows):
        # Nothing came back.
        return -1.0

    def worth(rate: float) -> float:
        """Returns the value of all payments on the last day, less the last value."""
        return fsum(amount * (1.0 + rate) ** ((last.day - day).days / length) for day, amount in flows)

    low, high = _LOWEST, _HIGHEST
    begin, end = worth(low), worth(high)
    if begin * end > 0:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if worth(middle) * begin > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
