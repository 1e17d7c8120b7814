"""The clock of a simulated market: Unix milliseconds that may run faster than those of the machine."""

import time
from collections.abc import Callable


class MarketClock:
    """Market time: it starts at `start` and runs `speed` times as fast as `now`, in Unix seconds."""

    def __init__(
        self, *, speed: float = 1.0, start: int | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.speed = speed
        self._now = now
        self._began = now()
        self.start = int(self._began * 1000) if start is None else start

    def moment(self) -> int:
        """Returns the market's time in Unix milliseconds."""
        return self.start + int((self._now() - self._began) * self.speed * 1000)
