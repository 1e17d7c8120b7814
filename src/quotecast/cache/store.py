"""Storage of cache states: in Redis for all workers, and in this worker's memory.

A key's three names in Redis share a hash tag, so that they lie on one node of a cluster.
"""

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeVar

from redis.commands.core import AsyncScript

from quotecast.cache.base import Policy
from quotecast.cache.state import CacheEntry, CacheState, UpstreamFailure, decode, encode, merge_states
from quotecast.redis.breaker import CircuitBreaker
from quotecast.redis.client import check_writable, connect, drop_connections
from quotecast.redis.commands import MeasuredCommand
from quotecast.redis.lua import lua

#: Memory of one item without its key and body.
_OVERHEAD_BYTES: Final = 500
MAX_KEY_LENGTH: Final = 96
MAX_CONNECTIONS: Final = 16

#: Keys that are part of a Redis name unhashed; a brace would end the hash tag.
_PLAIN: Final = re.compile(r"[\w.:/-]+", re.ASCII)


T = TypeVar("T")


class RedisUnavailable(Exception):
    """Redis did not answer in time, or the circuit is open."""


class _Names(NamedTuple):
    lock: str
    entry: str
    failure: str


class CacheStore:
    """The states that workers share; without Redis, those that this worker read itself.

    No call takes longer than `budget` seconds, and none raises.
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        *,
        budget: float,
        pause: float,
        memory_bytes: int,
        clock: Callable[[], float],
    ) -> None:
        # The budget bounds waiting for a connection, connecting, writing and reading together.
        self._client = connect(url, "cache", connections=MAX_CONNECTIONS)
        self._prefix = prefix
        self._claim = self._script("claim")
        self._settle = self._script("settle")
        self._recent = RecentStates(memory_bytes)
        self._budget = budget
        self._clock = clock
        self._breaker = CircuitBreaker(
            self._probe,
            pause=pause,
            opened="each worker caches alone",
            closed="all workers cache together again",
        )
        #: Operations without Redis: the circuit was open, or Redis did not answer.
        self.absences = 0

    @property
    def openings(self) -> int:
        """Returns how often the circuit breaker opened."""
        return self._breaker.openings

    async def close(self) -> None:
        """Closes every connection."""
        await self._breaker.stop()
        await self._client.aclose()

    def local_state(self, key: str) -> CacheState:
        """Returns the state in this worker's memory."""
        return self._recent.get(key)

    async def read(self, key: str) -> CacheState:
        """Returns the state that workers share."""
        names = self._names(key)
        try:
            stored: list[Any] = await self._call(lambda: self._client.mget(names.entry, names.failure))
        except RedisUnavailable:
            self.absences += 1
            return self._recent.get(key)
        return self._merge_with_local(key, *stored)

    async def claim(self, key: str, owner: str, seconds: float) -> tuple[bool, CacheState]:
        """Returns whether the owner got the key's lock, for `seconds`, and the present state.

        One owner at a time holds the lock and calls the upstream; without Redis, every owner gets it.
        """
        names = self._names(key)
        try:
            acquired, entry, failure = await self._call(
                lambda: self._claim(keys=names, args=[owner, int(seconds * 1000)])
            )
        except RedisUnavailable:
            self.absences += 1
            return True, self._recent.get(key)
        return bool(acquired), self._merge_with_local(key, entry, failure)

    async def settle(self, key: str, owner: str, state: CacheState, policy: Policy, now: float) -> None:
        """Stores the owner's new state for all workers, and releases the lock."""
        self._recent.put(key, CacheState(state.entry, state.failure))
        entry = state.entry if state.fetched else None
        await self._settle_lock(
            key,
            owner,
            *_with_lifetime(entry, entry.lifetime(policy) if entry else 0),
            *_with_lifetime(state.failure, state.failure.until - now if state.failure else 0),
        )

    async def release(self, key: str, owner: str) -> None:
        """Releases the lock without a new state."""
        await self._settle_lock(key, owner, *_with_lifetime(None, 0), *_with_lifetime(None, 0))

    async def _settle_lock(self, key: str, owner: str, *stored: bytes | int) -> None:
        names = self._names(key)
        try:
            await self._call(lambda: self._settle(keys=names, args=[owner, *stored]))
        except RedisUnavailable:
            self.absences += 1

    async def _call(self, command: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer to a command. Raises RedisUnavailable."""
        if self._breaker.is_open:
            raise RedisUnavailable
        try:
            async with MeasuredCommand(self._client, "cache"), asyncio.timeout(self._budget):
                answer = await command()
        except Exception as error:
            # A broken connection raises more than RedisError: the reader is answered without Redis.
            self._breaker.record_failure(error)
            raise RedisUnavailable from error
        self._breaker.record_success()
        return answer

    def _merge_with_local(self, key: str, entry: bytes | None, failure: bytes | None) -> CacheState:
        """Returns Redis's state merged with this worker's, which survives a loss of data in Redis."""
        shared = CacheState(decode(entry, CacheEntry), decode(failure, UpstreamFailure))
        state = merge_states(shared, self._recent.get(key), self._clock())
        self._recent.put(key, state)
        return state

    def _names(self, key: str) -> _Names:
        if len(key) > MAX_KEY_LENGTH or not _PLAIN.fullmatch(key):
            key = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        tagged = f"{self._prefix}:cache:{{{key}}}"
        return _Names(f"{tagged}:lock", f"{tagged}:entry", f"{tagged}:failure")

    async def _probe(self) -> None:
        await drop_connections(self._client, "cache")
        await check_writable(self._client)

    def _script(self, name: str) -> AsyncScript:
        return self._client.register_script(lua("cache", name))


def _with_lifetime(stored: CacheEntry | UpstreamFailure | None, seconds: float) -> tuple[bytes, int]:
    """Returns a record's bytes and its milliseconds to live, at least the 1 that Redis demands."""
    return (encode(stored), max(1, int(seconds * 1000))) if stored else (b"", 0)


class RecentStates:
    """An LRU map from keys to states, of at most `max_bytes` in all.

    It is one worker's own memory, which serves readers without a round trip to Redis.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._items: OrderedDict[str, CacheState] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: str) -> CacheState:
        """Returns the state of a key, an empty one by default, and marks the key as used."""
        state = self._items.get(key)
        if state is None:
            return CacheState()
        self._items.move_to_end(key)
        return state

    def put(self, key: str, state: CacheState) -> None:
        """Replaces the state of a key; evicts the least recently used keys beyond the bound."""
        replaced = self._items.pop(key, None)
        self._bytes += _size(key, state) - (_size(key, replaced) if replaced else 0)
        self._items[key] = state
        while self._bytes > self._max_bytes:
            self._bytes -= _size(*self._items.popitem(last=False))


def _size(key: str, state: CacheState) -> int:
    return _OVERHEAD_BYTES + len(key) + (len(state.entry.body) if state.entry else 0)
