"""The shared window, on a real server."""

import asyncio
import time
from contextlib import AsyncExitStack

import pytest
import redis
from structlog.testing import capture_logs

from quotecast.limits.calls import MAX_BATCH
from quotecast.limits.decision import Decision
from quotecast.limits.window import Window
from support.made.windows import PATIENCE, admitted
from support.runs.deadlines import scaled
from support.servers.processes import Valkey

pytestmark = pytest.mark.usefixtures("patient_redis")


def as_user(server: Valkey, prefix: str) -> str:
    """Returns the URL of a Redis user with access to one prefix only."""
    with redis.Redis.from_url(server.url) as client:
        client.acl_setuser("app", enabled=True, passwords=["+pass"], keys=[f"{prefix}:*"], commands=["+@all"])
    return f"unix://app@{server.socket}?password=pass"


async def test_two_workers_together_admit_exactly_the_limit(redis_url: str) -> None:
    """The order of the workers does not matter: they share one count."""
    async with (
        Window(redis_url, prefix="t", budget=PATIENCE) as one,
        Window(redis_url, prefix="t", budget=PATIENCE) as other,
    ):
        rounds = [admitted(worker, "key", 120, 30) for worker in (one, other) for _ in range(5)]
        assert sum(await asyncio.gather(*rounds)) == 120
        assert one.statistics().fallbacks == other.statistics().fallbacks == 0


async def test_checks_of_one_turn_go_in_one_call_and_keep_their_order(redis_url: str) -> None:
    """One key twice means two requests, in the order of their checks."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        decisions = await asyncio.gather(
            *(window.check("key", 3) for _ in range(5)), window.check("other", 9)
        )
        assert [decision.remaining for decision in decisions] == [2, 1, 0, 0, 0, 8]
        assert [decision.admitted for decision in decisions] == [True, True, True, False, False, True]
        assert {decision.reset for decision in decisions} == {60}
        assert window.statistics().calls == 1


async def test_an_answer_that_came_while_the_loop_was_held_up_counts(redis_url: str) -> None:
    """A blocked loop runs its timers before it reads answers; it must not blame Redis."""
    async with Window(redis_url, prefix="t", budget=0.5) as window:
        asked = asyncio.create_task(window.check("key", 3))
        # Enough turns for the command to be on its way, far too few for the budget to be spent.
        for _ in range(10):
            await asyncio.sleep(0)
        time.sleep(1)  # noqa: ASYNC251 - this is what holds the loop up
        with redis.Redis.from_url(redis_url) as client:
            client.ping()  # answered after the check, which came first
        assert (await asked).remaining == 2
        assert window.statistics().failures == 0


async def test_a_call_has_a_bound(redis_url: str) -> None:
    """One worker's burst does not block Redis for long."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        assert await admitted(window, "key", 1000, MAX_BATCH + 1) == MAX_BATCH + 1
        assert window.statistics().calls == 2


async def test_a_remembered_refusal_costs_no_call(redis_url: str) -> None:
    """The worker answers a client far over its limit by itself, with the right numbers."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        await admitted(window, "key", 2, 3)
        calls = window.statistics().calls
        refused = Decision(admitted=False, limit=2, remaining=0, reset=60, remembered=True)
        assert await window.check("key", 2) == refused
        assert window.statistics().calls == calls
        assert window.statistics().remembered == 2


async def test_slots_free_one_by_one_as_requests_leave_the_window(redis_url: str) -> None:
    """In real time: never more than the limit in a second, and the slots of each second are used."""
    spans: list[tuple[float, float]] = []
    async with Window(redis_url, prefix="t", seconds=1, budget=PATIENCE) as window:
        while len(spans) < 9:
            asked = time.monotonic()
            if (await window.check("key", 4)).admitted:
                spans.append((asked, time.monotonic()))
            await asyncio.sleep(0)
    assert all(spans[i + 4][1] - spans[i][0] >= 1 for i in range(len(spans) - 4))


async def test_keys_are_short_tagged_and_expire(redis_url: str) -> None:
    """A long key is hashed, the tag names one of 16 shards, and every key expires."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        await asyncio.gather(window.check("x" * 5000, 9), window.check("x" * 5001, 9), window.check("y", 9))
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        keys = client.keys()
        lives = [client.pttl(key) for key in keys]
    assert len(keys) == 3
    assert all(key.startswith("t:{limits:") and key[12:14] == "}:" and len(key) < 120 for key in keys)
    assert all(0 < life <= 60_000 for life in lives)


async def test_access_by_prefix_is_enough_for_a_shared_limit(own_valkey: Valkey) -> None:
    """A Redis user of one installation has access to keys of its prefix only."""
    async with AsyncExitStack() as stack:
        url = as_user(own_valkey, "t")
        one, other = [
            await stack.enter_async_context(Window(url, prefix="t:logins", budget=10)) for _ in range(2)
        ]
        assert [await admitted(worker, "key", 5, 3) for worker in (one, other)] == [3, 2]
        await one.give_back("key")
        assert await admitted(other, "new", 5, 3) == 3
        assert one.statistics().failures == other.statistics().failures == 0


async def test_a_lasting_failure_is_logged_once_a_minute_with_its_cause(own_valkey: Valkey) -> None:
    """Here Redis answers every probe and refuses every call."""
    now = 0
    url = as_user(own_valkey, "else")
    with capture_logs() as logs:
        async with Window(url, prefix="t", budget=10, pause=0.001, clock=lambda: now) as window:
            for minute in range(2):
                now = minute * 61_000_000_000
                until = window.statistics().openings + 5
                async with asyncio.timeout(scaled(30)):
                    while window.statistics().openings < until:
                        await window.check("key", 10**9)
                        await asyncio.sleep(0.001)
    warnings = [each for each in logs if each["log_level"] == "warning"]
    assert len(warnings) == 2
    assert all("NoPermissionError" in each["error"] for each in warnings)
    assert not [each for each in logs if each["log_level"] == "info"]


@pytest.mark.parametrize("key", ["gümüş", "\ud800", "", "a b\r\n{c}"])
async def test_any_text_is_a_key(redis_url: str, key: str) -> None:
    """Such a key fails neither its own request nor others in the same call."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        assert [await admitted(window, text, 2, 3) for text in (key, "plain")] == [2, 2]
        assert window.statistics().fallbacks == 0


async def test_a_lost_script_costs_no_decision(redis_url: str) -> None:
    """The worker loads the script again after SCRIPT FLUSH, and counts each check once."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        with redis.Redis.from_url(redis_url) as client:
            assert await admitted(window, "key", 5, 3) == 3
            client.script_flush()
        assert await admitted(window, "key", 5, 3) == 2
        assert window.statistics().fallbacks == 0


async def test_lost_data_lets_no_worker_exceed_the_limit(redis_url: str) -> None:
    """After FLUSHALL each worker still counts the requests that it admitted itself."""
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(Window(redis_url, prefix="t", budget=10)) for _ in range(2)
        ]
        with redis.Redis.from_url(redis_url) as client:
            assert await admitted(one, "key", 5, 3) == 3
            client.flushall()
        assert (await one.check("key", 5)).remaining == 1
        assert await admitted(one, "key", 5, 6) == 1
        assert await admitted(other, "key", 5, 6) == 3
        assert one.statistics().fallbacks == other.statistics().fallbacks == 0


async def test_slot_that_is_given_back_is_free_at_all_workers(redis_url: str) -> None:
    """The slot is free once, even at a worker that was full of its own requests."""
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(Window(redis_url, prefix="t", budget=10)) for _ in range(2)
        ]
        assert await admitted(one, "key", 3, 4) == 3
        await one.give_back("key")
        assert [(await window.check("key", 3)).admitted for window in (other, one)] == [True, False]
        await one.give_back("nothing")


async def test_refusal_is_not_remembered_where_others_forget_keys(redis_url: str) -> None:
    """The other worker's `forget` takes effect at once, even at a worker that was full."""
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(Window(redis_url, prefix="t", budget=10, forgetful=True))
            for _ in range(2)
        ]
        assert await admitted(one, "key", 3, 4) == 3
        await other.forget("key")
        assert await admitted(one, "key", 3, 4) == 3
        assert one.statistics().remembered == 0


async def test_a_script_that_fails_is_no_failure_of_the_request(redis_url: str) -> None:
    """The worker decides alone when a key is not a list."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        await window.check("key", 2)
        with redis.Redis.from_url(redis_url) as client:
            client.set(client.keys()[0], "no list")
        assert [await admitted(window, "key", 2, 1) for _ in range(3)] == [1, 0, 0]
        assert window.statistics().fallbacks == 1


async def test_a_request_that_was_given_up_does_not_disturb_the_others(redis_url: str) -> None:
    """The client disconnected during the call."""
    async with Window(redis_url, prefix="t", budget=PATIENCE) as window:
        gone = asyncio.create_task(window.check("key", 5))
        stays = asyncio.create_task(window.check("key", 5))
        await asyncio.sleep(0)
        gone.cancel()
        assert (await stays).admitted
        assert (await window.check("key", 5)).admitted
        assert window.statistics().fallbacks == 0
