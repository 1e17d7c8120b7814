"""Rate limit of a client's commands: a token bucket."""


class CommandPace:
    """A token bucket of `per_second` tokens that refills within a second."""

    __slots__ = ("_at", "_left", "_per_second")

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._left = float(per_second)
        self._at = 0.0

    def spend(self, count: int, now: float) -> float:
        """Spends `count` tokens; returns the seconds to wait before the next (`now` is monotonic)."""
        refill = (now - self._at) * self._per_second
        self._left = min(self._per_second, self._left + refill) - count
        self._at = now
        return max(0.0, -self._left / self._per_second)
