"""The cache on Redis: one worker fetches an answer, all workers read it."""

import asyncio
import random
import secrets
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Self

import structlog

from quotecast.cache.base import Cached, Fetch, Policy, Provisional
from quotecast.cache.state import CacheEntry, CacheState, UpstreamFailure
from quotecast.cache.store import CacheStore
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError

#: Seconds by which a lock outlasts the longest fetch: it expires only when its holder died.
LEASE_MARGIN_SECONDS: Final = 1.0
#: Average seconds between two polls for an answer that another worker fetches.
POLL_SECONDS: Final = 0.05
#: Seconds without a call after a failure, unless the upstream sends a Retry-After; and the bound of that.
FAILURE_SECONDS: Final = 5.0
MAX_FAILURE_SECONDS: Final = 3600.0

log = structlog.get_logger()


@dataclass(slots=True)
class CacheStatistics:
    """Counts since the start."""

    reads: int = 0
    #: Reads answered from this worker's memory.
    remembered: int = 0
    #: Reads answered fresh, by an upstream call of their own, and stale.
    hits: int = 0
    misses: int = 0
    stale: int = 0
    #: Upstream calls, failed ones included.
    fetches: int = 0
    failures: int = 0
    #: Polls for an answer that another worker was fetching.
    waits: int = 0
    #: Operations for which this worker did without Redis.
    absences: int = 0
    #: Times that the circuit breaker opened.
    openings: int = 0


class RedisCache:
    """A `quotecast.cache.base.Cache` that workers share through one Redis.

    An upstream call may take `fetch_seconds`. A reader waits for it `stale_patience` seconds when there is a
    stale answer, else `patience` seconds; the call goes on. `at_once` bounds this worker's concurrent calls
    to each upstream. Redis has `budget` seconds for each answer; without Redis the worker fetches by itself.
    The worker's own memory holds `memory_bytes`. `clock` is Unix time, which workers compare.
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        *,
        fetch_seconds: float = 10.0,
        patience: float = 15.0,
        stale_patience: float = 1.5,
        at_once: int = 8,
        budget: float = 0.25,
        pause: float = 1.0,
        memory_bytes: int = 16 * 1024 * 1024,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
        make_owner: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._store = CacheStore(
            url, prefix, budget=budget, pause=pause, memory_bytes=memory_bytes, clock=clock
        )
        self._fetch_seconds = fetch_seconds
        self._patience = patience
        self._stale_patience = stale_patience
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(at_once))
        self._clock = clock
        self._chance = chance
        self._make_owner = make_owner
        self._flights: dict[str, asyncio.Task[CacheState]] = {}
        self._statistics = CacheStatistics()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self._store.close()

    def statistics(self) -> CacheStatistics:
        """Returns a copy of the counters."""
        store = self._store
        return replace(self._statistics, absences=store.absences, openings=store.openings)

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        """See Cache."""
        self._statistics.reads += 1
        state = self._store.local_state(key)
        if state.needs_fetch(policy, self._clock()):
            # All readers of the key in this worker share one flight.
            flight = self._flights.get(key)
            if flight is None:
                flight = asyncio.get_running_loop().create_task(self._run_flight(key, policy, fetch))
                self._flights[key] = flight
                flight.add_done_callback(lambda _: self._flights.pop(key))
            # asyncio.wait does not cancel the flight when its reader is cancelled.
            await asyncio.wait([flight], timeout=self._stale_patience)
            if not flight.done() and not self._store.local_state(key).is_servable(policy, self._clock()):
                await asyncio.wait([flight], timeout=self._patience - self._stale_patience)
            state = flight.result() if flight.done() else self._store.local_state(key)
        else:
            self._statistics.remembered += 1
        cached = state.answer(policy, self._clock())
        self._statistics.hits += cached.status == "HIT"
        self._statistics.misses += cached.status == "MISS"
        self._statistics.stale += cached.status == "STALE"
        return cached

    async def _run_flight(self, key: str, policy: Policy, fetch: Fetch) -> CacheState:
        state = await self._store.read(key)
        owner = self._make_owner()
        while state.needs_fetch(policy, self._clock()):
            lease = self._fetch_seconds + LEASE_MARGIN_SECONDS
            held, state = await self._store.claim(key, owner, lease)
            if not held:
                self._statistics.waits += 1
                await asyncio.sleep(POLL_SECONDS * (0.5 + self._chance()))
            elif state.needs_fetch(policy, self._clock()):
                return await self._fetch_and_settle(key, owner, state, policy, fetch)
            else:
                await self._store.release(key, owner)
        return state

    async def _fetch_and_settle(
        self, key: str, owner: str, state: CacheState, policy: Policy, fetch: Fetch
    ) -> CacheState:
        """Returns the state after an upstream call, and stores it for all workers."""
        try:
            state = CacheState(await self._call_upstream(key, fetch), fetched=True)
        except UpstreamError as error:
            self._statistics.failures += 1
            log.warning("upstream failed", key=key, error=str(error))
            seconds = min(error.retry_after or FAILURE_SECONDS, MAX_FAILURE_SECONDS)
            failure = UpstreamFailure(self._clock() + seconds, str(error), seconds=seconds)
            state = CacheState(state.entry, failure)
        except asyncio.CancelledError:
            await self._store.release(key, owner)
            raise
        await self._store.settle(key, owner, state, policy, self._clock())
        return state

    async def _call_upstream(self, key: str, fetch: Fetch) -> CacheEntry:
        """Returns the upstream's answer. Raises UpstreamError."""
        upstream = key.partition(":")[0]
        try:
            async with asyncio.timeout(self._fetch_seconds), self._slots[upstream]:
                self._statistics.fetches += 1
                body = await fetch()
        except SymbolNotFound:
            return CacheEntry(self._clock(), "not_found")
        except NotOffered as error:
            return CacheEntry(self._clock(), "not_offered", detail=str(error))
        except UpstreamError:
            raise
        except TimeoutError as error:
            raise UpstreamError(f"{upstream}: no answer in {self._fetch_seconds:g} s") from error
        except Exception as error:
            # The adapter could not parse the answer; a stale answer serves readers better than an error 500.
            log.exception("could not parse upstream answer", key=key)
            raise UpstreamError(f"{upstream}: {type(error).__name__}") from error
        if isinstance(body, Provisional):
            return CacheEntry(self._clock(), body=body.body, fresh_seconds=body.fresh_seconds)
        return CacheEntry(self._clock(), body=body)
