"""The buses that give one set of guarantees."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from quotecast.bus.redis import RedisBus
from support.made.memory_bus import MemoryBus
from world.redis_server import RedisServer


@pytest.fixture(params=["memory", "redis", "simulated redis"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[MemoryBus | RedisBus]:
    """Yields each bus, empty: in memory, on a real Redis, and on the one of simulated worlds."""
    if request.param == "memory":
        yield MemoryBus(time.monotonic)
    elif request.param == "redis":
        redis_bus = RedisBus(request.getfixturevalue("redis_url"), "test")
        yield redis_bus
        await redis_bus.close()
    else:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(RedisServer().connection, "127.0.0.1", 0)
        redis_bus = RedisBus(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}", "test")
        yield redis_bus
        await redis_bus.close()
        server.close()
