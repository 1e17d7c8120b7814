"""Growing, jittered waits between attempts."""

from __future__ import annotations

import random
from typing import Callable

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
#: Share by which a wait varies either way, so that clients do not all reconnect at once.
JITTER = 0.2


class Backoff:
    """Waits that double, up to 30 seconds."""

    def __init__(self, draw: Callable[[], float] = random.random) -> None:
        self._draw = draw
        self._next = FIRST_SECONDS

    def wait(self) -> float:
        """Returns the seconds to wait before the next attempt."""
        wait = self._next
        self._next = min(2 * wait, LONGEST_SECONDS)
        return self.spread(wait)

    def reset(self) -> None:
        """Makes the next wait short again, after a successful attempt."""
        self._next = FIRST_SECONDS

    def spread(self, seconds: float) -> float:
        """Returns a wait with jitter."""
        return seconds * (1 - JITTER + 2 * JITTER * self._draw())
