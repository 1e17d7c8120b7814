"""A cache for one worker, in memory."""

from collections.abc import Callable

from quotecast.cache.base import Cached, Fetch, Policy, Provisional
from quotecast.errors import UpstreamError


class MemoryCache:
    """A cache that expires answers by the given clock; concurrent reads do not share a fetch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, bytes]] = {}

    @property
    def keys(self) -> list[str]:
        return list(self._kept)

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        stored_at, body = self._kept.get(key, (float("-inf"), b""))
        age = self._clock() - stored_at
        if age < policy.fresh_seconds:
            return Cached(body, "HIT", int(age), policy.fresh_seconds - int(age))
        try:
            told = await fetch()
        except UpstreamError:
            if age < policy.stale_seconds:
                return Cached(body, "STALE", int(age), 0)
            raise
        body = told.body if isinstance(told, Provisional) else told
        self._kept[key] = (self._clock(), body)
        return Cached(body, "MISS", 0, policy.fresh_seconds)
