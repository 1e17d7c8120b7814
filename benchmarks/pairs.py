"""Ratios of paired measurements, and how far chance alone may move them."""

import random
from collections.abc import Sequence
from statistics import median, quantiles
from typing import Final

from msgspec import Struct

RESAMPLES: Final = 10_000


class Ratio(Struct, frozen=True):
    """The median ratio of some pairs, and the interval that holds it with a probability of 95 %."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        """Returns the ratio as a difference in percent."""
        least, middle, most = (f"{100 * (each - 1):+.1f}" for each in (self.low, self.median, self.high))
        return f"{middle} % (95 %: {least} to {most} %)"


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Returns the ratio of the second value of each pair to its first; the interval is a bootstrap's.

    A bootstrap draws as many pairs from those that were measured, with repetition, and does so many times
    (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).
    """
    chance = random.Random(1)
    ratios = [second / first for first, second in pairs]
    drawn = [median(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)]
    cuts = quantiles(drawn, n=40)
    return Ratio(median(ratios), cuts[0], cuts[-1])
