"""Delays between the connections to one upstream."""

import random
import time
from collections.abc import Callable
from typing import Final

from quotecast.backoff import Backoff

#: A connection that lasts so long after its first message is healthy.
STEADY_SECONDS: Final = 60.0


class ConnectionBackoff:
    """Delays between the connections to one upstream, which start over after a minute of life.

    The first message alone does not start them over: an upstream that answers and disconnects would get
    two connections a second, and Kraken bans an address at about 150 in ten minutes. `clock` counts seconds
    from any moment; `chance` is that of Backoff.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, chance: Callable[[], float] = random.random
    ) -> None:
        self._clock = clock
        self._backoff = Backoff(chance=chance)
        self._first_message_at: float | None = None

    def note_message(self) -> None:
        """Notes a message of the present connection."""
        if self._first_message_at is None:
            self._first_message_at = self._clock()

    def delay(self) -> float:
        """Returns the seconds to wait after the end of a connection."""
        first = self._first_message_at
        if first is not None and self._clock() - first >= STEADY_SECONDS:
            self._backoff.reset()
        self._first_message_at = None
        return self._backoff.delay()
