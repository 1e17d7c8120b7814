"""Tickets and places of sockets, on a real Valkey."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

import pytest
import redis
from redis import asyncio as aioredis

from quotecast.access import key_text
from quotecast.access.shared import LEASE_SECONDS, RENEW_SECONDS, TICKET_SECONDS, SharedAccess, TicketsAway
from support.runs.deadlines import scaled
from support.servers.processes import Valkey

pytestmark = pytest.mark.usefixtures("patient_redis")

KEY: Final = "01a1fc87e0c47a905dd5d088"
OTHER: Final = "01a1fc87e0c47a905dd5d089"
PLACES: Final = f"t:sockets:{KEY}"
#: Seconds that a busy machine may take for a call of Redis.
PATIENCE: Final = 5.0


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[aioredis.Redis]:
    async with aioredis.Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


@pytest.fixture
async def workers(redis_url: str) -> AsyncIterator[list[SharedAccess]]:
    """Yields the access of two workers."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(SharedAccess(redis_url, "t", budget=PATIENCE)) for _ in range(2)
        ]


async def test_ticket_works_once_on_any_worker(workers: list[SharedAccess]) -> None:
    """Of concurrent uses one has the key."""
    ticket = key_text.new_ticket()
    await workers[0].add_ticket(ticket, KEY)
    uses = [workers[number % 2].use_ticket(ticket) for number in range(20)]
    assert sorted(filter(None, await asyncio.gather(*uses))) == [KEY]
    assert await workers[1].use_ticket(ticket) is None
    assert await workers[1].use_ticket(key_text.new_ticket()) is None


async def test_ticket_ends_after_thirty_seconds(workers: list[SharedAccess], client: aioredis.Redis) -> None:
    """Redis holds a digest of the ticket, with the end of its life."""
    ticket = key_text.new_ticket()
    await workers[0].add_ticket(ticket, KEY)
    (name,) = await client.keys("*")
    assert ticket not in name
    assert name == f"t:ticket:{key_text.digest(ticket)}"
    assert 0 < await client.pttl(name) <= TICKET_SECONDS * 1000 == 30_000
    await client.pexpire(name, 1)
    await asyncio.sleep(0.01)
    assert await workers[0].use_ticket(ticket) is None


async def test_places_are_counted_over_all_workers(workers: list[SharedAccess]) -> None:
    """Concurrent sockets do not exceed the bound; another key has places of its own."""
    taking = [workers[number % 2].take_place(KEY, f"{number}", 5) for number in range(20)]
    taken = await asyncio.gather(*taking)
    assert sum(taken) == 5
    assert not await workers[0].take_place(KEY, "one more", 5)
    assert await workers[0].take_place(OTHER, "another key", 5)
    left = taken.index(True)
    await workers[left % 2].leave_place(KEY, f"{left}")
    assert await workers[1].take_place(KEY, "in its place", 5)
    assert not await workers[0].take_place(KEY, "one more", 5)


async def test_refused_socket_leaves_nothing_behind(
    workers: list[SharedAccess], client: aioredis.Redis
) -> None:
    assert await workers[0].take_place(KEY, "a", 1)
    assert not await workers[1].take_place(KEY, "b", 1)
    await workers[1].renew()
    assert await client.zrange(PLACES, 0, -1) == ["a"]
    await workers[0].leave_place(KEY, "a")
    await workers[0].leave_place(KEY, "unknown")
    assert await client.keys("*") == []


async def test_client_that_leaves_while_it_waits_keeps_no_place(
    workers: list[SharedAccess], client: aioredis.Redis
) -> None:
    """What Redis counted ends with its lease: no renewal prolongs it."""
    waiting = asyncio.create_task(workers[0].take_place(KEY, "a", 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await client.delete(PLACES)
    await workers[0].renew()
    assert await workers[0].take_place(KEY, "b", 1)


async def test_places_of_a_crashed_worker_end(workers: list[SharedAccess], client: aioredis.Redis) -> None:
    """A lease outlasts two missed renewals; the next socket of the key removes the leases that ended."""
    crashed, living = workers
    assert await crashed.take_place(KEY, "a", 2)
    assert await living.take_place(KEY, "b", 2)
    assert RENEW_SECONDS * 2 < LEASE_SECONDS
    assert 0 < await client.pttl(PLACES) <= LEASE_SECONDS * 1000
    now = time.time() * 1000
    assert await client.zscore(PLACES, "a") == pytest.approx(now + LEASE_SECONDS * 1000, abs=30_000)
    # As if the leases had passed: the living worker renews its own.
    await client.zadd(PLACES, {"a": now - 1, "b": now - 1})
    await living.renew()
    assert await living.take_place(KEY, "c", 2)
    assert not await living.take_place(KEY, "d", 2)
    assert set(await client.zrange(PLACES, 0, -1)) == {"b", "c"}


async def test_places_end_when_all_workers_crashed(
    workers: list[SharedAccess], client: aioredis.Redis
) -> None:
    assert await workers[0].take_place(KEY, "a", 1)
    await client.pexpire(PLACES, 1)
    await asyncio.sleep(0.01)
    assert await workers[1].take_place(KEY, "b", 1)


async def test_renewal_restores_what_redis_lost(workers: list[SharedAccess], client: aioredis.Redis) -> None:
    """Many sockets are renewed in several calls."""
    names = [f"{number}" for number in range(1100)]
    assert all(await asyncio.gather(*(workers[0].take_place(KEY, name, 2000) for name in names)))
    await client.flushall()
    await workers[0].renew()
    assert await client.zcard(PLACES) == len(names)
    assert await client.pttl(PLACES) > 0
    assert not await workers[1].take_place(KEY, "one more", len(names))


async def test_socket_without_redis_is_counted_alone(own_valkey: Valkey) -> None:
    """Each call answers within its budget; tickets are away, and no call about places raises."""
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(SharedAccess(own_valkey.url, "t", budget=0.25)) for _ in range(2)
        ]
        ticket = key_text.new_ticket()
        assert await workers[0].take_place(KEY, "before", 2)
        own_valkey.freeze()
        async with asyncio.timeout(scaled(2)):
            with pytest.raises(TicketsAway):
                await workers[0].use_ticket(ticket)
        own_valkey.thaw()
        await asyncio.to_thread(own_valkey.kill)
        for worker in workers:
            with pytest.raises(TicketsAway):
                await worker.add_ticket(ticket, KEY)
            with pytest.raises(TicketsAway):
                await worker.use_ticket(ticket)
        alone = [[await worker.take_place(KEY, f"{number}", 2) for number in range(3)] for worker in workers]
        assert alone == [[True, False, False], [True, True, False]]
        await workers[0].renew()
        await workers[0].leave_place(KEY, "0")
        assert await workers[0].take_place(KEY, "again", 2)


async def test_sockets_of_an_outage_are_counted_together_after_it(own_valkey: Valkey) -> None:
    """The worker renews them as soon as Redis answers; tickets work again."""
    async with SharedAccess(own_valkey.url, "t", budget=PATIENCE) as worker:
        await asyncio.to_thread(own_valkey.kill)
        for number in range(3):
            assert await worker.take_place(KEY, f"{number}", 5)
        await asyncio.to_thread(own_valkey.start)
        ticket = key_text.new_ticket()
        async with asyncio.timeout(scaled(10)):
            await until_added(worker, ticket)
        assert await worker.use_ticket(ticket) == KEY
        await worker.renew()
        async with SharedAccess(own_valkey.url, "t", budget=PATIENCE) as other:
            assert not await other.take_place(KEY, "one more", 3)
            assert await other.take_place(KEY, "one more", 4)


async def until_added(worker: SharedAccess, ticket: str) -> None:
    while True:
        try:
            return await worker.add_ticket(ticket, KEY)
        except TicketsAway:
            await asyncio.sleep(0.05)


async def test_worker_starts_without_redis(own_valkey: Valkey) -> None:
    own_valkey.kill()
    async with SharedAccess(own_valkey.url, "t") as worker:
        with pytest.raises(TicketsAway):
            await worker.add_ticket(key_text.new_ticket(), KEY)
        assert await worker.take_place(KEY, "a", 1)


def test_names_of_two_installations_differ(redis_url: str) -> None:
    """Several installations may share a Redis."""

    async def use() -> None:
        async with (
            SharedAccess(redis_url, "one", budget=PATIENCE) as one,
            SharedAccess(redis_url, "two", budget=PATIENCE) as two,
        ):
            ticket = key_text.new_ticket()
            await one.add_ticket(ticket, KEY)
            assert await two.use_ticket(ticket) is None
            assert await one.take_place(KEY, "a", 1)
            assert await two.take_place(KEY, "a", 1)

    asyncio.run(use())
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        assert {name.partition(":")[0] for name in client.keys("*")} == {"one", "two"}
