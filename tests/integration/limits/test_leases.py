"""Leases of hot keys, on a real server: four workers against the definition of a sliding window."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
import redis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from quotecast.limits.decision import Decision
from quotecast.limits.fallback import SECOND
from quotecast.limits.window import FEWEST_SLOTS, LEASE, LEAST_LIMIT, MARGIN, Window
from support.made.windows import PATIENCE, admitted
from support.runs.waits import until

pytestmark = pytest.mark.usefixtures("patient_redis")

LIMIT = 8
WINDOW = 60 * SECOND
WORKERS = 4
MILLISECOND = SECOND // 1000


class Step(NamedTuple):
    """Requests at one worker after `wait`; a call takes `before` until the script runs, and `after`."""

    wait: int
    before: int
    after: int
    worker: int
    requests: int
    event: str


steps = st.builds(
    Step,
    wait=st.sampled_from([0, 0, 1, 40 * MILLISECOND, 80 * MILLISECOND]),
    before=st.sampled_from([0, 0, 0, 40 * MILLISECOND]),
    after=st.sampled_from([0, 0, 0, 40 * MILLISECOND]),
    worker=st.sampled_from([0, 0, 0, 1, 2, 3]),
    requests=st.integers(1, 4),
    event=st.sampled_from(["none"] * 16 + ["end", "crash", "clock"]),
)
#: Bursts, and the time before each: it ends around that at which the burst before it leaves the window.
bursts = st.lists(
    st.tuples(
        st.sampled_from([SECOND, *(WINDOW - early * MILLISECOND for early in (300, 200, 100, 50, 0))]),
        st.lists(steps, min_size=3, max_size=9),
    ),
    min_size=2,
    max_size=4,
)


class Clocked:
    """The shipped script with fewer slots, on a server whose clock the test sets."""

    def __init__(self, window: Window, model: "Model") -> None:
        self._model = model
        source = window._source
        for shipped, small in (
            ("redis.call('TIME')", "{ARGV[#ARGV - 1], ARGV[#ARGV]}"),
            ("PART = 16", "PART = 2"),
            ("LEAST_FREE = 1024", "LEAST_FREE = 2"),
        ):
            assert source.count(shipped) == 1
            source = source.replace(shipped, small)
        self._script = model.client.register_script(source)

    async def __call__(self, names: Sequence[bytes], given: Sequence[Any]) -> Any:
        model = self._model
        model.now += model.before
        model.asked_at = model.now
        clock = (model.now + model.server) // 1000
        answer = self._script(names, [*given, *divmod(clock, 1_000_000)])
        model.now += model.after
        return answer


class Model:
    """Four workers, whose clocks have different origins, and the times of all admitted requests."""

    def __init__(self, url: str, client: redis.Redis) -> None:
        self._url = url
        self.client = client
        self.now = self.before = self.after = self.asked_at = 0
        self.server = 1_700_000_000 * SECOND
        self.admitted: list[int] = []
        self.windows = [self._worker(number) for number in range(WORKERS)]

    def _worker(self, number: int) -> Window:
        origin = number * 1000 * SECOND
        # A budget that no loaded machine exceeds.
        window = Window(self._url, prefix="t", budget=10, clock=lambda: self.now + origin, leasing=True)
        window._calls.script = Clocked(window, self)
        # Leases end by the test's clock, and are given back when a step says so.
        window._end_lease = lambda _: None  # type: ignore[assignment,method-assign]
        return window

    async def close(self) -> None:
        for window in self.windows:
            await window.__aexit__()

    async def ask(self, number: int, count: int) -> None:
        window = self.windows[number]
        fallbacks = window.statistics().fallbacks
        found = [window.decide("key", LIMIT) for _ in range(count)]
        self.admitted += [self.now for each in found if isinstance(each, Decision) and each.admitted]
        for each in found:
            if not isinstance(each, Decision) and (await each).admitted:
                self.admitted.append(self.asked_at)
        assert window.statistics().fallbacks == fallbacks

    async def step(self, step: Step) -> None:
        self.now += step.wait
        self.before, self.after = step.before, step.after
        if step.event == "crash":
            await self.crash(step.worker)
        elif step.event == "end":
            await self.end_leases(step.worker)
        elif step.event == "clock":
            self.server -= step.requests**4 * MILLISECOND
        await self.ask(step.worker, step.requests)

    async def end_leases(self, number: int) -> None:
        """Unused slots return before the leases' time, too."""
        window = self.windows[number]
        for lease in window._leases:
            Window._end_lease(window, lease)
        await asyncio.gather(*window._returning)

    async def crash(self, number: int) -> None:
        """The worker's leases are lost with it."""
        window = self.windows[number]
        for lease in window._leases:
            lease.left = 0
        await window.__aexit__()
        self.windows[number] = self._worker(number)


@settings(
    # No shrinking of failing examples: it takes minutes.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(bursts)
def test_no_window_of_four_workers_with_leases_exceeds_the_limit(
    redis_url: str, played: list[tuple[int, list[Step]]]
) -> None:
    """Whatever the calls' times are, whoever crashes, and though Redis's clock steps back."""
    with redis.Redis.from_url(redis_url) as client, pytest.MonkeyPatch.context() as patch:
        client.flushall()
        patch.setattr("quotecast.limits.window.LEAST_LIMIT", 2)
        patch.setattr("quotecast.limits.window.FEWEST_SLOTS", 2)
        asyncio.run(_play(Model(redis_url, client), played))


async def _play(model: Model, played: list[tuple[int, list[Step]]]) -> None:
    for pause, burst in played:
        model.now += pause
        for each in burst:
            await model.step(each)
    at = sorted(model.admitted)
    assert all(later - earlier >= WINDOW for earlier, later in zip(at, at[LIMIT:], strict=False))
    # Lost leases block no key for longer than a window and a lease, after the log has followed the clock.
    count = len(model.admitted)
    for _ in range(2):
        model.now += WINDOW + LEASE
        await model.ask(0, 1)
    assert len(model.admitted) > count
    await model.close()


def leasing(url: str) -> Window:
    """Returns a worker's window whose clock stands: a slow machine makes no key less hot."""
    return Window(url, prefix="t", budget=PATIENCE, clock=lambda: 0, leasing=True)


async def asked_until_hot(window: Window, limit: int) -> list[Decision]:
    """Returns the decisions on requests one after the other, the last of which got a lease."""
    decisions = [await window.check("key", limit) for _ in range(FEWEST_SLOTS)]
    return [*decisions, await window.check("key", limit)]


def entries(url: str) -> int:
    with redis.Redis.from_url(url) as client:
        return sum(client.llen(key) for key in client.scan_iter())


async def test_a_lone_client_of_a_hot_key_sees_exact_numbers(redis_url: str) -> None:
    """Most requests need no call, and `remaining` falls by one with each."""
    async with leasing(redis_url) as window:
        decisions = [await window.check("key", 10**6) for _ in range(500)]
        statistics = window.statistics()
    assert [each.remaining for each in decisions] == [10**6 - 1 - number for number in range(500)]
    # Redis counts the seconds that pass meanwhile.
    assert all(1 <= each.reset <= 60 for each in decisions)
    assert statistics.leased > 400
    assert statistics.calls < 100
    assert statistics.fallbacks == 0


@pytest.mark.parametrize("limit", [10, 120, LEAST_LIMIT - 1])
async def test_small_limits_are_never_leased(redis_url: str, limit: int) -> None:
    """Each request is a check of Redis: no worker holds slots that another one lacks."""
    async with Window(redis_url, prefix="t", budget=10, leasing=True) as window:
        assert await admitted(window, "key", limit, limit + 5) == limit
        assert (window.statistics().leased, len(window._leases)) == (0, 0)


async def test_few_free_slots_are_not_leased(redis_url: str) -> None:
    """Near its limit a hot key is checked request by request, and the limit is used in full."""
    limit = LEAST_LIMIT + 100
    async with (
        Window(redis_url, prefix="t", budget=10, leasing=True) as one,
        Window(redis_url, prefix="t", budget=10, leasing=True) as other,
    ):
        both = [await admitted(window, "key", limit, 10) for _ in range(70) for window in (one, other)]
        for window in (one, other):
            for lease in window._leases:
                window._end_lease(lease)
            await asyncio.gather(*window._returning)
        both += [await admitted(window, "key", limit, 20) for window in (one, other)]
    assert sum(both) == limit


async def test_unused_slots_are_given_back(redis_url: str) -> None:
    """At the end of the lease, and when the worker stops."""
    async with leasing(redis_url) as window:
        asked = len(await asked_until_hot(window, 10**6))
        [lease] = window._leases
        assert entries(redis_url) == asked + lease.left > asked
        await until(lambda: entries(redis_url) <= asked)
        assert len(window._leases) == 0
        asked += len(await asked_until_hot(window, 10**6))
    assert entries(redis_url) == asked


async def test_a_lease_is_counted_from_before_its_call(redis_url: str) -> None:
    """It ends before its time in Redis, however long the answer took."""
    with redis.Redis.from_url(redis_url) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr("quotecast.limits.window.LEAST_LIMIT", 2)
        patch.setattr("quotecast.limits.window.FEWEST_SLOTS", 2)
        model = Model(redis_url, client)
        window = model.windows[0]
        model.before = model.after = 40 * MILLISECOND
        sent_at = model.now
        await model.ask(0, 3)
        assert isinstance(window.decide("key", LIMIT), Decision)
        [lease] = window._leases
        lease.left = 1
        model.now = sent_at + LEASE - MARGIN
        assert not isinstance(window.decide("key", LIMIT), Decision)
        await model.close()


async def test_a_leased_slot_is_not_given_back_for_another(redis_url: str) -> None:
    """`give_back` leaves the entries of leases: a worker may still use them."""
    async with leasing(redis_url) as window:
        # The lease does not end meanwhile.
        window._end_lease = lambda _: None  # type: ignore[assignment,method-assign]
        await asked_until_hot(window, 10**6)
        before = entries(redis_url)
        await window.give_back("key")
        assert entries(redis_url) == before
