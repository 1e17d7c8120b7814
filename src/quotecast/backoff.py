"""Exponential backoff: delays between tries of what fails."""

import random
from collections.abc import Callable

#: A doubling beyond this one changes no delay, and would overflow a float in the end.
_MOST_DOUBLINGS = 64


def without_jitter() -> float:
    """Returns the `chance` that leaves each delay whole."""
    return 1.0


class Backoff:
    """Delays in seconds that double from `first` to at most `last`, until `reset`.

    Jitter takes up to half of each delay, so that clients of one server do not retry together: `chance`
    returns a number from 0, which takes half, to 1, which takes nothing.
    """

    def __init__(
        self, first: float = 0.5, last: float = 30.0, *, chance: Callable[[], float] = random.random
    ) -> None:
        #: Delays since the start or the last reset.
        self.tries = 0
        self._first = first
        self._last = last
        self._chance = chance

    def delay(self) -> float:
        """Returns the seconds to wait before the next try."""
        longest = min(self._first * 2.0 ** min(self.tries, _MOST_DOUBLINGS), self._last)
        self.tries += 1
        return longest * (0.5 + self._chance() / 2)

    def reset(self) -> None:
        """Starts over with the first delay."""
        self.tries = 0
