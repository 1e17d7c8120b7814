"""Counts of what the checks of upstream data refuse: messages, rows, values and prices."""

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import Final, Literal

#: Why a check refuses; a label of the metric, so the set is fixed and never holds an upstream's text.
Reason = Literal[
    "absurd",  # a price far from the last good one
    "absurd_field",  # another field of a quote that far from its last good value
    "cut_short",  # a body that ends in the middle
    "far_off",  # a price far from another source's
    "halted",  # statistics of a pair that stopped trading
    "malformed",  # no JSON, or not the documented structure
    "misplaced",  # a row outside the requested time
    "out_of_range",  # a report outside the requested days
    "outdated",  # older than a price already published
    "unjudged",  # a price whose unit another source has to confirm first
    "unreadable",  # a row without a price or a time
    "unreadable_field",  # another field of a row that is not a number
]

_lock: Final = Lock()
_totals: Final[Counter[tuple[str, str]]] = Counter()


def totals() -> Mapping[tuple[str, str], int]:
    """Returns the refusals of this process by provider and reason."""
    with _lock:
        return dict(_totals)


class RefusalCounter:
    """Counts the refusals of one provider by reason, here and in the process's `totals`.

    Threads may count at the same time.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._counts: Counter[str] = Counter()

    def count(self, reason: Reason, number: int = 1) -> None:
        """Adds `number` refusals."""
        if number:
            with _lock:
                self._counts[reason] += number
                _totals[self._provider, reason] += number

    def by_reason(self) -> Mapping[str, int]:
        """Returns the counts above zero."""
        return dict(self._counts)
