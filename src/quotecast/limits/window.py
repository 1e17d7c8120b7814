"""Sliding windows that all workers share through Redis: batches of checks, their deadlines and fallbacks."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from typing import Final, NamedTuple, Self

from msgspec import structs

from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND, LocalWindow, whole_seconds
from quotecast.limits.keys import KeyNames, hash_tag
from quotecast.limits.refusals import Refusals
from quotecast.redis.breaker import CircuitBreaker
from quotecast.redis.client import Script, check_writable, connect, drop_connections, script
from quotecast.redis.commands import MeasuredCommand
from quotecast.redis.urls import is_cluster

#: Checks in one script call, which blocks Redis for some 10 µs per check.
MAX_BATCH: Final = 256

_MICROSECOND: Final = 1_000
#: Seconds for the event loop to read an answer that has already arrived.
_GRACE_SECONDS: Final = 0.002


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
    #: Whether the circuit breaker is open at this moment.
    alone: bool = False


class _Check(NamedTuple):
    key: str
    #: The worker's own decision, which holds when Redis fails.
    local: Decision
    decided: asyncio.Future[Decision]


class _ScriptAnswer(NamedTuple):
    admitted: int
    remaining: int
    microseconds: int


class Window:
    """A sliding window that admits at most `limit` requests of a key in any `seconds`, over all workers.

    Checks made in one turn of the event loop, and those that arrive during a script call, go to Redis in one
    call. A call may take `budget` seconds; when it fails, the worker decides alone, by a window of the same
    size. After three failures in a row a circuit breaker stops calls; it probes Redis every `pause` seconds.
    A key always comes with the same limit. With `traced`, traces show each call, which then costs twice as
    much.

    A worker counts every request that it admits, and never admits more than the limit by itself: with Redis,
    without it, or after Redis lost its data. So n workers admit at most n times the limit, the edges of an
    outage included. With `forgetful`, other workers may `forget` keys: the worker remembers no refusals then,
    and Redis alone decides.
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
    ) -> None:
        # The budget bounds connecting, writing and reading together. The client's own time-outs would cost a
        # third of a call, and a retry could count a request twice.
        self._client = connect(url, "limits")
        self._clustered = is_cluster(url)
        self._source = resources.files("quotecast.limits").joinpath("window.lua").read_text("utf-8")
        # Traces show only calls through the client itself.
        make = self._client.register_script if traced else partial(script, self._client)
        self._script: Script = make(self._source)
        self._names = KeyNames(prefix)
        self._microseconds = seconds * 1_000_000
        self._budget = budget
        self._clock = clock
        self._forgetful = forgetful
        self._local = LocalWindow(seconds, clock=clock)
        self._refusals = Refusals(clock=clock)
        self._breaker = CircuitBreaker(
            self._probe,
            pause=pause,
            opened="each worker limits alone",
            closed="all workers limit together again",
            clock=lambda: clock() / SECOND,
        )
        self._statistics = WindowStatistics()
        self._waiting: list[_Check] = []
        self._serving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._breaker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._serving:
            await self._serving
        await self._breaker.stop()
        await self._client.aclose()

    def statistics(self) -> WindowStatistics:
        """Returns a copy of the counters."""
        return replace(self._statistics, openings=self._breaker.openings, alone=self._breaker.is_open)

    async def check(self, key: str, limit: int) -> Decision:
        """Returns the decision on a request; only an admitted request uses a slot. Never raises."""
        self._statistics.checks += 1
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
        loop = asyncio.get_running_loop()
        check = _Check(key, local, loop.create_future())
        self._waiting.append(check)
        if self._serving is None:
            self._serving = loop.create_task(self._serve())
        return await check.decided

    async def forget(self, key: str) -> None:
        """Removes all requests of a key, here and in Redis if it answers. Never raises."""
        self._local.forget(key)
        self._refusals.forget(key)
        await self._send(self._client.delete, key)

    async def give_back(self, key: str) -> None:
        """Frees the slot of an admitted request, here and in Redis if it answers. Never raises.

        Other workers that remember a refusal of the key refuse until that refusal ends.
        """
        self._local.give_back(key)
        self._refusals.forget(key)
        await self._send(self._client.rpop, key)

    async def _send(self, command: Callable[[bytes], Awaitable[object]], key: str) -> None:
        if self._breaker.is_open:
            return
        with contextlib.suppress(Exception):
            async with asyncio.timeout(self._budget):
                await command(self._names.name_of(key))

    async def _serve(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            sent_at = self._clock()
            self._statistics.calls += 1
            try:
                async with MeasuredCommand(self._client, "limits"):
                    answers = await self._ask_in_time(batch)
            except Exception as error:  # noqa: BLE001 - a broken connection raises more than RedisError
                self._decide_alone(batch, error)
            else:
                self._decide(batch, answers, sent_at)
        self._serving = None

    async def _ask_in_time(self, batch: Sequence[_Check]) -> list[_ScriptAnswer]:
        """Returns Redis's answers to a batch. Raises TimeoutError after `budget` seconds.

        A blocked event loop runs its timers before it reads sockets. So the deadline moves by a moment when
        it falls due, and answers that arrived meanwhile still count.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as deadline:
            spent = loop.call_later(self._budget, lambda: deadline.reschedule(loop.time() + _GRACE_SECONDS))
            try:
                return await self._ask(batch)
            finally:
                spent.cancel()

    async def _ask(self, batch: Sequence[_Check]) -> list[_ScriptAnswer]:
        """Returns Redis's answers in order: by one script call, in a cluster by one per hash tag."""
        if not self._clustered:
            return await self._call(batch)
        tags = [hash_tag(self._names.name_of(check.key)) for check in batch]
        parts: dict[bytes, list[_Check]] = {tag: [] for tag in tags}
        for tag, check in zip(tags, batch, strict=True):
            parts[tag].append(check)
        by_part = await asyncio.gather(*map(self._call, parts.values()))
        answers = dict(zip(parts, map(iter, by_part), strict=True))
        return [next(answers[tag]) for tag in tags]

    async def _call(self, batch: Sequence[_Check]) -> list[_ScriptAnswer]:
        """Returns the answers of one script call; a script that Redis lost is loaded, and called again."""
        keys = [self._names.name_of(check.key) for check in batch]
        limits = ",".join(str(check.local.limit) for check in batch)
        flat: list[int] = await self._script(keys, [self._microseconds, limits])
        answers = list(map(_ScriptAnswer, flat[0::3], flat[1::3], flat[2::3]))
        if len(answers) != len(batch):
            raise ValueError("the number of answers differs from the number of checks")
        return answers

    def _decide(self, batch: Sequence[_Check], answers: Sequence[_ScriptAnswer], sent_at: int) -> None:
        self._breaker.record_success()
        for check, (admitted, remaining, microseconds) in zip(batch, answers, strict=True):
            nanoseconds = microseconds * _MICROSECOND
            if not admitted:
                self._record_refusal(check, sent_at + nanoseconds)
            elif check.local.remaining < remaining and not self._forgetful:
                # Redis lost requests that this worker still counts.
                _resolve(check, check.local)
                continue
            _resolve(
                check, Decision(bool(admitted), check.local.limit, remaining, whole_seconds(nanoseconds))
            )

    def _record_refusal(self, check: _Check, end: int) -> None:
        if check.local.admitted:
            self._local.give_back(check.key)
        if not self._forgetful:
            # Counted from before the call, so the refusal ends no later than in Redis.
            self._refusals.remember(check.key, end)

    def _decide_alone(self, batch: Sequence[_Check], error: Exception) -> None:
        """Decides the batch alone, and the checks behind it: they have waited for one call already."""
        self._statistics.failures += 1
        self._breaker.record_failure(error)
        checks, self._waiting = [*batch, *self._waiting], []
        self._statistics.fallbacks += len(checks)
        for check in checks:
            _resolve(check, check.local)

    async def _probe(self) -> None:
        """Raises the error that Redis answers to a write, if any."""
        await drop_connections(self._client, "limits")
        await self._client.script_load(self._source)
        await check_writable(self._client)


def _resolve(check: _Check, decision: Decision) -> None:
    # The future is done when its request was cancelled.
    if not check.decided.done():
        check.decided.set_result(decision)
