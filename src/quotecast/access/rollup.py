"""The roll-up of usage: every ten seconds a worker adds its counts to PostgreSQL.

A batch counts once: PostgreSQL knows the number of each worker's newest batch, so a retry after a commit
without an answer adds nothing. During an outage of PostgreSQL the counts add up in the worker, one row for
each key and day, and the worker copies them to Redis every ten seconds.

A killed worker loses its counts since its last roll-up or copy: those of ROLL_UP_SECONDS and two attempts, at
most 30 seconds together. A longer loss needs an outage of PostgreSQL and Redis at once: a killed worker then
loses its counts since that outage began. A worker that lives through it loses them only if the outage of
Redis outlasts its lease, and another worker reads its old copy first. A stopping worker rolls up first.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final, Self

import msgspec
import structlog

from quotecast.access import usage_storage
from quotecast.access.usage import Usage
from quotecast.access.usage_storage import KEEP_DAYS, UsageBatch, Used, merged
from quotecast.database.database import Database
from quotecast.observe.outages import OutageLog
from quotecast.redis.client import connect
from quotecast.redis.commands import within_budget

ROLL_UP_SECONDS: Final = 10.0
#: Seconds between two looks for the counts of dead workers.
LOOK_SECONDS: Final = 60.0
#: Clocks of timers may differ by this much: the sleep until midnight never ends before it for long.
_LEAST_SECONDS: Final = 0.01

#: Seconds after its last write for which a worker counts as alive.
LEASE_SECONDS: Final = 120
#: Seconds for which the reserve stays without a write: less than PostgreSQL knows the numbers of batches.
RESERVE_SECONDS: Final = 7 * 86_400

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[UsageBatch]).decode

log = structlog.get_logger()


class Reserve:
    """The counts in Redis that PostgreSQL does not take now, by the worker's name.

    A worker renews a lease with its counts. When the worker dies, its lease ends, and another worker adds the
    counts to PostgreSQL. Every call raises what the client of Redis raises.
    """

    def __init__(self, url: str, prefix: str) -> None:
        self._client: Any = connect(url, "access")
        self._name = f"{prefix}:usage"

    async def __aenter__(self) -> Self:
        # Connects at the start, so that a worker's open files do not grow later.
        with contextlib.suppress(Exception):
            await self._ask(self._client.exists(self._name))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def store(self, worker: str, batches: list[UsageBatch], *, alive: bool = True) -> None:
        """Replaces a worker's counts. Without `alive` another worker takes them over at once."""
        if alive:
            await self._ask(self._client.set(self._lease(worker), 1, ex=LEASE_SECONDS))
        else:
            await self._ask(self._client.delete(self._lease(worker)))
        await self._ask(self._client.hset(self._name, worker, _encode(batches)))
        await self._ask(self._client.expire(self._name, RESERVE_SECONDS))

    async def remove(self, worker: str) -> None:
        """Removes a worker's counts."""
        await self._ask(self._client.hdel(self._name, worker))

    async def orphans(self, worker: str) -> dict[str, list[UsageBatch]]:
        """Returns the counts of other workers that died, by name."""
        found = {}
        for raw in await self._ask(self._client.hkeys(self._name)):
            name = raw.decode()
            if name == worker or await self._ask(self._client.exists(self._lease(name))):
                continue
            value = await self._ask(self._client.hget(self._name, name))
            if value is not None:
                found[name] = _decode(value)
        return found

    async def _ask(self, call: Awaitable[Any]) -> Any:
        return await within_budget(self._client, "access", call)

    def _lease(self, worker: str) -> str:
        return f"{self._name}:{worker}"


class RollUp:
    """Moves a worker's counts to PostgreSQL. `worker` is a random name: no two processes share it.

    `wall_clock` is Unix time.
    """

    def __init__(
        self,
        usage: Usage,
        database: Database,
        reserve: Reserve,
        *,
        worker: str,
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._usage = usage
        self._database = database
        self._reserve = reserve
        self._worker = worker
        self._wall_clock = wall_clock
        self._clock = clock
        #: The day to which the present counts belong.
        self._day = self._today()
        self._number = 0
        #: The batch that PostgreSQL may or may not have; it never changes.
        self._sent: UsageBatch | None = None
        self._pending: list[Used] = []
        self._is_reserved = False
        self._look_at = 0.0
        self._deleted_on: date | None = None
        self._outage = OutageLog(clock)

    async def run(self) -> None:
        """Rolls up without end, and at each midnight, so that no counts cross it."""
        while True:
            await asyncio.sleep(self.pause())
            await self.step()

    def pause(self) -> float:
        """Returns the seconds until the next roll-up."""
        midnight = 86_400 - self._wall_clock() % 86_400
        return max(_LEAST_SECONDS, min(ROLL_UP_SECONDS, midnight))

    async def step(self) -> bool:
        """Rolls up once. Returns whether PostgreSQL has everything."""
        taken = self._usage.take()
        if taken:
            self._pending += (Used(key_id, self._day, counts) for key_id, counts in taken.items())
            self._pending = merged(self._pending)
        self._day = self._today()
        try:
            # Without keys in use a worker asks PostgreSQL nothing.
            if self._sent is not None or self._pending:
                await self._send()
                # A part of what is older than KEEP_DAYS, after each batch of a new day.
                if self._deleted_on != self._day:
                    first = self._day - timedelta(days=KEEP_DAYS)
                    more = await self._database.session(partial(usage_storage.delete_before, day=first))
                    self._deleted_on = None if more else self._day
        except Exception as error:  # noqa: BLE001 - a bug here must not end the worker
            self._outage.log_error("could not store usage of API keys", error)
            await self._copy()
            return False
        self._outage.log_end("usage of API keys is stored again")
        await self._clear()
        return True

    async def flush(self) -> None:
        """Rolls up for the last time. During an outage other workers find the counts in Redis."""
        if not await self.step():
            await self._copy(alive=False)

    async def _send(self) -> None:
        """Adds the batch without an answer again, then a new one. Raises DatabaseAway."""
        while self._sent is not None or self._pending:
            if self._sent is None:
                self._sent, self._pending = self._next(), []
                self._number = self._sent.number
            await self._add(self._sent)
            self._sent = None

    def _next(self) -> UsageBatch:
        return UsageBatch(self._worker, self._number + 1, self._pending)

    async def _add(self, batch: UsageBatch) -> None:
        await self._database.session(partial(usage_storage.add, batch=batch))

    async def _copy(self, *, alive: bool = True) -> None:
        """Copies the counts to Redis; without it they are in this worker only."""
        batches = [each for each in (self._sent, self._next()) if each is not None and each.rows]
        if not batches:
            return
        try:
            await self._reserve.store(self._worker, batches, alive=alive)
            self._is_reserved = True
        except Exception as error:  # noqa: BLE001 - the counts stay in this worker
            log.debug("could not copy usage to Redis", error=str(error))

    async def _clear(self) -> None:
        """Removes the own copy, and adds the counts of dead workers."""
        if not self._is_reserved and self._clock() < self._look_at:
            return
        self._look_at = self._clock() + LOOK_SECONDS
        try:
            if self._is_reserved:
                await self._reserve.remove(self._worker)
                self._is_reserved = False
            # Adds the counts of one dead worker; the next roll-up goes on, so that it is not late itself.
            orphans = await self._reserve.orphans(self._worker)
            for name, batches in [*orphans.items()][:1]:
                for batch in batches:
                    await self._add(batch)
                await self._reserve.remove(name)
            if len(orphans) > 1:
                self._look_at = 0.0
        except Exception as error:  # noqa: BLE001 - the next look finds them
            log.debug("could not read usage copies in Redis", error=str(error))

    def _today(self) -> date:
        return datetime.fromtimestamp(self._wall_clock(), UTC).date()
