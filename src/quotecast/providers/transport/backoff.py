"""How long an upstream is left alone after a failure, or between two connections."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Final

FIRST_DELAY_SECONDS: Final = 0.5
LAST_DELAY_SECONDS: Final = 30.0
#: A connection that lasts so long after its first message is healthy.
STEADY_SECONDS: Final = 60.0


def delays(chance: Callable[[], float] = random.random) -> Iterator[float]:
    """Seconds to wait before each further try: doubling up to a cap, jittered by half."""
    delay = FIRST_DELAY_SECONDS
    while True:
        yield delay * (0.5 + chance() / 2)
        delay = min(delay * 2, LAST_DELAY_SECONDS)


class Backoff:
    """Delays between the connections to one upstream, which start over after a minute of life.

    The first message alone does not start them over: an upstream that answers and hangs up would be dialled
    twice a second, and Kraken bans an address at about 150 connections in ten minutes. `clock` counts
    seconds from anywhere; `chance` returns a number from 0 to 1.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, chance: Callable[[], float] = random.random
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._delays = delays(chance)
        self._heard_first: float | None = None

    def heard(self) -> None:
        """Notes a message of the present connection."""
        if self._heard_first is None:
            self._heard_first = self._clock()

    def delay(self) -> float:
        """Seconds to wait now that the connection has ended."""
        if self._heard_first is not None and self._clock() - self._heard_first >= STEADY_SECONDS:
            self._delays = delays(self._chance)
        self._heard_first = None
        return next(self._delays)
