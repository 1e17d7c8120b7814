"""The pace of calls to an upstream."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

#: Coinbase's limit of an address; a third of Finnhub's limit of a key, so that three workers fit.
CALLS_PER_SECOND: Final = 10


class Pace:
    """Lets calls pass in the order of their arrival, at most ten in any second.

    `clock` counts seconds from any moment; `sleep` waits for seconds.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        #: When the newest calls pass, by `clock`; some may be in the future.
        self._turns: deque[float] = deque(maxlen=CALLS_PER_SECOND)

    async def turn(self) -> None:
        """Waits until one more call may pass."""
        now = self._clock()
        full = len(self._turns) == CALLS_PER_SECOND
        at = max(now, self._turns[0] + 1.0) if full else now
        self._turns.append(at)
        await self._sleep(at - now)
