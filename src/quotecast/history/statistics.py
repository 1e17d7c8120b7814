"""Counts of one feed's bars on their way to PostgreSQL, across the terms of its leader."""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from quotecast.market.own_bars import Closing


class BarStatistics:
    """Counts of one feed since the process began; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        #: Bars written, by interval.
        self.written = Counter[str]()
        #: Minutes whose closing left Redis before it was written.
        self.lost = 0
        #: Tries that failed.
        self.failures = 0
        self._clock = clock
        self._last_lag = 0.0
        #: Closings that Redis has and PostgreSQL lacks: Unix time, and when this process saw them.
        self._waiting: deque[tuple[int, float]] = deque()

    @property
    def newest(self) -> int:
        """Returns the Unix time of the newest closing that waits; 0 if none does."""
        return self._waiting[-1][0] if self._waiting else 0

    @property
    def waiting(self) -> int:
        """Returns the number of closings that wait."""
        return len(self._waiting)

    @property
    def lag(self) -> float:
        """Returns the seconds that the oldest closing has waited, else those that the last one did."""
        return self._clock() - self._waiting[0][1] if self._waiting else self._last_lag

    def note_waiting(self, closings: Sequence[Closing]) -> None:
        """Counts the closings among them that are new to this process."""
        now, newest = self._clock(), self.newest
        self._waiting.extend((each.through, now) for each in closings if each.through > newest)

    def note_oldest(self, through: int) -> None:
        """Counts the closings as lost that waited, and that are older than the oldest one in Redis."""
        while self._waiting and self._waiting[0][0] < through:
            self._waiting.popleft()
            self.lost += 1

    def note_written(self, through: int) -> None:
        """Takes note that all closings up to the Unix time `through` are in PostgreSQL."""
        while self._waiting and self._waiting[0][0] <= through:
            self._last_lag = self._clock() - self._waiting.popleft()[1]

    def forget_waiting(self) -> None:
        """Forgets what waits: another ingest writes it."""
        self._waiting.clear()
