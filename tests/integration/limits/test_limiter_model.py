"""Two workers' windows against a minimal model: every decision, through an outage of Redis."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import pytest
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
from support.made.windows import until_shared
from support.servers.processes import Valkey

pytestmark = pytest.mark.usefixtures("patient_redis")

LIMIT = 3
WINDOW = 60 * SECOND
START = 1_700_000_000 * SECOND
WORKERS = (0, 1)
keys = st.sampled_from("ab")
workers = st.sampled_from(WORKERS)
times = st.integers(1, 2 * LIMIT)
#: No shrinking of failing examples: each attempt would stop the server, a thousand times.
BOUNDED = settings(
    stateful_step_count=25,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
steps = st.sampled_from([0, SECOND // 1000, SECOND, 20 * SECOND, WINDOW - SECOND // 1000, WINDOW])


class Admitted(NamedTuple):
    """An admitted request's origin: Redis between two losses of its data, or one worker alone."""

    key: str
    at: int
    worker: int
    by: str


class Log:
    """The model: the times of all admitted requests, never cleaned up."""

    def __init__(self) -> None:
        self._times: dict[str, list[int]] = defaultdict(list)

    def check(self, key: str, now: int) -> Decision:
        admitted = self.left(key, now) > 0
        if admitted:
            self._times[key].append(now)
        counted = self._within(key, now)
        return Decision(admitted, LIMIT, LIMIT - len(counted), -(-(counted[0] + WINDOW - now) // SECOND))

    def left(self, key: str, now: int) -> int:
        """Returns the number of free slots."""
        return LIMIT - len(self._within(key, now))

    def end(self, key: str, now: int) -> int:
        """Returns the time at which the oldest request leaves; without requests, a window from now."""
        return next(iter(self._within(key, now)), now) + WINDOW

    def _within(self, key: str, now: int) -> list[int]:
        return [time for time in self._times[key] if time + WINDOW > now]


class Clocked:
    """The shipped script, with a clock that the test sets."""

    def __init__(self, window: Window, machine: "Limiter") -> None:
        assert window._source.count("redis.call('TIME')") == 1
        window._source = window._source.replace("redis.call('TIME')", "{ARGV[#ARGV - 1], ARGV[#ARGV]}")
        self._script = window._client.register_script(window._source)
        self._machine = machine

    async def __call__(self, names: Sequence[bytes], given: Sequence[Any]) -> Any:
        return await self._script(names, [*given, *divmod(self._machine.now // 1000, 1_000_000)])


class Limiter(RuleBasedStateMachine):
    """Requests at two workers, passing time, and a Redis that disappears and returns empty."""

    server: ClassVar[Valkey]

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.away = False
        self.outages = 0
        self.admitted: list[Admitted] = []
        self.shared = Log()
        self.own = [Log() for _ in WORKERS]
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
            window._calls.script = Clocked(window, self)
            await window.__aenter__()

    @rule(step=steps)
    def wait(self, step: int) -> None:
        self.now += step

    @rule(worker=workers, key=keys, count=times)
    def ask(self, worker: int, key: str, count: int) -> None:
        """Concurrent requests are decided in order, each as the model decides."""
        before = self.windows[worker].statistics().fallbacks
        decisions = self.runner.run(self._checks(worker, key, count))
        alone = self.windows[worker].statistics().fallbacks - before
        assert alone == 0 or self.away, "who reaches Redis does not decide alone"
        known = self.known[worker].get(key, 0)
        if known > self.now:
            assert decisions == [self._remembered(known)] * count
        else:
            assert decisions == self._expected(worker, key, count)

    @rule(key=keys, counts=st.tuples(times, times))
    def ask_both(self, key: str, counts: tuple[int, int]) -> None:
        """Both workers together get the free slots, and each no more than it has itself."""
        free = [self.known[worker].get(key, 0) <= self.now for worker in WORKERS]
        wanted = [
            min(counts[worker], self.own[worker].left(key, self.now)) if free[worker] else 0
            for worker in WORKERS
        ]
        left = sum(wanted) if self.away else self.shared.left(key, self.now)
        decisions = self.runner.run(self._race(key, counts))
        admitted = [sum(decision.admitted for decision in each) for each in decisions]
        assert sum(admitted) == min(sum(wanted), left)
        for worker in WORKERS:
            assert admitted[worker] <= wanted[worker]
            assert sum(not decision.remembered for decision in decisions[worker]) == wanted[worker]
            for _ in range(admitted[worker]):
                self._admit(worker, key)
        self._know_refusals(key, decisions)

    @precondition(lambda self: not self.away and self.outages < 2)
    @rule()
    def outage(self) -> None:
        self.server.kill()
        self.away = True
        self.outages += 1

    @precondition(lambda self: self.away)
    @rule()
    def come_back(self) -> None:
        """Redis returns empty, and both workers reconnect."""
        self.server.start()
        self.away = False
        self.shared = Log()
        self.runner.run(self._found())

    @invariant()
    def no_window_holds_more_than_the_limit(self) -> None:
        """The limit holds for requests that Redis admitted, and for those that each worker admitted."""
        for key in "ab":
            admitted = [each for each in self.admitted if each.key == key]
            for by in {each.by for each in admitted}:
                self._check_spread([each.at for each in admitted if each.by == by], LIMIT)
            for worker in WORKERS:
                self._check_spread([each.at for each in admitted if each.worker == worker], LIMIT)

    @invariant()
    def outages_add_nothing_at_their_edges(self) -> None:
        """Two workers admit at most twice the limit, whatever Redis does."""
        for key in "ab":
            self._check_spread([each.at for each in self.admitted if each.key == key], 2 * LIMIT)

    def _check_spread(self, at: Sequence[int], limit: int) -> None:
        gaps = [later - earlier for earlier, later in zip(at, at[limit:], strict=False)]
        assert all(gap >= WINDOW for gap in gaps)

    def teardown(self) -> None:
        if self.away:
            self.server.start()
        self.runner.run(self._close())
        self.runner.close()

    def _expected(self, worker: int, key: str, count: int) -> list[Decision]:
        """Returns the model's decisions: the worker's own window, and with Redis the shared one."""
        own, expected = self.own[worker], list[Decision]()
        # Requests that wait for Redis have slots of the worker's own, which those get back that it refuses.
        left = own.left(key, self.now)
        for number in range(count):
            if number >= left:
                expected.append(self._remembered(own.end(key, self.now)))
            elif self.away or self.shared.left(key, self.now):
                expected.append(self._admit(worker, key))
            else:
                expected.append(self.shared.check(key, self.now))
                self.known[worker][key] = self.shared.end(key, self.now)
        return expected

    def _admit(self, worker: int, key: str) -> Decision:
        """Returns the model's decision on a request whose worker remembers no refusal, and counts it."""
        own = self.own[worker].check(key, self.now)
        shared = own if self.away else self.shared.check(key, self.now)
        if own.admitted:
            by = f"worker {worker} alone {self.outages}" if self.away else f"Redis {self.outages}"
            self.admitted.append(Admitted(key, self.now, worker, by))
        return own if own.remaining < shared.remaining else shared

    def _remembered(self, end: int) -> Decision:
        return Decision(False, LIMIT, 0, -(-(end - self.now) // SECOND), remembered=True)

    def _know_refusals(self, key: str, decisions: Sequence[Sequence[Decision]]) -> None:
        """Notes the refusals by Redis, which the workers now remember."""
        for worker in WORKERS:
            if any(not each.admitted and not each.remembered for each in decisions[worker]):
                self.known[worker][key] = self.shared.end(key, self.now)

    async def _checks(self, worker: int, key: str, count: int) -> list[Decision]:
        return await asyncio.gather(*(self.windows[worker].check(key, LIMIT) for _ in range(count)))

    async def _race(self, key: str, counts: Sequence[int]) -> list[list[Decision]]:
        return await asyncio.gather(*(self._checks(worker, key, counts[worker]) for worker in WORKERS))

    async def _found(self) -> None:
        """Waits until each worker has a new connection with an answer of Redis."""
        for window in self.windows:
            await until_shared(window)

    async def _close(self) -> None:
        for window in self.windows:
            await window.__aexit__()


def test_no_decision_differs_from_the_plainest_window(own_valkey: Valkey) -> None:
    """Workers together admit at most the limit with Redis, and each at most the limit without.

    Without Redis a worker refuses a request only after admitting the limit of its key by itself.
    """

    class Here(Limiter):
        server = own_valkey

    run_state_machine_as_test(Here, settings=BOUNDED)
