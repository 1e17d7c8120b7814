"""Replays: recorded feeds on the live protocol, for the clients whose address has `at`.

Each plays into a mirror of its own, at a multiple of the recorded pace.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

import structlog

from quotecast.errors import InvalidValue, QuotecastError
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.feed.past import apply_message, mirror_at
from quotecast.history.moments import parse_moment
from quotecast.history.playback import COVERED_SECONDS, HistoryOff, Playback, Played, ReaderThreads
from quotecast.history.segments import Store
from quotecast.market.feeds import Feed
from quotecast.stream import ticker
from quotecast.stream.hubs import market_of
from quotecast.stream.queries import Replay

#: Seconds between two looks for messages that are due.
STEP_SECONDS: Final = 0.05
#: Messages of one step: a replay that the worker cannot keep up with becomes slower.
STEP_MESSAGES: Final = 500
MIN_SPEED: Final = 0.1
MAX_SPEED: Final = 100.0
#: Threads that read for all replays of a worker: more of them, decoding, would delay the live feeds.
THREADS: Final = 2

log = structlog.get_logger()


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


class Replays:
    """Opens replays, at most so many at once; `store` is None where nothing is recorded."""

    def __init__(self, store: Store | None, *, per_address: int, per_worker: int, heartbeat_ms: int) -> None:
        self._store = store
        self._per_address = per_address
        self._per_worker = per_worker
        self._heartbeat_ms = heartbeat_ms
        self._by_address: Counter[str] = Counter()
        self._threads = ReaderThreads(THREADS)

    def take_place(self, address: str) -> bool:
        """Counts one more replay of an address; returns False, and counts nothing, if there is no room."""
        if self._by_address[address] >= self._per_address or self._by_address.total() >= self._per_worker:
            return False
        self._by_address[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Frees the place of a replay."""
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    async def open(self, feed: Feed | None, asked: Replay, *, late_seconds: int = 0) -> tuple[Player, Hub]:
        """Returns a player at the moment, and a hub of its mirror; it ends so long before the present.

        Raises InvalidValue or HistoryError.
        """
        if feed is None:
            raise InvalidValue("at", "A replay is of one feed: connect to its own path")
        if self._store is None:
            raise HistoryOff
        store, at, speed = self._store, parse_moment("at", asked.at), parse_speed(asked.speed)

        def present() -> float:
            return time.time() - late_seconds

        player = await Player.open(
            lambda: Playback(store, feed, at, clock=present), at, speed, self._threads, present=present
        )
        hub = Hub(
            player.mirror,
            heartbeat_seconds=self._heartbeat_ms / 1000,
            clock=time.monotonic,
            wall_clock=time.time,
            market=market_of(player.mirror, player.moment),
        )
        return player, hub


@contextlib.asynccontextmanager
async def playing(player: Player, hub: Hub, ended: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Plays while the body serves the client, and awaits `ended` at the end of the replay."""

    async def play() -> None:
        try:
            await player.run()
        except QuotecastError as error:
            log.warning("replay ends early", error=str(error))
        await ended()

    tasks = [asyncio.create_task(play()), asyncio.create_task(ticker.run([hub]))]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await player.close()


def parse_speed(text: str | None) -> float:
    """Returns the speed of a replay, 1 by default. Raises InvalidValue."""
    try:
        speed = float(text or 1)
    except ValueError:
        speed = 0.0
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise InvalidValue("speed", f"Must be a number from {MIN_SPEED} to {MAX_SPEED:g}")
    return speed
