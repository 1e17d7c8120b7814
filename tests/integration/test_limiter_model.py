"""Two workers' windows against the plainest one: every decision, with an outage of Redis inside."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import redis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND
from quotecast.limits.window import Window
from servers import Valkey

LIMIT = 3
WINDOW = 60 * SECOND
START = 1_700_000_000 * SECOND
WORKERS = (0, 1)
keys = st.sampled_from("ab")
workers = st.sampled_from(WORKERS)
times = st.integers(1, 2 * LIMIT)
#: A failure is told as it was found: to shorten it, the server would go down a thousand times.
BOUNDED = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
steps = st.sampled_from([0, SECOND // 1000, SECOND, 20 * SECOND, WINDOW - SECOND // 1000, WINDOW])


class Admitted(NamedTuple):
    """A request that was let in, and by whom: Redis between two losses of its data, or a worker alone."""

    key: str
    at: int
    worker: int
    by: str


class Log:
    """The reference: the times of all requests that were admitted, never cleaned up."""

    def __init__(self) -> None:
        self._times: dict[str, list[int]] = defaultdict(list)

    def check(self, key: str, now: int) -> Decision:
        admitted = len(self._within(key, now)) < LIMIT
        if admitted:
            self._times[key].append(now)
        counted = self._within(key, now)
        return Decision(admitted, LIMIT, LIMIT - len(counted), -(-(counted[0] + WINDOW - now) // SECOND))

    def end(self, key: str, now: int) -> int:
        """When the oldest request that counts leaves."""
        return self._within(key, now)[0] + WINDOW

    def _within(self, key: str, now: int) -> list[int]:
        return [time for time in self._times[key] if time + WINDOW > now]


class Clocked:
    """The script as it ships, but for its clock, which the test sets."""

    def __init__(self, window: Window, machine: "Limiter") -> None:
        assert window._source.count("redis.call('TIME')") == 1
        window._source = window._source.replace("redis.call('TIME')", "{ARGV[#ARGV - 1], ARGV[#ARGV]}")
        self._script = window._client.register_script(window._source)
        self._machine = machine

    async def __call__(self, names: Sequence[bytes], given: Sequence[Any]) -> Any:
        return await self._script(names, [*given, *divmod(self._machine.now // 1000, 1_000_000)])


class Limiter(RuleBasedStateMachine):
    """Requests at two workers, time that passes, and Redis that goes away and comes back empty."""

    server: ClassVar[Valkey]

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.away = False
        self.outages = 0
        self.admitted: list[Admitted] = []
        self.shared = Log()
        self.alone = [Log() for _ in WORKERS]
        self.known: list[dict[str, int]] = [{} for _ in WORKERS]
        self.runner = asyncio.Runner()

    @initialize()
    def open(self) -> None:
        with redis.Redis.from_url(self.server.url) as client:
            client.flushall()
        self.runner.run(self._open())

    async def _open(self) -> None:
        # A budget that no loaded machine exceeds: here Redis is away, or it answers.
        self.windows = [
            Window(self.server.url, prefix="t", budget=10, pause=0.001, clock=lambda: self.now)
            for _ in WORKERS
        ]
        for window in self.windows:
            window._script = Clocked(window, self)
            await window.__aenter__()

    @rule(step=steps)
    def wait(self, step: int) -> None:
        self.now += step

    @rule(worker=workers, key=keys, count=times)
    def ask(self, worker: int, key: str, count: int) -> None:
        """Requests that come together, in their order, each decided as the reference decides."""
        before = self.windows[worker].statistics().fallbacks
        decisions = self.runner.run(self._checks(worker, key, count))
        alone = self.windows[worker].statistics().fallbacks - before
        assert alone == 0 or self.away, "who reaches Redis does not decide alone"
        known = self.known[worker].get(key, 0)
        for decision in decisions:
            if known > self.now:
                reset = -(-(known - self.now) // SECOND)
                assert decision == Decision(False, LIMIT, 0, reset, remembered=True)
            else:
                assert decision == self._expected(worker, key)

    @rule(key=keys, counts=st.tuples(times, times))
    def ask_both(self, key: str, counts: tuple[int, int]) -> None:
        """Whoever is first: together they get what is left."""
        free = [self.known[worker].get(key, 0) <= self.now for worker in WORKERS]
        decisions = self.runner.run(self._race(key, counts))
        for worker in WORKERS:
            if free[worker]:
                assert not any(decision.remembered for decision in decisions[worker])
        expected = [
            [self._expected(worker, key) for _ in decisions[worker]] for worker in WORKERS if free[worker]
        ]
        assert sum(each.admitted for one in decisions for each in one) == sum(
            each.admitted for one in expected for each in one
        )
        self._know_refusals(key, decisions, free)

    @precondition(lambda self: not self.away and self.outages < 2)
    @rule()
    def outage(self) -> None:
        self.server.kill()
        self.away = True
        self.outages += 1

    @precondition(lambda self: self.away)
    @rule()
    def come_back(self) -> None:
        """Empty, and found by both."""
        self.server.start()
        self.away = False
        self.shared = Log()
        self.runner.run(self._found())

    @invariant()
    def no_window_holds_more_than_the_limit(self) -> None:
        """Of what Redis admitted to both together, and of what each admitted alone."""
        for by in {each.by for each in self.admitted}:
            for key in "ab":
                at = [each.at for each in self.admitted if (each.by, each.key) == (by, key)]
                gaps = [later - earlier for earlier, later in zip(at, at[LIMIT:], strict=False)]
                assert all(gap >= WINDOW for gap in gaps)

    def teardown(self) -> None:
        if self.away:
            self.server.start()
        self.runner.run(self._close())
        self.runner.close()

    def _expected(self, worker: int, key: str) -> Decision:
        """What the plainest window says: the one of both while Redis is there, else the worker's own."""
        log = self.alone[worker] if self.away else self.shared
        decision = log.check(key, self.now)
        if decision.admitted:
            by = f"worker {worker}" if self.away else f"Redis {self.outages}"
            self.admitted.append(Admitted(key, self.now, worker, by))
        elif not self.away:
            self.known[worker][key] = log.end(key, self.now)
        return decision

    def _know_refusals(self, key: str, decisions: Sequence[Sequence[Decision]], free: Sequence[bool]) -> None:
        """Who was refused knows it; which of the two it was, the reference cannot say."""
        for worker in WORKERS:
            if free[worker] and not self.away:
                self.known[worker].pop(key, None)
                if not all(decision.admitted for decision in decisions[worker]):
                    self.known[worker][key] = self.shared.end(key, self.now)

    async def _checks(self, worker: int, key: str, count: int) -> list[Decision]:
        return await asyncio.gather(*(self.windows[worker].check(key, LIMIT) for _ in range(count)))

    async def _race(self, key: str, counts: Sequence[int]) -> list[list[Decision]]:
        return await asyncio.gather(*(self._checks(worker, key, counts[worker]) for worker in WORKERS))

    async def _found(self) -> None:
        """Each worker's connection is a new one, and Redis has answered on it."""
        for window in self.windows:
            async with asyncio.timeout(30):
                fallbacks = -1
                while fallbacks != window.statistics().fallbacks:
                    fallbacks = window.statistics().fallbacks
                    await window.check("anything", 10**9)
                    await asyncio.sleep(0)

    async def _close(self) -> None:
        for window in self.windows:
            await window.__aexit__()


def test_no_decision_differs_from_the_plainest_window(own_valkey: Valkey) -> None:
    """Never more than the limit while Redis answers, a limit of each worker's own while it does not.

    Nobody is refused for Redis being away: whoever is refused has used up a window. So what a worker lets
    through across the edge of an outage is twice the limit at most.
    """

    class Here(Limiter):
        server = own_valkey

    run_state_machine_as_test(Here, settings=BOUNDED)
