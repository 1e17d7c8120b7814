"""Finnhub's limits of calls: so many in a minute, and so many in a second."""

from collections import deque
from collections.abc import Mapping
from typing import Final

#: Calls in a minute of the free plan and of a paid one, and in a second of any.
FREE_CALLS: Final = 60
PAID_CALLS: Final = 300
CALLS_PER_SECOND: Final = 30
_MINUTE: Final = 60_000
_SECOND: Final = 1000


class CallLimits:
    """Counts calls by their moments in Unix milliseconds."""

    def __init__(self, per_minute: int, per_second: int = CALLS_PER_SECOND) -> None:
        self.per_minute = per_minute
        self.per_second = per_second
        self._calls: deque[int] = deque()

    def admit(self, now: int) -> bool:
        """Counts a call, if it is within the limits."""
        calls = self._calls
        while calls and now - calls[0] >= _MINUTE:
            calls.popleft()
        in_a_second = sum(now - call < _SECOND for call in calls)
        if len(calls) >= self.per_minute or in_a_second >= self.per_second:
            return False
        calls.append(now)
        return True

    def headers(self, now: int) -> Mapping[str, str]:
        """Returns the headers of an answer."""
        first = self._calls[0] if self._calls else now
        return {
            "X-Ratelimit-Limit": str(self.per_minute),
            "X-Ratelimit-Remaining": str(self.per_minute - len(self._calls)),
            "X-Ratelimit-Reset": str((first + _MINUTE) // 1000),
        }
