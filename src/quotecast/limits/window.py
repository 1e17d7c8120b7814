"""Sliding windows that all workers share through Redis, and what a worker decides by itself.

A lease is free slots that a worker takes in one call, and gives out without a call for a tenth of a second. A
leased slot counts in Redis from the moment of the call until a whole window after the lease ends. So every
request that the worker admits within the lease counts for at least its own window, even if the worker dies,
and no window of all workers' requests exceeds the limit. ADR 21 has the proof.
"""

import asyncio
import contextlib
import random
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Self

from msgspec import structs

from quotecast.limits.calls import Calls, Check, KeyNames, ScriptAnswer
from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND, LocalWindow, whole_seconds
from quotecast.redis.breaker import CircuitBreaker
from quotecast.redis.client import check_writable, connect, drop_connections
from quotecast.redis.lua import lua
from quotecast.redis.urls import is_cluster

_MICROSECOND: Final = 1_000
#: Nanoseconds of a lease in Redis; `window.lua` has the same number.
LEASE: Final = SECOND // 10
#: Nanoseconds by which the worker's lease is shorter, because its clock may be slower than Redis's.
MARGIN: Final = SECOND // 1000
#: The least limit of leased keys: `window.lua` grants none where fewer slots are free.
LEAST_LIMIT: Final = 1024
#: Requests of a key in the time of a lease that make it hot; a lease has as many slots as were used in that
#: time, rounded down to a power of two, and at most MOST_SLOTS: pushing them blocks Redis for 0.1 ms.
FEWEST_SLOTS: Final = 16
MOST_SLOTS: Final = 1024


class Lease:
    """Slots of one key, for requests before `end`, in nanoseconds of the worker's clock."""

    __slots__ = ("end", "entry", "free", "key", "left", "oldest_end")

    def __init__(self, key: str, *, left: int, free: int, end: int, oldest_end: int, entry: bytes) -> None:
        """`free` slots were left to all workers; the oldest request leaves the window at `oldest_end`."""
        self.key = key
        self.left = left
        self.free = free
        self.end = end
        self.oldest_end = oldest_end
        #: The slots' entries in Redis.
        self.entry = entry

    def reset(self, now: int) -> int:
        """Returns the whole seconds until a slot frees: at least one."""
        return whole_seconds(max(self.oldest_end - now, 1))


class Leases:
    """The leases of one worker by key: at most one of each key, for 0.1 s.

    It asks for leases of keys that are hot at this worker and have many slots. `local` counts the worker's
    requests.
    """

    def __init__(self, local: LocalWindow) -> None:
        self._local = local
        self._leases: dict[str, Lease] = {}
        self._owner = f"{random.randrange(10**5, 10**6)}"  # noqa: S311 - a name, not a secret
        self._numbers = count()
        #: The lease of a key, if any, which may have ended: a bound method, for every limited request.
        self.get: Callable[[str], Lease | None] = self._leases.get

    def __iter__(self) -> Iterator[Lease]:
        return iter([*self._leases.values()])

    def __len__(self) -> int:
        return len(self._leases)

    def name_wanted(self, key: str, limit: int, now: int) -> str:
        """Returns the limit, and if the key is hot `/slots/name`: see `window.lua`."""
        if limit < LEAST_LIMIT:
            return str(limit)
        since, slots = now - LEASE, FEWEST_SLOTS
        if not self._local.has_since(key, slots, since):
            return str(limit)
        while slots < MOST_SLOTS and self._local.has_since(key, 2 * slots, since):
            slots *= 2
        return f"{limit}/{slots}/{self._owner}{next(self._numbers)}"

    def add(self, lease: Lease) -> None:
        """Stores a lease in place of the key's former one."""
        self._leases[lease.key] = lease

    def end(self, lease: Lease) -> int:
        """Ends a lease; returns the number of slots that it did not use."""
        if self._leases.get(lease.key) is lease:
            del self._leases[lease.key]
        unused, lease.left = lease.left, 0
        return unused


@dataclass(slots=True)
class WindowStatistics:
    """Counts since the start."""

    checks: int = 0
    #: Script calls, failed ones included.
    calls: int = 0
    failures: int = 0
    #: Checks that this worker decided alone because Redis failed.
    fallbacks: int = 0
    #: Times that the circuit breaker opened.
    openings: int = 0
    #: Checks answered from a remembered refusal.
    remembered: int = 0
    #: Checks answered from a lease.
    leased: int = 0
    #: Whether the circuit breaker is open at this moment.
    alone: bool = False


class Window:
    """A sliding window that admits at most `limit` requests of a key in any `seconds`, over all workers.

    Checks made in one turn of the event loop, and those that arrive during a script call, go to Redis in one
    call. A call may take `budget` seconds; when it fails, the worker decides alone, by a window of the same
    size. After three failures in a row a circuit breaker stops calls; it probes Redis every `pause` seconds.
    A key always comes with the same limit. With `traced`, traces show each call, which then costs four times
    as much. With `leasing` the worker leases slots of hot keys; see `Leases`.

    A worker counts every request that it admits, and never admits more than the limit by itself: with Redis,
    without it, or after Redis lost its data. So n workers admit at most n times the limit, the edges of an
    outage included. With `forgetful`, other workers may `forget` keys: the worker remembers no refusals then,
    and Redis alone decides; such a window leases nothing.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str,
        seconds: int = 60,
        budget: float = 0.05,
        pause: float = 1.0,
        clock: Callable[[], int] = time.monotonic_ns,
        traced: bool = False,
        forgetful: bool = False,
        leasing: bool = False,
    ) -> None:
        # The budget bounds connecting, writing and reading together. The client's own time-outs would cost a
        # third of a call, and a retry could count a request twice.
        self._client = connect(url, "limits")
        self._source = lua("limits", "window")
        self._names = KeyNames(prefix)
        self._budget = budget
        self._clock = clock
        self._forgetful = forgetful
        self._leasing = leasing and not forgetful
        self._local = LocalWindow(seconds, clock=clock)
        self._refusals = Refusals(clock=clock)
        self._leases = Leases(self._local)
        self._returning: set[asyncio.Task[None]] = set()
        self._breaker = CircuitBreaker(
            self._probe,
            pause=pause,
            opened="each worker limits alone",
            closed="all workers limit together again",
            clock=lambda: clock() / SECOND,
        )
        self._statistics = WindowStatistics()
        self._calls = Calls(
            self._client,
            self._source,
            self._names,
            microseconds=seconds * 1_000_000,
            budget=budget,
            clock=clock,
            clustered=is_cluster(url),
            traced=traced,
            ask=self._ask,
            decide=self._decide,
            decide_alone=self._decide_alone,
        )

    async def __aenter__(self) -> Self:
        await self._breaker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._calls.settle()
        for lease in self._leases:
            self._end_lease(lease)
        await asyncio.gather(*self._returning)
        await self._breaker.stop()
        await self._client.aclose()

    def statistics(self) -> WindowStatistics:
        """Returns a copy of the counters."""
        return replace(
            self._statistics,
            calls=self._calls.made,
            openings=self._breaker.openings,
            alone=self._breaker.is_open,
        )

    async def check(self, key: str, limit: int) -> Decision:
        """Returns the decision on a request; only an admitted request uses a slot. Never raises."""
        decision = self.decide(key, limit)
        return decision if isinstance(decision, Decision) else await decision

    def decide(self, key: str, limit: int) -> Decision | asyncio.Future[Decision]:
        """Returns the decision as `check` does: at once if the worker knows it, else a future of it."""
        self._statistics.checks += 1
        lease = self._leases.get(key)
        if lease is not None and (leased := self._leased(lease, key, limit)):
            return leased
        if wait := self._refusals.nanoseconds_left(key):
            self._statistics.remembered += 1
            return Decision(
                admitted=False, limit=limit, remaining=0, reset=whole_seconds(wait), remembered=True
            )
        local = self._local.check(key, limit)
        if not local.admitted and not self._forgetful:
            self._statistics.remembered += 1
            return structs.replace(local, remembered=True)
        if self._breaker.is_open:
            self._statistics.fallbacks += 1
            return local
        check = Check(key, local, asyncio.get_running_loop().create_future())
        self._calls.add(check)
        return check.decided

    async def forget(self, key: str) -> None:
        """Removes all requests of a key, here and in Redis if it answers. Never raises."""
        self._local.forget(key)
        self._refusals.forget(key)
        await self._send(self._client.delete, self._names.name_of(key))

    async def give_back(self, key: str) -> None:
        """Frees the slot of an admitted request, here and in Redis if it answers. Never raises.

        Other workers that remember a refusal of the key refuse until that refusal ends.
        """
        self._local.give_back(key)
        self._refusals.forget(key)
        await self._send(self._client.eval, lua("limits", "give_back"), 1, self._names.name_of(key))

    async def _send(self, command: Callable[..., Awaitable[object]], *words: str | bytes | int) -> None:
        if self._breaker.is_open:
            return
        with contextlib.suppress(Exception):
            async with asyncio.timeout(self._budget):
                await command(*words)

    def _leased(self, lease: Lease, key: str, limit: int) -> Decision | None:
        """Returns the admission of a request that takes a slot of the lease, None if it cannot."""
        now = self._clock()
        if not lease.left or now >= lease.end:
            return None
        own = self._local.admit(key, limit, now)
        if own < 0:
            return None
        lease.left -= 1
        self._statistics.leased += 1
        return Decision(True, limit, min(own, lease.free + lease.left), lease.reset(now))

    def _ask(self, batch: Sequence[Check], now: int) -> Sequence[str]:
        """Returns the limit of each check; the last one of a hot key asks for a lease."""
        asked = [str(check.local.limit) for check in batch]
        if self._leasing:
            for key, index in {check.key: index for index, check in enumerate(batch)}.items():
                asked[index] = self._leases.name_wanted(key, batch[index].local.limit, now)
        return asked

    def _decide(self, batch: Sequence[Check], answers: Sequence[ScriptAnswer], sent_at: int) -> None:
        self._breaker.record_success()
        for check, (admitted, free, microseconds) in zip(batch, answers, strict=True):
            nanoseconds = microseconds * _MICROSECOND
            remaining = free
            if isinstance(admitted, list):
                # The check takes the first slot of the lease.
                slots, at, name = admitted
                lease = Lease(
                    check.key,
                    left=slots - 1,
                    free=free,
                    # Counted from before the call, so the lease ends before its time in Redis.
                    end=sent_at + LEASE - MARGIN,
                    oldest_end=sent_at + nanoseconds,
                    entry=b"%d:%d" % (at, name),
                )
                self._leases.add(lease)
                asyncio.get_running_loop().call_later(LEASE / SECOND, self._end_lease, lease)
                remaining += lease.left
            if not admitted:
                if check.local.admitted:
                    self._local.give_back(check.key)
                if not self._forgetful:
                    # Counted from before the call, so the refusal ends no later than in Redis.
                    self._refusals.remember(check.key, sent_at + nanoseconds)
            elif check.local.remaining < remaining and not self._forgetful:
                # Redis lost requests that this worker still counts.
                _resolve(check, check.local)
                continue
            _resolve(
                check, Decision(bool(admitted), check.local.limit, remaining, whole_seconds(nanoseconds))
            )

    def _decide_alone(self, checks: Sequence[Check], error: Exception) -> None:
        self._statistics.failures += 1
        self._breaker.record_failure(error)
        self._statistics.fallbacks += len(checks)
        for check in checks:
            _resolve(check, check.local)

    def _end_lease(self, lease: Lease) -> None:
        """Gives the slots back that the lease did not use."""
        if unused := self._leases.end(lease):
            name = self._names.name_of(lease.key)
            task = asyncio.ensure_future(self._send(self._client.lrem, name, -unused, lease.entry))
            self._returning.add(task)
            task.add_done_callback(self._returning.discard)

    async def _probe(self) -> None:
        """Raises the error that Redis answers to a write, if any."""
        await drop_connections(self._client, "limits")
        await self._client.script_load(self._source)
        await check_writable(self._client)


def _resolve(check: Check, decision: Decision) -> None:
    # The future is done when its request was cancelled.
    if not check.decided.done():
        check.decided.set_result(decision)


class Refusals:
    """Keys whose windows are full, each with the time of its next free slot.

    A full window admits no request before its oldest one leaves, so a remembered refusal decides as Redis
    would. Times are nanoseconds of the given clock. Beyond `max_keys` the oldest refusal goes.
    """

    def __init__(self, *, max_keys: int = 10_000, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._max_keys = max_keys
        self._clock = clock
        self._ends: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._ends)

    def remember(self, key: str, end: int) -> None:
        """Refuses the key until `end`."""
        self._ends[key] = end
        self._ends.move_to_end(key)
        if len(self._ends) > self._max_keys:
            self._ends.popitem(last=False)

    def forget(self, key: str) -> None:
        """Removes the refusal of a key."""
        self._ends.pop(key, None)

    def nanoseconds_left(self, key: str) -> int:
        """Returns the nanoseconds until the key's next free slot; 0 if no refusal is remembered."""
        end = self._ends.get(key)
        if end is None:
            return 0
        wait = end - self._clock()
        if wait > 0:
            return wait
        del self._ends[key]
        return 0
