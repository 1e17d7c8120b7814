"""The writer of a followed feed's bars: the origin says which market they belong to."""

import asyncio
from collections.abc import Callable

from quotecast.history.writer import BarWriter


class FollowedBars:
    """Runs the writer of the feed's present market; `make` returns it by the market's name.

    Bars of two markets have different names in PostgreSQL, and Redis has those of one. Without `make` there
    is no writer.
    """

    def __init__(self, make: Callable[[str], BarWriter] | None) -> None:
        self._make = make
        self._market: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def prepare(self, market: str) -> None:
        """Stops the writer of another market, before the bus has bars of this one."""
        if market != self._market:
            await self.stop()

    def start(self, market: str) -> None:
        """Starts the market's writer, unless it runs."""
        if self._make is None or self._task is not None:
            return
        self._market = market
        self._task = asyncio.create_task(self._make(market).run())

    async def stop(self) -> None:
        """Stops the writer."""
        task, self._task, self._market = self._task, None, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
