"""Counts of the alerts of one feed, across the terms of its leader."""

import time

from quotecast.market.crossings import Crossing


class AlertStatistics:
    """Counts since the process began."""

    def __init__(self) -> None:
        #: Events written, and tries to write that failed.
        self.events = 0
        self.failures = 0
        #: Crossings that wait in Redis.
        self.waiting = 0
        #: Distinct thresholds that alerts wait for.
        self.thresholds = 0
        self._oldest = 0.0
        self._last_lag = 0.0

    @property
    def lag(self) -> float:
        """Returns the seconds that the oldest crossing has waited, else those that the last one did."""
        return time.time() - self._oldest if self.waiting else self._last_lag

    def note_waiting(self, count: int, oldest: Crossing) -> None:
        """Takes note of the crossings that wait."""
        self.waiting, self._oldest = count, oldest.at

    def note_written(self, newest: Crossing) -> None:
        """Takes note that all crossings up to this one became events, or did not concern any alert."""
        self.waiting = 0
        self._last_lag = time.time() - newest.at

    def forget_waiting(self) -> None:
        """Forgets what waits: another ingest writes it."""
        self.waiting = 0
