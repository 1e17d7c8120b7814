"""Refusals that a worker remembers, so that a client over its limit costs Redis nothing."""

import time
from collections import OrderedDict
from collections.abc import Callable


class Refusals:
    """Keys that are known to be full, and until when.

    A full window admits nobody before its oldest request leaves, so remembering a refusal never admits
    one too many and never refuses one too long. Times are nanoseconds of the given clock. At most
    `max_keys` are held; the one longest there makes room.
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
        """Lets the key be asked again."""
        self._ends.pop(key, None)

    def left(self, key: str) -> int:
        """Nanoseconds for which the key is still refused; 0 when that is not known."""
        end = self._ends.get(key)
        if end is None:
            return 0
        left = end - self._clock()
        if left > 0:
            return left
        del self._ends[key]
        return 0
