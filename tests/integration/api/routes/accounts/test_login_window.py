"""The window of login attempts, shared by workers through Redis."""

import asyncio
from contextlib import AsyncExitStack

import pytest
import redis

from quotecast.api.accounts.logins import PER_ACCOUNT, PER_CLIENT, WINDOW_SECONDS, Attempt, LoginWindow
from quotecast.errors import TooManyRequests
from quotecast.limits.window import Window
from support.servers.processes import Valkey
from support.stages.account_service import SECRET

pytestmark = pytest.mark.usefixtures("patient_redis")

EMAIL = "ayse@example.com"
HOME = "198.51.100.7"


async def worker(stack: AsyncExitStack, url: str, budget: float = 10) -> tuple[LoginWindow, Window]:
    """Returns a worker's window, with a generous deadline for Redis."""
    window = await stack.enter_async_context(
        Window(url, prefix="t:logins", seconds=WINDOW_SECONDS, budget=budget, forgetful=True)
    )
    return LoginWindow(window, SECRET), window


async def begun(logins: LoginWindow) -> Attempt:
    """Returns an admitted attempt whose password is not checked yet."""
    attempt = logins.attempt(EMAIL)
    await attempt.count_address(HOME)
    return attempt


async def may(logins: LoginWindow, address: str = HOME) -> bool:
    try:
        await logins.attempt(EMAIL).count_address(address)
    except TooManyRequests:
        return False
    return True


async def test_workers_count_the_same_attempts(redis_url: str) -> None:
    """Workers share the count of attempts."""
    async with AsyncExitStack() as stack:
        one, other = [(await worker(stack, redis_url))[0] for _ in range(2)]
        attempts = [may(worker) for worker in (one, other) for _ in range(PER_CLIENT)]
        assert sum(await asyncio.gather(*attempts)) == PER_CLIENT
        assert not await may(one)
        assert not await may(other)
        assert await may(other, "203.0.113.1")


async def test_attempts_of_all_addresses_are_counted_together(redis_url: str) -> None:
    """Attempts of all addresses count together over both workers, without successes."""
    async with AsyncExitStack() as stack:
        workers = [(await worker(stack, redis_url))[0] for _ in range(2)]
        for each in workers:
            await (await begun(each)).succeed()
        tried = [await may(workers[n % 2], f"203.0.113.{n}") for n in range(3 * PER_ACCOUNT)]
        assert tried == [True] * PER_ACCOUNT + [False] * 2 * PER_ACCOUNT


async def test_no_key_in_redis_holds_an_email(redis_url: str) -> None:
    """Neither that of the account nor that of the client."""
    async with AsyncExitStack() as stack:
        assert await may((await worker(stack, redis_url))[0])
    with redis.Redis.from_url(redis_url) as client:
        keys = client.keys()
    assert len(keys) == 2
    assert not any(word in key for key in keys for word in (b"ayse", b"example", b"@"))


async def test_refusal_ends_with_a_success_at_any_worker(redis_url: str) -> None:
    """A success resets the window for every worker."""
    async with AsyncExitStack() as stack:
        workers = [(await worker(stack, redis_url))[0] for _ in range(2)]
        for succeeding in workers:
            attempt = await begun(succeeding)
            for each in workers:
                while await may(each):
                    pass
            await attempt.succeed()
            assert [await may(each) for each in workers] == [True, True]


async def test_forgetting_is_not_held_up_by_a_frozen_redis(own_valkey: Valkey) -> None:
    """A success waits no longer than the budget: not until Redis thaws."""
    async with AsyncExitStack() as stack:
        logins, _ = await worker(stack, own_valkey.url, budget=0.05)
        attempt = await begun(logins)
        own_valkey.freeze()
        await attempt.succeed()
        own_valkey.thaw()
        assert await may(logins)


async def test_no_answer_to_forgetting_is_taken_for_another(own_valkey: Valkey) -> None:
    """A late reply is not read as the reply to the next command."""
    async with AsyncExitStack() as stack:
        _, window = await worker(stack, own_valkey.url)
        assert (await window.check("key", 5)).remaining == 4
        own_valkey.freeze()
        forgetting = [asyncio.create_task(window.forget("key")) for _ in range(5)]
        # Turns enough for the commands to be written; the budget would cancel them in the same way.
        for _ in range(10):
            await asyncio.sleep(0)
        for each in forgetting:
            each.cancel()
        await asyncio.wait(forgetting)
        own_valkey.thaw()
        decisions = [await window.check("other", 5) for _ in range(5)]
        assert [decision.remaining for decision in decisions] == [4, 3, 2, 1, 0]
        assert window.statistics().fallbacks == 0


async def test_without_redis_a_worker_counts_alone_and_forgets_alone(own_valkey: Valkey) -> None:
    """Without Redis a worker counts alone, without an error."""
    async with AsyncExitStack() as stack:
        logins, _ = await worker(stack, own_valkey.url)
        own_valkey.kill()
        for _ in range(2):
            attempt = await begun(logins)
            assert [await may(logins) for _ in range(PER_CLIENT)] == [True] * (PER_CLIENT - 1) + [False]
            await attempt.succeed()


async def test_a_lone_redis_that_comes_back_is_asked_again(own_valkey: Valkey) -> None:
    """A worker uses Redis again once it is back."""
    async with AsyncExitStack() as stack:
        logins, window = await worker(stack, own_valkey.url)
        own_valkey.kill()
        await (await begun(logins)).succeed()
        await asyncio.to_thread(own_valkey.start)
        while window._breaker._probing and not window._breaker._probing.done():
            await asyncio.gather(window._breaker._probing)
        before = window.statistics().fallbacks
        assert await may(logins)
        assert window.statistics().fallbacks == before
