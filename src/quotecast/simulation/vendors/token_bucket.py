"""A limit of requests: so many at once, and some more each second."""

from collections.abc import Callable


class TokenBucket:
    """It holds `burst` tokens at most, of which `rate` return per second of `now`."""

    def __init__(self, rate: float, burst: float, now: Callable[[], float]) -> None:
        self._rate = rate
        self._burst = burst
        self._now = now
        self._tokens = burst
        self._taken_at = now()

    def take(self) -> bool:
        """Takes a token; returns False when none is left."""
        now = self._now()
        # A clock that is set back takes no tokens away.
        returned = max(0.0, now - self._taken_at) * self._rate
        self._tokens = min(self._burst, self._tokens + returned)
        self._taken_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
