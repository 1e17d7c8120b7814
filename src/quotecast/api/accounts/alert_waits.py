"""Requests that wait for a user's next event, bounded by user and by worker.

A hint from Redis wakes the requests of a user at once. Hints may get lost, so a worker with waiting requests
also asks PostgreSQL every few seconds for whom there are new events: one statement for all of them.
"""

import asyncio
import contextlib
import itertools
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
        self.ended = False
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Lets the request look for events."""
        self._woken.set()

    def end(self) -> None:
        """Lets the request look for events once more, and answer."""
        self.ended = True
        self.wake()

    async def rest(self, deadline: float) -> None:
        """Returns when the request is to look for events, or at a time of the loop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await self._woken.wait()
        self._woken.clear()


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
            wait.end()
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
        self.wake(self._by_user)

    def end(self) -> None:
        """Ends every wait, also those to come: the worker is about to stop."""
        self._ended = True
        for wait in itertools.chain.from_iterable(self._by_user.values()):
            wait.end()

    def _leave(self, wait: Wait) -> None:
        """Ends and removes a wait, which may have been removed already."""
        wait.end()
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

    def __init__(self, waits: Waits, hints: Hints, look: Look) -> None:
        self._waits = waits
        self._hints = hints
        self._look = look
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
            await asyncio.sleep(LOOK_SECONDS)
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
            log.debug("could not read events of alerts", error=str(error))
            return
        if first:
            # An event may have come since the request looked.
            self._waits.wake_all()
        else:
            self._waits.wake(users)
