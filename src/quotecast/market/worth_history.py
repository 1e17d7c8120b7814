"""The value of a portfolio on past days, from daily closes."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import accumulate
from math import prod
from typing import Final

from msgspec import Struct

#: Days for which a close stands for the days after it: the longest pause of an exchange, with a reserve.
CARRIED: Final = timedelta(days=10)
_DIGITS: Final = 12
#: A smaller part of all traded shares counts as none.
_RESIDUE: Final = 1e-12


class Factor(Struct, frozen=True):
    """Daily closes by date; `inverse` divides by them: a rate in the other direction."""

    closes: Mapping[date, float]
    inverse: bool = False


class Position(Struct, frozen=True):
    """The lots of one symbol, and the factors whose product is the value of one share."""

    lots: Sequence[tuple[date, float]]
    factors: Sequence[Factor]


def value_history(positions: Sequence[Position], days: Sequence[date]) -> list[float | None]:
    """Returns the value of all positions on each of some ascending days.

    A lot counts from its day on. The value is None on a day on which a close of a held symbol is unknown.
    """
    columns = [_values(position, days) for position in positions]
    return [_total(row) for row in zip(*columns, strict=True)] if columns else [None] * len(days)


def _total(row: Sequence[float | None]) -> float | None:
    known = [value for value in row if value is not None]
    return float(f"{sum(known):.{_DIGITS}g}") if len(known) == len(row) else None


def _values(position: Position, days: Sequence[date]) -> list[float | None]:
    """Returns the value of one position by day: zero before its first lot."""
    lots = sorted(position.lots)
    bought = [day for day, _ in lots]
    held = [0.0, *accumulate(shares for _, shares in lots)]
    traded = [0.0, *accumulate(abs(shares) for _, shares in lots)]
    # Sums of floats leave a part of a share that is sold.
    held = [
        count if abs(count) > _RESIDUE * total else 0.0 for count, total in zip(held, traded, strict=True)
    ]
    shares = [held[bisect_right(bought, day)] for day in days]
    prices = zip(*(_carry(factor, days) for factor in position.factors), strict=True)
    return [_value(count, price) for count, price in zip(shares, prices, strict=True)]


def _value(shares: float, prices: Sequence[float | None]) -> float | None:
    if not shares:
        return 0.0
    known = [price for price in prices if price is not None]
    return shares * prod(known) if len(known) == len(prices) else None


def _carry(factor: Factor, days: Sequence[date]) -> list[float | None]:
    """Returns the factor of each day: of its close, or else of the last one before it, if it is not old."""
    dates = sorted(factor.closes)
    found: list[float | None] = []
    for day in days:
        place = bisect_right(dates, day) - 1
        recent = place >= 0 and day - dates[place] <= CARRIED
        close = factor.closes[dates[place]] if recent else 0.0
        # A close of zero has no inverse, and is not a price.
        found.append((1 / close if factor.inverse else close) if close > 0 else None)
    return found
