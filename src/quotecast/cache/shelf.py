"""Where what is known of each key is kept: in Redis for all workers, and the latest of it in this one.

A key's three names share a hash tag, so that they live on one node of a cluster.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any, Final, NamedTuple, TypeVar

from redis.commands.core import AsyncScript

from quotecast.cache.base import Policy
from quotecast.cache.known import CacheEntry, CacheState, UpstreamFailure, decode, encode, merge_states
from quotecast.cache.recent import RecentStates
from quotecast.redis.breaker import CircuitBreaker
from quotecast.redis.client import check_writable, connect, drop_connections
from quotecast.redis.commands import MeasuredCommand

MAX_KEY_LENGTH: Final = 96
MAX_CONNECTIONS: Final = 16

#: What may stand in a name as it is; braces would end the hash tag.
_PLAIN: Final = re.compile(r"[\w.:/-]+", re.ASCII)


T = TypeVar("T")


class RedisUnavailable(Exception):
    """Redis did not answer in time, or the circuit is open."""


class _Names(NamedTuple):
    lock: str
    entry: str
    failure: str


class CacheStore:
    """What workers tell each other of keys. While Redis is away each worker has what it read itself.

    No call takes longer than `budget` seconds, or raises.
    """

    def __init__(self, url: str, prefix: str, *, budget: float, pause: float, memory_bytes: int) -> None:
        # The budget bounds waiting for a connection, connecting, writing and reading together.
        self._client = connect(url, "cache", connections=MAX_CONNECTIONS)
        self._prefix = prefix
        self._claim = self._script("claim")
        self._settle = self._script("settle")
        self._recent = RecentStates(memory_bytes)
        self._budget = budget
        self._breaker = CircuitBreaker(
            self._probe,
            pause=pause,
            opened="each worker caches alone",
            closed="all workers cache together again",
        )
        #: Times that Redis was not asked, or did not answer.
        self.absences = 0

    @property
    def openings(self) -> int:
        """Times that Redis was given up until it answers a probe."""
        return self._breaker.openings

    async def close(self) -> None:
        """Closes every connection."""
        await self._breaker.stop()
        await self._client.aclose()

    def recent(self, key: str) -> CacheState:
        """What this worker knows itself."""
        return self._recent.find(key)

    async def look(self, key: str) -> CacheState:
        """What all workers know."""
        names = self._names(key)
        try:
            found: list[Any] = await self._call(lambda: self._client.mget(names.entry, names.failure))
        except RedisUnavailable:
            self.absences += 1
            return self._recent.find(key)
        return self._learn(key, *found)

    async def claim(self, key: str, owner: str, seconds: float) -> tuple[bool, CacheState]:
        """Whether the owner may ask the upstream, for so many seconds, and what is known by now.

        At most one may at a time; while Redis is away, everyone.
        """
        names = self._names(key)
        try:
            taken, entry, failure = await self._call(
                lambda: self._claim(keys=names, args=[owner, int(seconds * 1000)])
            )
        except RedisUnavailable:
            self.absences += 1
            return True, self._recent.find(key)
        return bool(taken), self._learn(key, entry, failure)

    async def settle(self, key: str, owner: str, known: CacheState, policy: Policy, now: float) -> None:
        """Tells all workers what the owner learned, and lets the next one ask."""
        self._recent.keep(key, CacheState(known.entry, known.failure))
        entry = known.entry if known.fetched else None
        await self._give_up(
            key,
            owner,
            *_with_lifetime(entry, entry.lifetime(policy) if entry else 0),
            *_with_lifetime(known.failure, known.failure.until - now if known.failure else 0),
        )

    async def release(self, key: str, owner: str) -> None:
        """Lets the next one ask."""
        await self._give_up(key, owner, *_with_lifetime(None, 0), *_with_lifetime(None, 0))

    async def _give_up(self, key: str, owner: str, *stored: bytes | int) -> None:
        names = self._names(key)
        try:
            await self._call(lambda: self._settle(keys=names, args=[owner, *stored]))
        except RedisUnavailable:
            self.absences += 1

    async def _call(self, command: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer to a command. Raises _Unavailable."""
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

    def _learn(self, key: str, entry: bytes | None, failure: bytes | None) -> CacheState:
        """Also what Redis lost but this worker still has."""
        told = CacheState(decode(entry, CacheEntry), decode(failure, UpstreamFailure))
        known = merge_states(told, self._recent.find(key))
        self._recent.keep(key, known)
        return known

    def _names(self, key: str) -> _Names:
        if len(key) > MAX_KEY_LENGTH or not _PLAIN.fullmatch(key):
            key = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        tagged = f"{self._prefix}:cache:{{{key}}}"
        return _Names(f"{tagged}:lock", f"{tagged}:entry", f"{tagged}:failure")

    async def _probe(self) -> None:
        await drop_connections(self._client, "cache")
        await check_writable(self._client)

    def _script(self, name: str) -> AsyncScript:
        text = resources.files("quotecast.cache").joinpath(f"{name}.lua").read_text("utf-8")
        return self._client.register_script(text)


def _with_lifetime(stored: CacheEntry | UpstreamFailure | None, seconds: float) -> tuple[bytes, int]:
    """What the script stores, and for how many milliseconds; Redis takes no time below one."""
    return (encode(stored), max(1, int(seconds * 1000))) if stored else (b"", 0)
