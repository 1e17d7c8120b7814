"""An exact sliding window in one process's memory: the requests that one worker admits."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

from quotecast.limits.decision import Decision

SECOND: Final = 1_000_000_000


def whole_seconds(nanoseconds: int) -> int:
    """Returns the seconds, rounded up: a client that waits so long is admitted."""
    return -(-nanoseconds // SECOND)


class LocalWindow:
    """A sliding window that admits at most `limit` requests of a key in any interval of `seconds`.

    It holds at most `max_keys` keys. It evicts keys whose requests have all left the window, then the key
    with the oldest check. `clock` gives monotonic nanoseconds.
    """

    def __init__(
        self, seconds: int, *, max_keys: int = 10_000, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._window = seconds * SECOND
        self._max_keys = max_keys
        self._clock = clock
        self._logs: OrderedDict[str, deque[int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._logs)

    def check(self, key: str, limit: int) -> Decision:
        """Returns the decision on a request; only an admitted request uses a slot."""
        now = self._clock()
        free = self.admit(key, limit, now)
        reset = whole_seconds(self._logs[key][0] + self._window - now)
        return Decision(free >= 0, limit, max(free, 0), reset)

    def admit(self, key: str, limit: int, now: int) -> int:
        """Counts a request at the time `now`; returns the slots then free, or -1 if it is refused."""
        log = self._logs.get(key)
        if log is None:
            while self._logs:
                idlest = next(iter(self._logs.values()))
                if len(self._logs) < self._max_keys and idlest[-1] + self._window > now:
                    break
                self._logs.popitem(last=False)
            log = self._logs[key] = deque()
        else:
            self._logs.move_to_end(key)
        while log and log[0] + self._window <= now:
            log.popleft()
        free = limit - len(log) - 1
        if free < 0:
            return -1
        log.append(now)
        return free

    def has_since(self, key: str, count: int, since: int) -> bool:
        """Returns whether so many requests of the key were admitted after a time."""
        log = self._logs.get(key, ())
        return len(log) >= count and log[-count] > since

    def forget(self, key: str) -> None:
        """Removes all requests of a key from the window."""
        self._logs.pop(key, None)

    def give_back(self, key: str) -> None:
        """Frees the slot of an admitted request.

        The newest entry goes: it is the request's own, or one of the same moment.
        """
        log = self._logs.get(key)
        if log is None:
            return
        log.pop()
        if not log:
            del self._logs[key]
