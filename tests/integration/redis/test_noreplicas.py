"""A master that has lost its replicas refuses writes: its clients leave only for another that takes them."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from quotecast.bus.base import Beat, Message
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import encode
from quotecast.errors import BusError
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, INFO
from support.runs.deadlines import scaled
from support.servers.fault_proxy import FaultProxy
from support.servers.sentinel_set import Server, own_servers

PATIENCE_SECONDS = 30.0
BEAT = Beat(feed=Feed.STOCKS, epoch=EPOCH, seq=1, info=INFO)
CHECKS = 5

Listening = tuple[RedisBus, AsyncIterator[Message | None]]


@contextlib.asynccontextmanager
async def listening(led_to: list[Server]) -> AsyncIterator[Listening]:
    """A bus and a subscription of its own at an address that leads to the last server of the list."""
    with FaultProxy(lambda: socket.create_connection(("127.0.0.1", led_to[-1].port))) as proxy:
        bus = RedisBus(f"redis://127.0.0.1:{proxy.port}", "test")
        async with asyncio.timeout(scaled(PATIENCE_SECONDS)), bus.listen([Feed.STOCKS]) as messages:
            assert await bus.check() == "ok"
            yield bus, messages
        await bus.close()


async def test_a_subscription_stays_where_no_other_server_takes_writes() -> None:
    """However often the server refuses: a new subscription would reload every feed for nothing."""
    with own_servers(1) as (master,):
        master.start()
        async with listening([master]) as (bus, messages):
            master.ask("CONFIG", "SET", "min-replicas-to-write", 1)
            assert {await bus.check() for _ in range(CHECKS)} == {"noreplicas"}
            assert master.ask("PUBLISH", "test:{stocks}:batches", encode(BEAT)) == 1
            assert [each async for each in until_told(messages)][-1] == BEAT


async def test_a_subscription_ends_when_another_server_takes_writes() -> None:
    """The address leads there by now; the old server lives on and refuses."""
    with own_servers(2) as (old, new):
        old.start()
        new.start()
        led_to = [old]
        async with listening(led_to) as (_, messages):
            old.ask("CONFIG", "SET", "min-replicas-to-write", 1)
            led_to.append(new)
            with pytest.raises(BusError):
                [each async for each in messages]


async def until_told(messages: AsyncIterator[Message | None]) -> AsyncIterator[Message | None]:
    """Ends with the first message."""
    async for each in messages:
        yield each
        if each is not None:
            return
