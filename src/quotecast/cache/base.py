"""What a read-through cache promises."""

from collections.abc import Awaitable, Callable
from typing import Final, Literal, Protocol

from msgspec import Struct

WEEK_SECONDS: Final = 7 * 86_400


class Policy(Struct, frozen=True):
    """How long an answer is fresh, then better than none; and how long "not found" or "not offered" is true.

    All are ages in seconds, counted from when the upstream answered.
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
    """An answer and where it comes from: `MISS` was fetched just now, `STALE` is past its time."""

    body: bytes
    status: Literal["HIT", "MISS", "STALE"]
    age_seconds: int
    #: How much longer it is fresh; 0 when it is stale.
    fresh_seconds: int


Fetch = Callable[[], Awaitable[bytes | Provisional]]


class Cache(Protocol):
    """One upstream call per key at a time over all workers; a slow or failing upstream harms nobody else.

    A key begins with the upstream's name and a colon: calls to one upstream at the same time are bounded.
    """

    async def read(self, key: str, policy: Policy, fetch: Fetch) -> Cached:
        """The kept answer, or what `fetch` brings.

        When `fetch` raises UpstreamError, or takes long, an answer that is not yet too old is served as
        STALE, and the upstream is left alone for some seconds. What it raises as SymbolNotFound or
        NotOffered is remembered and raised again without asking. A caller that goes away does not end the
        call that others wait for. Raises SymbolNotFound, NotOffered or UpstreamError.
        """
        ...
