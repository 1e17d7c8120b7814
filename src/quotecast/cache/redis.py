"""The cache on Redis: one answer for all workers, fetched by one of them."""

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
from quotecast.cache.known import Entry, Failure, Known
from quotecast.cache.shelf import Shelf
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError

#: By how much a lock outlasts the longest fetch, so that it ends first only if its holder died.
LEASE_MARGIN_SECONDS: Final = 1.0
#: Average seconds between two looks at what another worker fetches.
POLL_SECONDS: Final = 0.05
#: How long a failed upstream is left alone, unless it says; and at most, whatever it says.
FAILURE_SECONDS: Final = 5.0
MAX_FAILURE_SECONDS: Final = 3600.0

log = structlog.get_logger()


@dataclass(slots=True)
class Statistics:
    """Counted since the start."""

    reads: int = 0
    #: Reads answered from this worker's memory.
    remembered: int = 0
    #: Reads answered with what was fresh, what was fetched just now, and what is past its time.
    hits: int = 0
    misses: int = 0
    stale: int = 0
    #: Upstream calls, failed ones included.
    fetches: int = 0
    failures: int = 0
    #: Looks at what another worker was fetching.
    waits: int = 0
    #: Times that this worker did without Redis.
    absences: int = 0
    #: Times that Redis was given up until it answers a probe.
    openings: int = 0


class RedisCache:
    """A `quotecast.cache.base.Cache` that workers share through one Redis.

    A fetch has `fetch_seconds`. A reader waits for it `stale_patience` seconds when there is something old
    to serve, else `patience` seconds; the fetch goes on. `at_once` bounds this worker's calls to each
    upstream. Redis has `budget` seconds to answer; while it does not, this worker fetches alone and
    remembers up to `memory_bytes`. `clock` is Unix time, as workers compare it.
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
        self._shelf = Shelf(url, prefix, budget=budget, pause=pause, memory_bytes=memory_bytes)
        self._fetch_seconds = fetch_seconds
        self._patience = patience
        self._stale_patience = stale_patience
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(at_once))
        self._clock = clock
        self._chance = chance
        self._make_owner = make_owner
        self._flights: dict[str, asyncio.Task[Known]] = {}
        self._statistics = Statistics()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self._shelf.close()

    def statistics(self) -> Statistics:
        """A copy of the counters."""
        shelf = self._shelf
        return replace(self._statistics, absences=shelf.absences, openings=shelf.openings)

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        """See Cache."""
        self._statistics.reads += 1
        known = self._shelf.recent(key)
        if known.settles(policy, self._clock()):
            self._statistics.remembered += 1
        else:
            known = await self._flown(key, policy, fetch)
        cached = known.answer(policy, self._clock())
        self._statistics.hits += cached.status == "HIT"
        self._statistics.misses += cached.status == "MISS"
        self._statistics.stale += cached.status == "STALE"
        return cached

    async def _flown(self, key: str, policy: Policy, fetch: Fetch) -> Known:
        """What the flight brings, which all readers of the key in this worker share."""
        flight = self._flights.get(key) or self._start(key, policy, fetch)
        # Waiting so, a reader that is cancelled does not cancel the flight.
        await asyncio.wait([flight], timeout=self._stale_patience)
        if not flight.done() and not self._shelf.recent(key).serves(policy, self._clock()):
            await asyncio.wait([flight], timeout=self._patience - self._stale_patience)
        return flight.result() if flight.done() else self._shelf.recent(key)

    def _start(self, key: str, policy: Policy, fetch: Fetch) -> asyncio.Task[Known]:
        flight = asyncio.get_running_loop().create_task(self._fly(key, policy, fetch))
        self._flights[key] = flight
        flight.add_done_callback(lambda _: self._flights.pop(key))
        return flight

    async def _fly(self, key: str, policy: Policy, fetch: Fetch) -> Known:
        known = await self._shelf.look(key)
        owner = self._make_owner()
        while not known.settles(policy, self._clock()):
            lease = self._fetch_seconds + LEASE_MARGIN_SECONDS
            held, known = await self._shelf.claim(key, owner, lease)
            if not held:
                self._statistics.waits += 1
                await asyncio.sleep(POLL_SECONDS * (0.5 + self._chance()))
            elif known.settles(policy, self._clock()):
                await self._shelf.release(key, owner)
            else:
                return await self._fetched(key, owner, known, policy, fetch)
        return known

    async def _fetched(self, key: str, owner: str, known: Known, policy: Policy, fetch: Fetch) -> Known:
        """What is known after asking the upstream; told to all workers."""
        try:
            known = Known(await self._ask(key, fetch), fetched=True)
        except UpstreamError as error:
            self._statistics.failures += 1
            log.warning("upstream failed", key=key, error=str(error))
            known = Known(known.entry, self._failure(error))
        except asyncio.CancelledError:
            await self._shelf.release(key, owner)
            raise
        await self._shelf.settle(key, owner, known, policy, self._clock())
        return known

    async def _ask(self, key: str, fetch: Fetch) -> Entry:
        """Raises UpstreamError."""
        upstream = key.partition(":")[0]
        try:
            async with asyncio.timeout(self._fetch_seconds), self._slots[upstream]:
                self._statistics.fetches += 1
                body = await fetch()
        except SymbolNotFound:
            return Entry(self._clock(), "not_found")
        except NotOffered as error:
            return Entry(self._clock(), "not_offered", detail=str(error))
        except UpstreamError:
            raise
        except TimeoutError as error:
            raise UpstreamError(f"{upstream}: no answer in {self._fetch_seconds:g} s") from error
        except Exception as error:
            # An adapter tripped over what its upstream sent; readers are better served with an old answer.
            log.exception("an upstream's answer could not be used", key=key)
            raise UpstreamError(f"{upstream}: {type(error).__name__}") from error
        if isinstance(body, Provisional):
            return Entry(self._clock(), body=body.body, fresh_seconds=body.fresh_seconds)
        return Entry(self._clock(), body=body)

    def _failure(self, error: UpstreamError) -> Failure:
        seconds = min(error.retry_after or FAILURE_SECONDS, MAX_FAILURE_SECONDS)
        return Failure(self._clock() + seconds, str(error))
