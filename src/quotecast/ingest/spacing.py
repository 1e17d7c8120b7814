"""Spacing of batches, which follows the load of a feed.

A change after a quiet period goes out at once. While changes keep coming, the spacing of batches doubles,
from two milliseconds up to a bound, so that workers receive fewer and larger batches.
"""

from typing import Final

FIRST_SECONDS: Final = 0.002


class Spacing:
    """Seconds from one batch of a feed to the next; the caller passes the times, of a monotonic clock."""

    def __init__(self, bound_seconds: float) -> None:
        self._bound = bound_seconds
        self._seconds = 0.0
        self._began = self._ended = float("-inf")

    def next_delay(self, now: float) -> float:
        """Returns how long the changes wait that are there now; call it once for each batch."""
        left = self._began + self._seconds - now
        busy = now < self._ended + self._seconds
        self._seconds = min(2 * self._seconds if busy else FIRST_SECONDS, self._bound)
        return max(0.0, left)

    def note_batch(self, began: float, ended: float) -> None:
        """Notes when the publication of a batch began and ended."""
        self._began, self._ended = began, ended
