"""The state of one cache key: the upstream's last answer, and its last failure.

Redis stores both as MessagePack maps; a worker reads those of its own version and of the previous one.
"""

from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct

from quotecast.cache.base import Cached, Policy
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError

VERSION: Final = 1
#: Seconds by which the clock of another worker may be ahead.
SKEW_SECONDS: Final = 60

_READABLE: Final = (VERSION - 1, VERSION)


class CacheEntry(Struct, frozen=True, omit_defaults=True):
    """An upstream's answer to one key: `body` if it has one, else `detail` with the reason."""

    #: Unix time.
    stored_at: float
    outcome: Literal["answer", "not_found", "not_offered"] = "answer"
    body: bytes = b""
    detail: str = ""
    #: Seconds for which a provisional answer is fresh; None for the policy's.
    fresh_seconds: int | None = None
    version: int = VERSION

    def age(self, now: float) -> int:
        """Returns the age in whole seconds, at least 0: the storing worker's clock may be ahead of ours."""
        return max(0, int(now - self.stored_at))

    def lifetime(self, policy: Policy) -> int:
        """Returns the age in seconds from which the entry must not be served."""
        fresh = self._fresh_period(policy)
        return max(fresh, policy.stale_seconds) if self.outcome == "answer" else fresh

    def is_fresh(self, policy: Policy, now: float) -> bool:
        """Returns whether the entry answers a reader without an upstream call."""
        return self.fresh_left(policy, now) > 0

    def fresh_left(self, policy: Policy, now: float) -> int:
        """Returns the seconds for which the entry is still fresh; 0 if a wrong clock stored it."""
        return max(0, self._fresh_period(policy) - self.age(now)) if self.is_credible(now) else 0

    def is_credible(self, now: float) -> bool:
        """Returns whether the entry is not from the future: clocks that were ahead are set back."""
        return self.stored_at <= now + SKEW_SECONDS

    def _fresh_period(self, policy: Policy) -> int:
        match self.outcome:
            case "answer":
                own = policy.fresh_seconds if self.fresh_seconds is None else self.fresh_seconds
                return min(own, policy.fresh_seconds)
            case "not_found":
                return policy.missing_seconds
            case "not_offered":
                return policy.not_offered_seconds


class UpstreamFailure(Struct, frozen=True, omit_defaults=True):
    """A failed upstream call; the cache does not call again before `until` (Unix time)."""

    until: float
    detail: str
    version: int = VERSION
    #: Seconds from the failure to `until`; those of the longest wait in a record of an older version.
    seconds: float = 3600.0

    def forbids_call(self, now: float) -> bool:
        """Returns whether it is too early for another call; never if a wrong clock stored the failure."""
        return 0 < self.until - now <= self.seconds + SKEW_SECONDS


Record = TypeVar("Record", CacheEntry, UpstreamFailure)


class CacheState(Struct, frozen=True):
    """An upstream's last answer to a key, and its failure since, if any."""

    entry: CacheEntry | None = None
    failure: UpstreamFailure | None = None
    #: Whether the reader's own request fetched the entry.
    fetched: bool = False

    def needs_fetch(self, policy: Policy, now: float) -> bool:
        """Returns whether a reader needs an upstream call: no fresh entry, and no recent failure."""
        fresh = self.entry is not None and self.entry.is_fresh(policy, now)
        failed = self.failure is not None and self.failure.forbids_call(now)
        return not (fresh or failed)

    def is_servable(self, policy: Policy, now: float) -> bool:
        """Returns whether there is an entry to serve, fresh or stale."""
        return self.entry is not None and self.entry.age(now) < self.entry.lifetime(policy)

    def answer(self, policy: Policy, now: float) -> Cached:
        """Returns the reader's answer. Raises SymbolNotFound, NotOffered or UpstreamError."""
        if self.entry is None or not self.is_servable(policy, now):
            if self.failure is None:
                raise UpstreamError("no answer yet", retry_after=1.0)
            raise UpstreamError(self.failure.detail, retry_after=max(0.0, self.failure.until - now))
        match self.entry.outcome:
            case "not_found":
                raise SymbolNotFound
            case "not_offered":
                raise NotOffered(self.entry.detail)
            case "answer":
                age = self.entry.age(now)
                fresh = self.entry.fresh_left(policy, now)
                return Cached(
                    self.entry.body, "MISS" if self.fetched else "HIT" if fresh else "STALE", age, fresh
                )


def merge_states(one: CacheState, other: CacheState, now: float) -> CacheState:
    """Returns the newest entry, one from the future last, and the latest failure of two states."""
    entries = [each.entry for each in (one, other) if each.entry]
    failures = [each.failure for each in (one, other) if each.failure]
    return CacheState(
        max(entries, key=lambda entry: (entry.is_credible(now), entry.stored_at), default=None),
        max(failures, key=lambda failure: (failure.forbids_call(now), failure.until), default=None),
    )


def encode(stored: CacheEntry | UpstreamFailure) -> bytes:
    """Returns the bytes that Redis stores."""
    return msgspec.msgpack.encode(stored)


def decode(data: bytes | None, kind: type[Record]) -> Record | None:
    """Returns the stored record; None if there is none or this version cannot read it."""
    if data is None:
        return None
    try:
        stored = msgspec.msgpack.decode(data, type=kind)
    except msgspec.DecodeError:
        return None
    return stored if stored.version in _READABLE else None
