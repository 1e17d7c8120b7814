"""Limits of one worker by itself: an edge without a Redis."""

from quotecast.limits.decision import Decision
from quotecast.limits.fallback import LocalWindow
from quotecast.limits.window import WindowStatistics


class WindowAlone:
    """A window with the interface of `Window`; each worker admits the whole limit."""

    def __init__(self) -> None:
        self._local = LocalWindow(60)
        self._statistics = WindowStatistics(alone=True)

    def statistics(self) -> WindowStatistics:
        """Returns the counters."""
        return self._statistics

    def decide(self, key: str, limit: int) -> Decision:
        """Returns the decision on a request; only an admitted request uses a slot."""
        self._statistics.checks += 1
        return self._local.check(key, limit)

    async def give_back(self, key: str) -> None:
        """Frees the slot of an admitted request."""
        self._local.give_back(key)
