"""The clock of a simulated market: Unix milliseconds that may run faster than those of the machine."""

import asyncio
import time
from collections.abc import Callable
from operator import itemgetter


class MarketClock:
    """Market time: it starts at `start` and runs `speed` times as fast as `now`, in Unix seconds."""

    def __init__(
        self, *, speed: float = 1.0, start: int | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.speed = speed
        self._now = now
        self._began = now()
        self.start = int(self._began * 1000) if start is None else start

    def moment(self) -> int:
        """Returns the market's time in Unix milliseconds."""
        return self.start + int((self._now() - self._began) * self.speed * 1000)

    async def sleep(self, milliseconds: float) -> None:
        """Waits for that much market time."""
        await asyncio.sleep(milliseconds / 1000 / self.speed)


class ManualClock(MarketClock):
    """Market time that only `advance` moves: a session on it is the same at every run."""

    def __init__(self, start: int) -> None:
        super().__init__(start=start)
        self._at = start
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def moment(self) -> int:
        """See MarketClock."""
        return self._at

    async def sleep(self, milliseconds: float) -> None:
        """See MarketClock."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((self._at + int(milliseconds), future))
        await future

    def advance(self, milliseconds: int) -> None:
        """Moves the time forward and wakes who has slept for long enough, the earliest first."""
        self._at += milliseconds
        due = sorted((each for each in self._waiting if each[0] <= self._at), key=itemgetter(0))
        self._waiting = [each for each in self._waiting if each[0] > self._at]
        for _, future in due:
            if not future.done():
                future.set_result(None)
