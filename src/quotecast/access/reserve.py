"""The reserve of usage in Redis, for counts that PostgreSQL does not take now.

A worker writes its counts here during an outage of PostgreSQL, and renews a lease. When the worker dies, its
lease ends, and another worker adds the counts to PostgreSQL.
"""

import contextlib
from typing import Any, Final, Self

import msgspec

from quotecast.access.usage_storage import UsageBatch
from quotecast.redis.client import connect, within_budget

#: Seconds after its last write for which a worker counts as alive.
LEASE_SECONDS: Final = 120
#: Seconds for which the reserve stays without a write: less than PostgreSQL knows the numbers of batches.
KEEP_SECONDS: Final = 7 * 86_400

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[UsageBatch]).decode


class Reserve:
    """Counts of workers by the worker's name. Every call raises what the client of Redis raises."""

    def __init__(self, url: str, prefix: str, *, lease_seconds: int = LEASE_SECONDS) -> None:
        self._client: Any = connect(url, "access")
        self._name = f"{prefix}:usage"
        self._lease_seconds = lease_seconds

    async def __aenter__(self) -> Self:
        # Connects at the start, so that a worker's open files do not grow later.
        with contextlib.suppress(Exception):
            await within_budget(self._client.exists(self._name))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def store(self, worker: str, batches: list[UsageBatch], *, alive: bool = True) -> None:
        """Replaces a worker's counts. Without `alive` another worker takes them over at once."""
        if alive:
            await within_budget(self._client.set(self._lease(worker), 1, ex=self._lease_seconds))
        else:
            await within_budget(self._client.delete(self._lease(worker)))
        await within_budget(self._client.hset(self._name, worker, _encode(batches)))
        await within_budget(self._client.expire(self._name, KEEP_SECONDS))

    async def remove(self, worker: str) -> None:
        """Removes a worker's counts."""
        await within_budget(self._client.hdel(self._name, worker))

    async def orphans(self, worker: str) -> dict[str, list[UsageBatch]]:
        """Returns the counts of other workers that died, by name."""
        found = {}
        for raw in await within_budget(self._client.hkeys(self._name)):
            name = raw.decode()
            if name == worker or await within_budget(self._client.exists(self._lease(name))):
                continue
            value = await within_budget(self._client.hget(self._name, name))
            if value is not None:
                found[name] = _decode(value)
        return found

    def _lease(self, worker: str) -> str:
        return f"{self._name}:{worker}"
