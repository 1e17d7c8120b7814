"""The Redis bus during failures of Redis."""

import asyncio
import socket
from collections.abc import Iterator

import pytest
import redis

from quotecast.bus import wire
from quotecast.bus.calls import DEADLINE_SECONDS, within_deadline
from quotecast.bus.redis import RedisBus
from quotecast.errors import BusError
from quotecast.market.feeds import Feed
from quotecast.redis.client import connect, drop_connections
from support.made.market import state_of, stock
from support.runs.deadlines import scaled
from support.servers.fault_proxy import FaultProxy
from support.servers.processes import Valkey
from support.servers.sentinel_set import Pair, running_pair

PATIENCE_SECONDS = 10.0


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yields a master and its replica."""
    with running_pair() as running:
        yield running


@pytest.fixture
def proxy(pair: Pair) -> Iterator[FaultProxy]:
    """Yields a balancer whose address moves with the master."""
    with FaultProxy(lambda: socket.create_connection(("127.0.0.1", pair.master.port))) as running:
        yield running


async def test_a_dead_redis_is_a_bus_error(own_valkey: Valkey) -> None:
    """Every call raises BusError within its deadline."""
    bus = RedisBus(own_valkey.url, "test")
    own_valkey.kill()
    with pytest.raises(BusError):
        await bus.load(Feed.STOCKS)
    with pytest.raises(BusError):
        async with bus.listen([Feed.STOCKS]):
            pass
    await bus.close()


async def test_a_listener_learns_that_redis_died(own_valkey: Valkey) -> None:
    """The subscription raises instead of staying silent for ever."""
    bus = RedisBus(own_valkey.url, "test")
    async with bus.listen([Feed.STOCKS]) as messages:
        own_valkey.kill()
        with pytest.raises(BusError):
            await anext(messages)
    await bus.close()


async def test_a_replica_gets_no_listener(own_valkey: Valkey) -> None:
    """A new connection may reach a former master, whose batches end when it loses the present one."""
    bus = RedisBus(own_valkey.url, "test")
    with redis.Redis.from_url(own_valkey.url) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(BusError):
            async with bus.listen([Feed.STOCKS]):
                pass
        client.execute_command("REPLICAOF", "NO", "ONE")
        client.execute_command("CONFIG", "SET", "min-replicas-to-write", "9")
        async with bus.listen([Feed.STOCKS]):
            assert client.execute_command("PUBSUB", "NUMSUB", "test:{stocks}:batches")[1] == 1
    await bus.close()


@pytest.mark.usefixtures("patient_bus")
async def test_subscriptions_leave_a_master_that_every_other_connection_has_left(
    pair: Pair, proxy: FaultProxy
) -> None:
    """No write is refused then, and the former master still serves its subscribers."""
    bus = RedisBus(f"redis://127.0.0.1:{proxy.port}", "test")
    async with bus.listen([Feed.STOCKS]) as messages, bus.announcements() as announcements:
        opened = list(proxy.links)
        await asyncio.to_thread(pair.swap)
        for link in proxy.links:
            if link not in opened:
                link.reset()
        assert await bus.check() == "ok"
        for stream in (messages, announcements):
            async with asyncio.timeout(scaled(PATIENCE_SECONDS)):
                with pytest.raises(BusError):
                    async for _ in stream:
                        pass
    await bus.close()


async def test_a_redis_that_takes_the_reconnection_and_says_nothing_is_given_up(own_valkey: Valkey) -> None:
    """The reconnection has a deadline too."""
    bus = RedisBus(own_valkey.url, "test")
    async with bus.listen([Feed.STOCKS]) as messages:
        own_valkey.kill()
        own_valkey.socket.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(str(own_valkey.socket))
            mute.listen()
            async with asyncio.timeout(scaled(2 * DEADLINE_SECONDS)):
                with pytest.raises(BusError):
                    await anext(messages)
    await bus.close()


async def test_a_frozen_redis_keeps_nobody_waiting(own_valkey: Valkey) -> None:
    """A call without an answer ends at the deadline."""
    bus = RedisBus(own_valkey.url, "test")
    assert await bus.load(Feed.STOCKS) is None
    own_valkey.freeze()
    async with asyncio.timeout(scaled(DEADLINE_SECONDS)):
        with pytest.raises(BusError):
            await bus.load(Feed.STOCKS)
    own_valkey.thaw()
    await bus.close()


async def test_flushed_scripts_are_loaded_again(redis_url: str) -> None:
    """A restart of Redis loses scripts; the client loads them again."""
    bus = RedisBus(redis_url, "test")
    assert await bus.hold(Feed.STOCKS, "me", 1000)
    with redis.Redis.from_url(redis_url) as client:
        client.script_flush()
    assert await bus.hold(Feed.STOCKS, "me", 1000)
    await bus.close()


async def test_a_damaged_state_keeps_no_heir_from_the_lease(redis_url: str) -> None:
    """Nobody can read it, so the next leader begins with its own."""
    bus = RedisBus(redis_url, "test")
    with redis.Redis.from_url(redis_url) as client:
        client.set("test:{stocks}:state", "no map")
    assert await bus.take_over(Feed.STOCKS, "heir", 10_000) is True
    assert await bus.begin("heir", state_of([stock()]))
    assert await bus.load(Feed.STOCKS) == state_of([stock()])
    await bus.close()


async def test_a_state_of_thousands_of_symbols_is_taken_whole(redis_url: str) -> None:
    """Lua's stack limits the number of unpacked values."""
    bus = RedisBus(redis_url, "test")
    state = state_of(stock(f"T{number}") for number in range(10_000))
    assert await bus.hold(Feed.STOCKS, "me", 10_000)
    assert await bus.begin("me", state)
    assert await bus.load(Feed.STOCKS) == state
    await bus.close()


def test_bytes_that_are_no_message_are_a_bus_error() -> None:
    """Foreign messages on the channel raise no unexpected error in a worker."""
    with pytest.raises(BusError):
        wire.decode_message(b"\xc1 not msgpack")


async def test_a_cancelled_call_stays_cancelled(redis_url: str) -> None:
    """A cancellation that meets an answer must still end the task, or the process could not stop."""
    bus = RedisBus(redis_url, "test")

    async def work() -> None:
        while True:
            await bus.hold(Feed.STOCKS, "me", 1000)

    for turns in range(400):
        task = asyncio.create_task(work())
        for _ in range(turns % 40):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=scaled(2))
        assert task.cancelled()
    await bus.close()


async def test_a_cancelled_task_that_drops_the_connections_cancels_no_other(redis_url: str) -> None:
    """Several calls reach their deadlines at once, and one of their tasks ends meanwhile."""
    client = connect(redis_url, "bus")
    for turns in range(8):
        await asyncio.gather(*(within_deadline(client, "bus", client.ping()) for _ in range(3)))
        first, second = (asyncio.create_task(drop_connections(client, "bus")) for _ in range(2))
        for _ in range(turns):
            await asyncio.sleep(0)
        first.cancel()
        await second
        await asyncio.gather(first, return_exceptions=True)
    await client.aclose()


async def test_a_cancellation_of_another_task_is_a_bus_error(redis_url: str) -> None:
    """What follows the bus goes on when another task gives up closing a connection that both wait for."""
    client, closed = connect(redis_url, "bus"), asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(closed.cancel)
    with pytest.raises(BusError):
        await within_deadline(client, "bus", closed)
    await client.aclose()
