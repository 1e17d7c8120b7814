"""A worker's memory of refusals: a client over its limit causes no call to Redis."""

import time
from collections import OrderedDict
from collections.abc import Callable


class Refusals:
    """Keys whose windows are full, each with the time of its next free slot.

    A full window admits no request before its oldest one leaves, so a remembered refusal decides as Redis
    would. Times are nanoseconds of the given clock. Beyond `max_keys` the oldest refusal goes.
    """

    def __init__(self, *, max_keys: int = 10_000, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._max_keys = max_keys
        self._clock = clock
        self._ends: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ends)

    def remember(self, key: str, end: int) -> None:
        """Refuses the key until `end`."""
        self._ends[key] = end
        self._ends.move_to_end(key)
        if len(self._ends) > self._max_keys:
            self._ends.popitem(last=False)

    def forget(self, key: str) -> None:
        """Removes the refusal of a key."""
        self._ends.pop(key, None)

    def nanoseconds_left(self, key: str) -> int:
        """Returns the nanoseconds until the key's next free slot; 0 if no refusal is remembered."""
        end = self._ends.get(key)
        if end is None:
            return 0
        wait = end - self._clock()
        if wait > 0:
            return wait
        del self._ends[key]
        return 0
