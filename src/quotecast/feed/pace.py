"""How fast a client may go on: a token bucket."""


class CommandPace:
    """Allows `per_second` of something, and as many at once after a pause of a second."""

    __slots__ = ("_at", "_left", "_per_second")

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._left = float(per_second)
        self._at = 0.0

    def spend(self, count: int, now: float) -> float:
        """Counts some; returns the seconds to wait before the next. `now` is monotonic, in seconds."""
        refill = (now - self._at) * self._per_second
        self._left = min(self._per_second, self._left + refill) - count
        self._at = now
        return max(0.0, -self._left / self._per_second)
