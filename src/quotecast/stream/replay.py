"""Replays: recorded feeds on the live protocol, for the clients whose address has `at`."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import structlog

from quotecast.errors import InvalidValue, QuotecastError
from quotecast.feed.hub import Hub
from quotecast.history.moments import parse_moment
from quotecast.history.playback import HistoryOff, Playback
from quotecast.history.segments import Store
from quotecast.history.threads import ReaderThreads
from quotecast.market.feeds import Feed
from quotecast.stream import ticker
from quotecast.stream.hubs import market_of
from quotecast.stream.player import Player
from quotecast.stream.queries import Replay

MIN_SPEED: Final = 0.1
MAX_SPEED: Final = 100.0
#: Threads that read for all replays of a worker: more of them, decoding, would delay the live feeds.
THREADS: Final = 2

log = structlog.get_logger()


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


def reason_of(refusal: QuotecastError) -> str:
    """Returns what a client reads about a replay that is refused."""
    return f"{refusal.field}: {refusal}" if isinstance(refusal, InvalidValue) else str(refusal)


def parse_speed(text: str | None) -> float:
    """Returns the speed of a replay, 1 by default. Raises InvalidValue."""
    try:
        speed = float(text or 1)
    except ValueError:
        speed = 0.0
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise InvalidValue("speed", f"Must be a number from {MIN_SPEED} to {MAX_SPEED:g}")
    return speed
