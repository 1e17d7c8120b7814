"""Plays a recorded feed into a mirror of its own, at a multiple of the recorded pace."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from quotecast.feed.mirror import Mirror
from quotecast.feed.past import apply_message, mirror_at
from quotecast.history.playback import COVERED_SECONDS, Playback, Played
from quotecast.history.threads import ReaderThreads

#: Seconds between two looks for messages that are due.
STEP_SECONDS: Final = 0.05
#: Messages of one step: a replay that the worker cannot keep up with becomes slower.
STEP_MESSAGES: Final = 500


class Player:
    """A playback, and the mirror that it fills; reads in worker threads, so live clients do not wait.

    `clock` is monotonic; `present` is the Unix time at which a replay ends.
    """

    def __init__(
        self,
        playback: Playback,
        mirror: Mirror,
        at: float,
        speed: float,
        threads: ReaderThreads,
        *,
        clock: Callable[[], float] = time.monotonic,
        present: Callable[[], float] = time.time,
    ) -> None:
        self.mirror = mirror
        self._playback = playback
        self._at = self._heard_until = at
        self._speed = speed
        self._threads = threads
        self._clock = clock
        self._present = present
        self._began = clock()
        self._reading: asyncio.Task[tuple[list[tuple[float, Played]], float | None]] | None = None
        self._mark_moment(at)

    @classmethod
    async def open(
        cls,
        make: Callable[[], Playback],
        at: float,
        speed: float,
        threads: ReaderThreads,
        *,
        present: Callable[[], float] = time.time,
    ) -> "Player":
        """Returns a player whose mirror has the state of the moment. Raises NotRecorded or HistoryError."""

        def load() -> tuple[Playback, Mirror]:
            playback = make()
            return playback, mirror_at(playback, at)

        return cls(*await threads.run(load), at, speed, threads, present=present)

    def moment(self) -> float:
        """Returns the Unix time that the replay has reached."""
        return self._at + (self._clock() - self._began) * self._speed

    async def run(self) -> None:
        """Plays until it reaches the present, or the end of what is recorded. Raises HistoryError."""
        while not await self.step():  # noqa: ASYNC110 - paced by a clock
            await asyncio.sleep(STEP_SECONDS)

    async def step(self) -> bool:
        """Applies the messages that are due; returns whether the replay is at its end."""
        present = self._present()
        # A fast replay must not step over its present: a delayed one may not show what is recorded behind it.
        moment = min(self.moment(), present)
        self._reading = asyncio.create_task(self._threads.run(partial(self._read, moment)))
        # Who cancels this step cannot stop the thread: `close` waits for it.
        messages, following = await asyncio.shield(self._reading)
        for _, message in messages:
            apply_message(self.mirror, message)
        if messages:
            self._heard_until = messages[-1][0] + COVERED_SECONDS
        if len(messages) == STEP_MESSAGES:
            # Behind: continue from here instead of skipping what is due.
            moment = messages[-1][0]
            self._at, self._began = moment, self._clock()
        self._mark_moment(moment)
        over = following is None and moment > self._heard_until
        return over or moment >= present

    async def close(self) -> None:
        """Closes the open segment, once no thread reads it."""
        if self._reading is not None:
            await asyncio.gather(self._reading, return_exceptions=True)
        self._playback.close()

    def _read(self, moment: float) -> tuple[list[tuple[float, Played]], float | None]:
        return self._playback.read(moment, STEP_MESSAGES), self._playback.next_time()

    def _mark_moment(self, moment: float) -> None:
        self.mirror.replayed_at = moment
        if moment <= self._heard_until:
            self.mirror.heard_at = self._clock()
