"""Workers limit alone during an outage of Redis, and together again after it."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from quotecast.limits.decision import Decision
from quotecast.limits.window import Window
from quotecast.redis.breaker import FAILURES_TO_OPEN
from support.made.windows import PATIENCE, admitted, until_shared
from support.servers.processes import Valkey

pytestmark = pytest.mark.usefixtures("patient_redis")


@pytest.mark.parametrize("lost", [True, False], ids=["data lost", "no data lost"])
async def test_outage_adds_nothing_at_its_edges(own_valkey: Valkey, *, lost: bool) -> None:
    """Two workers admit at most twice the limit: before, during and after the outage together."""
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(Window(own_valkey.url, prefix="t", pause=0.01)) for _ in range(2)
        ]
        before = [await admitted(worker, "key", 6, 3) for worker in workers]
        if lost:
            await asyncio.to_thread(own_valkey.kill)
        else:
            own_valkey.freeze()
        during = [await admitted(worker, "key", 6, 8) for worker in workers]
        if lost:
            await asyncio.to_thread(own_valkey.start)
        else:
            own_valkey.thaw()
        for worker in workers:
            await until_shared(worker)
        after = [await admitted(worker, "key", 6, 8) for worker in workers]
        assert (before, during, after) == ([3, 3], [3, 3], [0, 0])


async def test_killed_redis_is_replaced_within_the_call(own_valkey: Valkey) -> None:
    """Requests are neither refused for the outage nor admitted beyond the limit, and none raises."""
    async with Window(own_valkey.url, prefix="t") as window:
        assert (await window.check("key", 5)).remaining == 4
        own_valkey.kill()
        decisions = [await window.check("key", 5) for _ in range(6)]
        assert Counter(decision.admitted for decision in decisions) == {True: 4, False: 2}
        assert window.statistics().openings == 1


async def test_a_worker_starts_without_redis_and_finds_it_later(own_valkey: Valkey) -> None:
    """It limits alone until a probe succeeds, then together with the others."""
    own_valkey.kill()
    async with Window(own_valkey.url, prefix="t", budget=PATIENCE, pause=0.02) as window:
        assert await admitted(window, "key", 3, 5) == 3
        assert window.statistics().calls == 0
        own_valkey.start()
        await until_shared(window)
        fallbacks = window.statistics().fallbacks
        assert [await admitted(window, key, 3, 5) for key in ("key", "new")] == [0, 3]
        assert window.statistics().fallbacks == fallbacks


async def test_frozen_redis_holds_nobody_up_once_it_was_given_up(own_valkey: Valkey) -> None:
    """Three calls use up their budget; after that the worker decides alone, and Redis has probes only."""
    async with Window(own_valkey.url, prefix="t", budget=0.05, pause=0.01) as window:
        await window.check("key", 10**6)
        own_valkey.freeze()
        while not window.statistics().alone:
            await window.check("key", 10**6)
        calls, failures = window.statistics().calls, window.statistics().failures
        for _ in range(500):
            # Decided at once: nothing waits for Redis.
            assert isinstance(window.decide("key", 10**6), Decision)
            await asyncio.sleep(0)
        assert (window.statistics().calls, window.statistics().failures) == (calls, failures)
        assert failures >= FAILURES_TO_OPEN
        own_valkey.thaw()
        await until_shared(window)
        assert window.statistics().calls > calls


async def test_who_waited_behind_a_failing_call_is_decided_with_it(own_valkey: Valkey) -> None:
    """No request waits for two budgets."""
    async with Window(own_valkey.url, prefix="t", budget=1) as window:
        await window.check("key", 9)
        decided_alone = window.statistics().fallbacks
        own_valkey.freeze()
        first = asyncio.create_task(window.check("key", 9))
        await asyncio.sleep(0)  # the check is made
        await asyncio.sleep(0)  # and its call sent
        assert window.statistics().calls == 2
        second = asyncio.create_task(window.check("key", 9))
        await asyncio.gather(first, second)
        assert window.statistics().calls == 2
        assert window.statistics().fallbacks == decided_alone + 2


async def test_a_restarted_redis_is_used_again_at_once(own_valkey: Valkey) -> None:
    """A dead connection costs at most one call."""
    async with Window(own_valkey.url, prefix="t", budget=PATIENCE) as window:
        await window.check("key", 9)
        own_valkey.kill()
        own_valkey.start()
        await window.check("key", 9)
        fallbacks = window.statistics().fallbacks
        assert (await window.check("key", 9)).admitted
        assert window.statistics().fallbacks == fallbacks <= 1


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "unix:///nowhere/at/all.sock"])
async def test_an_address_where_nobody_answers_is_a_redis_that_is_away(url: str) -> None:
    """The worker starts, and limits alone."""
    async with Window(url, prefix="t") as window:
        assert await admitted(window, "key", 2, 3) == 2
        assert window.statistics().openings == 1
