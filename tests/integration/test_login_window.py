"""The window of login attempts, shared by workers through Redis."""

import asyncio
import time
from contextlib import AsyncExitStack

from quotecast.api.logins import PER_ACCOUNT, PER_ADDRESS, WINDOW_SECONDS, LoginWindow
from quotecast.errors import TooManyRequests
from quotecast.limits.window import Window
from servers import Valkey

EMAIL = "ayse@example.com"
HOME = "198.51.100.7"


async def worker(stack: AsyncExitStack, url: str) -> tuple[LoginWindow, Window]:
    window = await stack.enter_async_context(
        Window(url, prefix="t:logins", seconds=WINDOW_SECONDS, forgetful=True)
    )
    return LoginWindow(window.check, window.forget), window


async def may(logins: LoginWindow, address: str = HOME) -> bool:
    try:
        await logins.attempt(EMAIL, address)
    except TooManyRequests:
        return False
    return True


async def test_workers_count_the_same_attempts(redis_url: str) -> None:
    """Which of them is asked makes no difference; elsewhere nobody is kept out."""
    async with AsyncExitStack() as stack:
        one, other = [(await worker(stack, redis_url))[0] for _ in range(2)]
        attempts = [may(worker) for worker in (one, other) for _ in range(PER_ADDRESS)]
        assert sum(await asyncio.gather(*attempts)) == PER_ADDRESS
        assert not await may(one)
        assert not await may(other)
        assert await may(other, "203.0.113.1")


async def test_success_at_one_worker_is_forgotten_at_all(redis_url: str) -> None:
    """Its own attempts and those of an attack."""
    async with AsyncExitStack() as stack:
        one, other = [(await worker(stack, redis_url))[0] for _ in range(2)]
        for number in range(PER_ACCOUNT):
            assert await may(one, f"203.0.113.{number}")
        assert await may(one)
        assert not await may(one)
        await one.succeeded(EMAIL, HOME)
        for each in (one, other):
            assert await may(each)
        assert sum([await may(other) for _ in range(PER_ADDRESS)]) == PER_ADDRESS - 2


async def test_refusal_ends_with_a_success_at_any_worker(redis_url: str) -> None:
    """The window is empty, and no worker remembers it as full."""
    async with AsyncExitStack() as stack:
        workers = [(await worker(stack, redis_url))[0] for _ in range(2)]
        for succeeding in workers:
            for each in workers:
                while await may(each):
                    pass
            await succeeding.succeeded(EMAIL, HOME)
            assert [await may(each) for each in workers] == [True, True]


async def test_forgetting_is_not_held_up_by_a_frozen_redis(own_valkey: Valkey) -> None:
    """Whoever has the right password comes in; nothing is raised."""
    async with AsyncExitStack() as stack:
        logins, window = await worker(stack, own_valkey.url)
        assert await may(logins)
        own_valkey.freeze()
        began = time.monotonic()
        await logins.succeeded(EMAIL, HOME)
        # Two keys of 50 ms each, and what a busy machine adds.
        assert time.monotonic() - began < 0.5
        own_valkey.thaw()
        assert await may(logins)
        assert window.statistics().fallbacks == 0


async def test_no_answer_to_forgetting_is_taken_for_another(own_valkey: Valkey) -> None:
    """What comes too late is not read as the answer to the next question."""
    async with AsyncExitStack() as stack:
        _, window = await worker(stack, own_valkey.url)
        assert (await window.check("key", 5)).remaining == 4
        own_valkey.freeze()
        await asyncio.gather(*(window.forget("key") for _ in range(5)))
        own_valkey.thaw()
        decisions = [await window.check("other", 5) for _ in range(5)]
        assert [decision.remaining for decision in decisions] == [4, 3, 2, 1, 0]
        assert window.statistics().fallbacks == 0


async def test_without_redis_a_worker_counts_alone_and_forgets_alone(own_valkey: Valkey) -> None:
    """As many attempts, never more, never a failure."""
    async with AsyncExitStack() as stack:
        logins, _ = await worker(stack, own_valkey.url)
        own_valkey.kill()
        for _ in range(2):
            assert [await may(logins) for _ in range(PER_ADDRESS)] == [True] * PER_ADDRESS
            assert not await may(logins)
            await logins.succeeded(EMAIL, HOME)


async def test_a_lone_redis_that_comes_back_is_asked_again(own_valkey: Valkey) -> None:
    """What was counted alone is not what all count; none of it raises."""
    async with AsyncExitStack() as stack:
        logins, window = await worker(stack, own_valkey.url)
        own_valkey.kill()
        assert await may(logins)
        await logins.succeeded(EMAIL, HOME)
        await asyncio.to_thread(own_valkey.start)
        while window._recovering:
            await asyncio.gather(window._recovering)
        before = window.statistics().fallbacks
        assert await may(logins)
        assert window.statistics().fallbacks == before
