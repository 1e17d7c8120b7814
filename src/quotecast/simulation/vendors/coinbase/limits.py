"""Limits of requests per second."""

from collections.abc import Callable
from typing import Final

#: Requests that a client without a key may send, per second and at once.
REQUESTS_PER_SECOND: Final = 10.0
REQUESTS_AT_ONCE: Final = 15
#: Commands that a WebSocket client may send in a second.
COMMANDS_PER_SECOND: Final = 100.0


class Bucket:
    """A token bucket with `burst` tokens, of which `rate` return per second of `now`."""

    def __init__(self, rate: float, burst: float, now: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._now = now
        self._tokens = burst
        self._taken_at = now()

    def take(self) -> bool:
        """Takes a token; returns False when none is left."""
        now = self._now()
        self._tokens = min(self._burst, self._tokens + (now - self._taken_at) * self._rate)
        self._taken_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
