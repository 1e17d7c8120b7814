"""The figures of one feed's day, and what follows from them; no I/O."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final

from msgspec import Struct, field

from quotecast.market.own_bars import MINUTE

#: Upper limits of ages in milliseconds, each a tenth above the one before: from 1 ms to a day.
AGE_BOUNDS: Final = tuple(1.1**power for power in range(193))


class DayFigures(Struct, kw_only=True):
    """The sums that an ingest counted in a feed's day, or that several did."""

    #: Published changes of quotes, removals included.
    updates: int = 0
    #: Minutes in which any symbol has a bar.
    minutes: int = 0
    #: Updates more than ten minutes late, and the venue's bars after their minute was final, repeats too.
    corrections: int = 0
    #: Seconds in which an ingest led the feed, and those of them in which clients saw it as stale.
    led_seconds: float = 0.0
    stale_seconds: float = 0.0
    #: Refused messages, rows and values by reason.
    refused: dict[str, int] = field(default_factory=dict)
    #: Numbers of sampled quotes by age: up to each of AGE_BOUNDS, and above the last.
    ages: list[int] = field(default_factory=lambda: [0] * (len(AGE_BOUNDS) + 1))

    def add_age(self, milliseconds: float) -> None:
        """Counts the age of a quote; one from the future has the least age."""
        self.ages[bisect_left(AGE_BOUNDS, milliseconds)] += 1

    def age(self, share: float) -> float | None:
        """Returns the age in milliseconds that a share of the quotes does not exceed; None without ages.

        It is at most a tenth too high.
        """
        total = sum(self.ages)
        if not total:
            return None
        place = bisect_left([*accumulate(self.ages)], share * total)
        return round(AGE_BOUNDS[min(place, len(AGE_BOUNDS) - 1)], 1)


def total_of(parts: Iterable[DayFigures]) -> DayFigures:
    """Returns the figures of several ingests together."""
    total = DayFigures()
    for part in parts:
        total.updates += part.updates
        total.minutes += part.minutes
        total.corrections += part.corrections
        total.led_seconds += part.led_seconds
        total.stale_seconds += part.stale_seconds
        total.refused = dict(Counter(total.refused) + Counter(part.refused))
        total.ages = [one + other for one, other in zip(total.ages, part.ages, strict=True)]
    return total


def gaps(start: int, end: int, opened: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the spans in [start, end) without a bar, by Unix time, from ascending openings of minutes."""
    edges = [start - MINUTE, *opened, end]
    return [(before + MINUTE, after) for before, after in pairwise(edges) if after - before > MINUTE]
