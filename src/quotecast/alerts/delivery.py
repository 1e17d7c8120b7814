"""Delivery of events to webhooks and browsers, by any ingest process; several of them share the work.

At least once: an instance that dies between the receiver's answer and its own record sends again, with the
same id. A receiver that fails gets the event again for a day, with growing pauses.
"""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from quotecast.alerts import delivery_storage as storage
from quotecast.alerts import push, webhooks
from quotecast.alerts.delivery_storage import Claim
from quotecast.alerts.messages import message_of
from quotecast.alerts.outbound import TIMEOUT_SECONDS, Outbound, Result
from quotecast.alerts.push import GONE, Vapid
from quotecast.alerts.statistics import DeliveryStatistics
from quotecast.backoff import Backoff
from quotecast.database.database import Database
from quotecast.errors import DatabaseAway
from quotecast.observe.outages import OutageLog

#: Seconds between two looks for deliveries, and between the end of a post and the next look.
POLL_SECONDS: Final = 1.0
PAUSE_SECONDS: Final = 0.05
#: Posts at once, and those of one user: a slow receiver must not hold up the others.
MAX_POSTS: Final = 32
MAX_POSTS_OF_USER: Final = 2
#: Posts at once to users whose last post got no answer: many dead receivers must not take all places.
MAX_POSTS_OF_SILENT: Final = 8
#: Seconds for which a claim holds; a post and its record take less.
LEASE_SECONDS: Final = 3 * TIMEOUT_SECONDS
#: For how long a delivery is tried.
PERIOD: Final = timedelta(days=1)
#: Seconds before the second try, doubled for each later one up to the longest pause.
FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 3600.0
#: Seconds between two looks for events past retention, and events of one transaction.
RETENTION_SECONDS: Final = 600.0
DROPPED_AT_ONCE: Final = 1000
#: Seconds between two counts of what waits.
COUNT_SECONDS: Final = 15.0

log = structlog.get_logger()


class Delivery:
    """Sends what waits in PostgreSQL; `clock` is Unix time, `monotonic` measures pauses."""

    def __init__(
        self,
        database: Database,
        outbound: Outbound,
        vapid: Vapid | None,
        *,
        event_days: int,
        statistics: DeliveryStatistics | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._outbound = outbound
        self._vapid = vapid
        self._event_days = event_days
        self.statistics = statistics or DeliveryStatistics()
        self._clock = clock
        self._monotonic = monotonic
        self._chance = chance
        self._posts: dict[asyncio.Task[None], str] = {}
        #: Users whose last post got no answer.
        self._silent: set[str] = set()
        self._outage = OutageLog(monotonic)
        self._backoff = Backoff(POLL_SECONDS, 5.0)
        self._drop_at = self._count_at = monotonic()

    async def run(self) -> None:
        """Delivers without end; a cancellation ends the posts too."""
        try:
            while True:
                # Waits no longer than until a post has ended: its user's next one may begin.
                seconds = await self.step()
                if self._posts:
                    await asyncio.wait([*self._posts], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                    seconds = PAUSE_SECONDS
                await asyncio.sleep(seconds)
        finally:
            await self._cancel_posts()

    async def step(self) -> float:
        """Begins as many posts as there are places for. Returns the seconds until the next step."""
        try:
            while await self._begin_posts():
                pass
            await self._drop_expired()
            await self._count_overdue()
        except Exception as error:  # noqa: BLE001 - a bug here must not end the feeds of this process
            self._log_failure("could not read deliveries", error)
            return self._backoff.delay()
        self._backoff.reset()
        self._outage.log_end("deliveries are read again")
        return POLL_SECONDS

    async def finish(self) -> None:
        """Waits for the posts that have begun."""
        while self._posts:
            await asyncio.wait([*self._posts])

    async def _begin_posts(self) -> bool:
        """Returns whether there may be more to send at once."""
        busy, free = self._room()
        if not free:
            return False
        work = partial(storage.claim, busy=busy, count=free, lease_seconds=LEASE_SECONDS)
        claims = await self._database.session(work)
        for each in claims:
            task = asyncio.create_task(self._deliver(each))
            self._posts[task] = each.user_id
            task.add_done_callback(self._forget)
        self.statistics.posting = len(self._posts)
        return bool(claims)

    def _room(self) -> tuple[set[str], int]:
        """Returns the users for whom no further post may begin now, and how many posts of others may."""
        posts = Counter(self._posts.values())
        busy = {user for user, count in posts.items() if count >= MAX_POSTS_OF_USER}
        free = MAX_POSTS - len(self._posts)
        if not self._silent:
            return busy, free
        room = MAX_POSTS_OF_SILENT - sum(count for user, count in posts.items() if user in self._silent)
        return (busy, min(free, room)) if room > 0 else (busy | self._silent, free)

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._posts[task]
        self.statistics.posting = len(self._posts)

    async def _deliver(self, claim: Claim) -> None:
        """Sends once and records the outcome. Without a record another try follows when the claim expires."""
        try:
            result = await self._try_to_send(claim)
            if result.status is None:
                self._silent.add(claim.user_id)
            else:
                self._silent.discard(claim.user_id)
            await self._record(claim, result)
        except DatabaseAway as error:
            self._log_failure("could not record the outcome of a delivery", error)
        except Exception:
            log.exception("delivery failed", delivery=claim.delivery_id)

    async def _try_to_send(self, claim: Claim) -> Result:
        """A message that cannot be made fails as if the receiver refused it: the tries have an end."""
        try:
            return await self._send(claim)
        except Exception:
            log.exception("delivery failed", delivery=claim.delivery_id)
            return Result(error="the message could not be sent")

    async def _send(self, claim: Claim) -> Result:
        message, now = message_of(claim.event), self._clock()
        if claim.channel == "webhook":
            return await webhooks.post(
                self._outbound,
                claim.url,
                secret=claim.signing_secret or "",
                message_id=webhooks.event_message_id(claim.event.id),
                now=now,
                body=message,
            )
        if self._vapid is None:
            return Result(error="this service has no VAPID key")
        return await push.post(
            self._outbound,
            self._vapid,
            endpoint=claim.url,
            p256dh=claim.p256dh or "",
            auth=claim.auth or "",
            now=now,
            message=message,
        )

    async def _record(self, claim: Claim, result: Result) -> None:
        outcome = "sent"
        if result.succeeded:
            await self._database.session(partial(storage.note_sent, sent=claim))
        elif claim.channel == "push" and result.status in GONE:
            outcome = "unsubscribed"
            await self._database.session(partial(storage.unsubscribe, gone=claim))
        else:
            pause = max(pause_after(claim.attempts, self._chance), min(result.retry_after, LONGEST_PAUSE))
            work = partial(
                storage.note_failure,
                failed=claim,
                problem=result.problem,
                delay=timedelta(seconds=pause),
                period=PERIOD,
                # The receiver says that it is gone (410), or that it never takes such a message (413).
                is_final=result.status in {410, 413},
            )
            outcome = "failed" if await self._database.session(work) else "retried"
        self.statistics.outcomes[claim.channel, outcome] += 1
        if outcome == "sent":
            late = self._clock() - claim.event.happened_at.timestamp()
            self.statistics.delays[claim.channel].observe(max(0.0, late))

    async def _drop_expired(self) -> None:
        if self._monotonic() < self._drop_at:
            return
        self._drop_at = self._monotonic() + RETENTION_SECONDS
        work = partial(storage.drop_expired, days=self._event_days, count=DROPPED_AT_ONCE)
        while await self._database.session(work) == DROPPED_AT_ONCE:
            pass

    async def _count_overdue(self) -> None:
        if self._monotonic() < self._count_at:
            return
        self._count_at = self._monotonic() + COUNT_SECONDS
        self.statistics.overdue, self.statistics.overdue_seconds = await self._database.session(
            storage.overdue
        )

    def _log_failure(self, event: str, error: Exception) -> None:
        self.statistics.failures += 1
        self._outage.log_error(event, error)

    async def _cancel_posts(self) -> None:
        tasks = [*self._posts]
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


def pause_after(attempts: int, chance: Callable[[], float]) -> float:
    """Returns the seconds to the next try after a number of tries; half of it is random."""
    backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE, chance=chance)
    backoff.tries = attempts - 1
    return backoff.delay()
