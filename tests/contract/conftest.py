"""The buses that give one set of guarantees."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Final

import pytest

from quotecast.bus.redis import RedisBus
from support.made.memory_bus import MemoryBus
from world.redis_cluster import Address, Cluster, Node
from world.redis_server import RedisServer

_SHARDS: Final = 3


@pytest.fixture(params=["memory", "redis", "simulated redis", "simulated cluster"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[MemoryBus | RedisBus]:
    """Yields each bus, empty: in memory, on a real Redis, and on those of simulated worlds."""
    request.getfixturevalue("patient_bus")
    if request.param == "memory":
        yield MemoryBus(time.monotonic)
    elif request.param == "redis":
        redis_bus = RedisBus(request.getfixturevalue("redis_url"), "test")
        yield redis_bus
        await redis_bus.close()
    elif request.param == "simulated redis":
        async with _serve(RedisServer()) as port:
            redis_bus = RedisBus(f"redis://127.0.0.1:{port}", "test")
            yield redis_bus
            await redis_bus.close()
    else:
        async with contextlib.AsyncExitStack() as stack:
            cluster = Cluster(_SHARDS)
            for shard in range(_SHARDS):
                node = Node(cluster, shard, Address("127.0.0.1", 0))
                node.address = Address("127.0.0.1", await stack.enter_async_context(_serve(node)))
            redis_bus = RedisBus(f"redis+cluster://127.0.0.1:{node.address.port}", "test")
            yield redis_bus
            await redis_bus.close()


@contextlib.asynccontextmanager
async def _serve(server: RedisServer) -> AsyncIterator[int]:
    """Serves on a port, which it yields."""
    listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
    yield listener.sockets[0].getsockname()[1]
    listener.close()
