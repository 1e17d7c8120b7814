"""Requests that wait for a user's next event, bounded by user and by worker.

A hint from Redis wakes the requests of a user at once. Hints may get lost, so a worker with waiting requests
also asks PostgreSQL every few seconds for whom there are new events: one statement for all of them.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import structlog

from quotecast.backoff import Backoff
from quotecast.errors import BusError, Busy, DatabaseAway

#: Requests of one user that wait on a worker; one more ends the oldest.
WAITS_PER_USER: Final = 4
#: Requests that wait on a worker.
WAITS_PER_WORKER: Final = 2000
#: Seconds between two looks into PostgreSQL while requests wait.
LOOK_SECONDS: Final = 3.0

log = structlog.get_logger()

#: Gives the users of each hint, and None after a quiet second. Raises BusError.
Hints = Callable[[], AbstractAsyncContextManager[AsyncIterator[Sequence[str] | None]]]
#: Returns the newest event's id, and the users with events after an id. Raises DatabaseAway.
Look = Callable[[int | None], Awaitable[tuple[int, Sequence[str]]]]


class Wait:
    """One waiting request."""

    def __init__(self, user_id: str) -> None:
        self.user_id = user_id
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Ends the wait."""
        self._woken.set()

    async def rest(self, seconds: float) -> None:
        """Returns when the wait ends, or after a time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()


class Waits:
    """The waiting requests of one worker."""

    def __init__(self, *, per_user: int = WAITS_PER_USER, per_worker: int = WAITS_PER_WORKER) -> None:
        self._per_user = per_user
        self._per_worker = per_worker
        self._by_user: defaultdict[str, list[Wait]] = defaultdict(list)
        self._ended = False
        self.count = 0
        self.refused = 0

    @contextlib.contextmanager
    def wait(self, user_id: str) -> Any:
        """Gives a wait, which a later event wakes. Raises Busy when the worker is full.

        The caller looks for events inside the block: one that comes after the look wakes the wait.
        """
        own = self._by_user[user_id]
        if len(own) >= self._per_user:
            self._leave(own[0])
        if self.count >= self._per_worker:
            self.refused += 1
            self._forget_user(user_id)
            raise Busy
        wait = Wait(user_id)
        self._by_user[user_id].append(wait)
        self.count += 1
        if self._ended:
            wait.wake()
        try:
            yield wait
        finally:
            self._leave(wait)

    def wake(self, users: Iterable[str]) -> None:
        """Wakes the waiting requests of users."""
        for user in users:
            for wait in self._by_user.get(user, ()):
                wait.wake()

    def wake_all(self) -> None:
        """Wakes every waiting request."""
        self.wake([*self._by_user])

    def end(self) -> None:
        """Wakes every waiting request, also those to come: the worker is about to stop."""
        self._ended = True
        self.wake_all()

    def _leave(self, wait: Wait) -> None:
        """Removes a wait, which may have been removed already."""
        wait.wake()
        own = self._by_user.get(wait.user_id, [])
        if wait in own:
            own.remove(wait)
            self.count -= 1
        self._forget_user(wait.user_id)

    def _forget_user(self, user_id: str) -> None:
        if not self._by_user.get(user_id):
            self._by_user.pop(user_id, None)


class Waker:
    """Wakes the requests of a worker by hints, and by looks into PostgreSQL."""

    def __init__(self, waits: Waits, hints: Hints, look: Look, *, seconds: float = LOOK_SECONDS) -> None:
        self._waits = waits
        self._hints = hints
        self._look = look
        self._seconds = seconds
        self._newest: int | None = None

    async def follow_hints(self) -> None:
        """Follows the hints without end; a lost connection costs no more than a few seconds of delay."""
        backoff = Backoff(0.1, 2.0)
        while True:
            try:
                async with self._hints() as hints:
                    async for users in hints:
                        backoff.reset()
                        self._waits.wake(users or ())
            except BusError as error:
                log.debug("hints of alerts lost; reconnecting", error=str(error))
            await asyncio.sleep(backoff.delay())

    async def follow_events(self) -> None:
        """Looks for new events every few seconds while requests wait, without end."""
        while True:
            await asyncio.sleep(self._seconds)
            await self.look()

    async def look(self) -> None:
        """Wakes the users with events since the last look; after a quiet time, all of them."""
        if not self._waits.count:
            self._newest = None
            return
        try:
            first = self._newest is None
            self._newest, users = await self._look(self._newest)
        except DatabaseAway as error:
            log.debug("events of alerts not read", error=str(error))
            return
        if first:
            # An event may have come since the request looked.
            self._waits.wake_all()
        else:
            self._waits.wake(users)
