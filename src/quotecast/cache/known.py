"""What is known of a key, and what follows from it.

Entries are kept as MessagePack maps: a worker reads what its own version wrote and the one before.
"""

from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct

from quotecast.cache.base import Cached, Policy
from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError

VERSION: Final = 1

_READABLE: Final = (VERSION - 1, VERSION)


class Entry(Struct, frozen=True, omit_defaults=True):
    """What an upstream said, and when: `body` is its answer, `detail` why it offers none."""

    #: Unix time.
    stored_at: float
    outcome: Literal["answer", "not_found", "not_offered"] = "answer"
    body: bytes = b""
    detail: str = ""
    #: Of a provisional answer; None where the policy says it.
    fresh_seconds: int | None = None
    version: int = VERSION

    def age(self, now: float) -> int:
        """Whole seconds; the clock of the worker that stored it may be ahead of ours."""
        return max(0, int(now - self.stored_at))

    def lifetime(self, policy: Policy) -> int:
        """Seconds after which it is worth nothing."""
        kept = self._kept(policy)
        return max(kept, policy.stale_seconds) if self.outcome == "answer" else kept

    def is_fresh(self, policy: Policy, now: float) -> bool:
        """Whether the upstream need not be asked."""
        return self.fresh_left(policy, now) > 0

    def fresh_left(self, policy: Policy, now: float) -> int:
        """Seconds for which the upstream need not be asked."""
        return max(0, self._kept(policy) - self.age(now))

    def _kept(self, policy: Policy) -> int:
        match self.outcome:
            case "answer":
                own = policy.fresh_seconds if self.fresh_seconds is None else self.fresh_seconds
                return min(own, policy.fresh_seconds)
            case "not_found":
                return policy.missing_seconds
            case "not_offered":
                return policy.not_offered_seconds


class Failure(Struct, frozen=True, omit_defaults=True):
    """An upstream failed, and is left alone until then (Unix time)."""

    until: float
    detail: str
    version: int = VERSION


Stored = TypeVar("Stored", Entry, Failure)


class Known(Struct, frozen=True):
    """The last that an upstream said of a key, and whether it failed since."""

    entry: Entry | None = None
    failure: Failure | None = None
    #: The entry was fetched for whoever asks now.
    fetched: bool = False

    def settles(self, policy: Policy, now: float) -> bool:
        """Whether a reader can be answered, well or badly, without asking the upstream."""
        fresh = self.entry is not None and self.entry.is_fresh(policy, now)
        return fresh or (self.failure is not None and now < self.failure.until)

    def serves(self, policy: Policy, now: float) -> bool:
        """Whether there is something to answer, be it old."""
        return self.entry is not None and self.entry.age(now) < self.entry.lifetime(policy)

    def answer(self, policy: Policy, now: float) -> Cached:
        """What a reader gets. Raises SymbolNotFound, NotOffered or UpstreamError."""
        if self.entry is None or not self.serves(policy, now):
            raise self._unavailable(now)
        match self.entry.outcome:
            case "not_found":
                raise SymbolNotFound
            case "not_offered":
                raise NotOffered(self.entry.detail)
            case "answer":
                return self._cached(self.entry, policy, now)

    def _cached(self, entry: Entry, policy: Policy, now: float) -> Cached:
        age = entry.age(now)
        left = entry.fresh_left(policy, now)
        return Cached(entry.body, "MISS" if self.fetched else "HIT" if left else "STALE", age, left)

    def _unavailable(self, now: float) -> UpstreamError:
        if self.failure is None:
            return UpstreamError("no answer yet", retry_after=1.0)
        return UpstreamError(self.failure.detail, retry_after=max(0.0, self.failure.until - now))


def newest(one: Known, other: Known) -> Known:
    """What two places know together."""
    entries = [each.entry for each in (one, other) if each.entry]
    failures = [each.failure for each in (one, other) if each.failure]
    return Known(
        max(entries, key=lambda entry: entry.stored_at, default=None),
        max(failures, key=lambda failure: failure.until, default=None),
    )


def encode(stored: Entry | Failure) -> bytes:
    """As it is kept in Redis."""
    return msgspec.msgpack.encode(stored)


def decode(data: bytes | None, kind: type[Stored]) -> Stored | None:
    """None where there is nothing, or nothing that this version can read."""
    if data is None:
        return None
    try:
        stored = msgspec.msgpack.decode(data, type=kind)
    except msgspec.DecodeError:
        return None
    return stored if stored.version in _READABLE else None
