"""The interface of the read-through cache, and how long answers live."""

from collections.abc import Awaitable, Callable
from typing import Final, Literal, Protocol

from msgspec import Struct

WEEK_SECONDS: Final = 7 * 86_400


class Policy(Struct, frozen=True):
    """Lifetimes of the answers under one key, in seconds since the upstream answered.

    An answer is fresh for `fresh_seconds`; after that it is stale, and served up to `stale_seconds` when the
    upstream fails. "Not found" and "not offered" hold for `missing_seconds` and `not_offered_seconds`.
    """

    fresh_seconds: int
    stale_seconds: int = WEEK_SECONDS
    missing_seconds: int = 600
    not_offered_seconds: int = 86_400


class Provisional(Struct, frozen=True):
    """An answer that lacks something the next fetch may bring; fresh for fewer seconds than usual."""

    body: bytes
    fresh_seconds: int


class Cached(Struct, frozen=True):
    """An answer and its origin: `MISS` was fetched for this request, `STALE` is no longer fresh."""

    body: bytes
    status: Literal["HIT", "MISS", "STALE"]
    age_seconds: int
    #: Seconds for which it stays fresh; 0 when stale.
    fresh_seconds: int


Fetch = Callable[[], Awaitable[bytes | Provisional]]


class Cache(Protocol):
    """A read-through cache with one upstream call per key at a time, over all workers.

    A key begins with the upstream's name and a colon. Concurrent calls to one upstream are bounded, so a slow
    upstream does not delay the others.
    """

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        """Returns the cached answer, or calls `fetch` and caches its answer.

        When `fetch` raises UpstreamError or takes long, readers get a stale answer if there is one; after an
        UpstreamError the cache does not call that upstream for some seconds. The cache stores SymbolNotFound
        and NotOffered too, and raises them again without a call. Cancelling one reader does not cancel the
        call that others wait for. Raises SymbolNotFound, NotOffered or UpstreamError.
        """
        ...
