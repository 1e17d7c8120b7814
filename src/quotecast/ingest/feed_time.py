"""The time of a feed, which says when its bars end."""

import math
from collections.abc import Callable
from datetime import datetime

from quotecast.providers.base import QuoteProvider, Update


class FeedTime:
    """Unix time at the venue; it never falls.

    A live feed is behind the clock by its plan's delay. A simulated or recorded feed has the time of its
    newest quote, and goes on with the clock; before its first quote the time is 0.
    """

    def __init__(self, provider: QuoteProvider, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._simulated = provider.simulated
        #: How far the feed is behind the clock; unknown before the first quote of a simulated one.
        self._behind = math.inf if provider.simulated else provider.delay_seconds
        self._newest = ""
        self._last = 0.0

    def hear(self, update: Update) -> None:
        """Takes the times of an update's quotes."""
        if not self._simulated:
            return
        newest = max((quote.timestamp for quote in update.quotes if quote.timestamp), default="")
        if newest > self._newest:
            heard = datetime.fromisoformat(newest).timestamp()
            self._newest = newest
            self._behind = self._clock() - heard

    def now(self) -> float:
        """Returns the feed's present time."""
        self._last = max(self._last, self._clock() - self._behind)
        return self._last
