"""The quotes of a recorded moment, for `at` on the routes of quotes."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Final

from litestar.params import QueryParameter

from quotecast.errors import Busy
from quotecast.feed.mirror import Mirror
from quotecast.feed.past import mirror_at
from quotecast.history.moments import parse_moment
from quotecast.history.playback import HistoryOff, Playback, ReaderThreads
from quotecast.history.segments import Store
from quotecast.market.feeds import Feed

#: Moments that a worker reads at once, and those that may wait for their turn.
MAX_READS: Final = 2
MAX_WAITING: Final = 20

At = Annotated[
    str | None,
    QueryParameter(
        name="at",
        description="A recorded moment, whose quotes to answer: ISO 8601 with a time zone, or Unix seconds",
        schema_extra={"examples": ["2026-11-20T14:31:00Z"]},
    ),
]


class Past:
    """Reads recorded moments in worker threads; `store` is None where nothing is recorded."""

    def __init__(self, store: Store | None, *, clock: Callable[[], float] = time.time) -> None:
        self.store = store
        self._clock = clock
        self._turn = asyncio.Semaphore(MAX_READS)
        self._threads = ReaderThreads(MAX_READS)
        self._waiting = 0

    async def mirror(self, feed: Feed, at: str, now: float) -> Mirror:
        """Returns the state of a moment, as heard at `now` of the mirrors' clock.

        Raises InvalidValue for a moment that is not recorded, HistoryError, and Busy.
        """
        moment = parse_moment("at", at)
        if self.store is None:
            raise HistoryOff
        if self._waiting >= MAX_WAITING:
            raise Busy
        self._waiting += 1
        try:
            async with self._turn:
                mirror = await self._threads.run(partial(self._read, self.store, feed, moment))
        finally:
            self._waiting -= 1
        mirror.heard_at = now
        return mirror

    def _read(self, store: Store, feed: Feed, at: float) -> Mirror:
        playback = Playback(store, feed, at, clock=self._clock)
        try:
            return mirror_at(playback, at)
        finally:
            playback.close()
