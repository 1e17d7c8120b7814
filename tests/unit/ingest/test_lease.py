"""Who leads a feed after the bus has lost its data."""

import asyncio

import pytest

from quotecast.ingest import lease
from quotecast.market.feeds import Feed
from support.made.market import pair, state_of
from support.made.memory_bus import MemoryBus
from support.runs import virtual_time

FEED = Feed.CRYPTO


async def cluster() -> tuple[MemoryBus, "asyncio.Task[None]"]:
    """Returns a bus with a leader's state, and the task of a standby that has seen the leader."""
    bus = MemoryBus(asyncio.get_running_loop().time)
    assert await bus.hold(FEED, "leader", lease.LEASE_MILLISECONDS)
    assert await bus.begin("leader", state_of([pair("BTC/USDT")], feed=FEED))
    standby = asyncio.create_task(lease.acquire(bus, FEED, "standby"))
    await asyncio.sleep(2 * lease.STANDBY_SECONDS)
    assert not standby.done()
    return bus, standby


def lose_everything(bus: MemoryBus) -> None:
    bus.__init__(bus._clock)  # type: ignore[misc]  # as a Redis that starts again without its data


@pytest.mark.parametrize("seconds", [0.0, lease.RENEW_SECONDS, 1.5 * lease.RENEW_SECONDS])
def test_the_leader_leads_on(seconds: float) -> None:
    """It remembers what the bus has lost: bars of the minute, and the prices before the next crossings."""

    async def run() -> None:
        bus, standby = await cluster()
        lose_everything(bus)
        await asyncio.sleep(seconds)
        assert await bus.hold(FEED, "leader", lease.LEASE_MILLISECONDS)
        await asyncio.sleep(lease.LEASE_MILLISECONDS / 2000)
        assert not standby.done()
        standby.cancel()

    virtual_time.run(run())


def test_a_standby_leads_when_the_leader_is_gone_too() -> None:
    async def run() -> None:
        bus, standby = await cluster()
        lose_everything(bus)
        async with asyncio.timeout(5):
            await standby

    virtual_time.run(run())


def test_a_standby_leads_at_once_where_the_state_is_there() -> None:
    async def run() -> None:
        bus, standby = await cluster()
        await bus.release(FEED, "leader")
        async with asyncio.timeout(2 * lease.STANDBY_SECONDS):
            await standby

    virtual_time.run(run())
