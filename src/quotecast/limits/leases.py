"""Leases: free slots that a worker takes in one call, and gives out without a call for a tenth of a second.

A leased slot counts in Redis from the moment of the call until a whole window after the lease ends. So every
request that the worker admits within the lease counts for at least its own window, even if the worker dies,
and no window of all workers' requests exceeds the limit. ADR 21 has the proof.
"""

import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

from quotecast.limits.fallback import SECOND, LocalWindow, whole_seconds

#: Nanoseconds of a lease in Redis; `window.lua` has the same number.
LEASE: Final = SECOND // 10
#: Nanoseconds by which the worker's lease is shorter, because its clock may be slower than Redis's.
MARGIN: Final = SECOND // 1000
#: The least limit of leased keys: `window.lua` grants none where fewer slots are free.
LEAST_LIMIT: Final = 1024
#: Requests of a key in the time of a lease that make it hot; a lease has as many slots as were used in that
#: time, rounded down to a power of two, and at most MOST_SLOTS: pushing them blocks Redis for 0.1 ms.
FEWEST_SLOTS: Final = 16
MOST_SLOTS: Final = 1024


class Lease:
    """Slots of one key, for requests before `end`, in nanoseconds of the worker's clock."""

    __slots__ = ("end", "entry", "free", "key", "left", "oldest_end")

    def __init__(self, key: str, *, left: int, free: int, end: int, oldest_end: int, entry: bytes) -> None:
        """`free` slots were left to all workers; the oldest request leaves the window at `oldest_end`."""
        self.key = key
        self.left = left
        self.free = free
        self.end = end
        self.oldest_end = oldest_end
        #: The slots' entries in Redis.
        self.entry = entry

    def reset(self, now: int) -> int:
        """Returns the whole seconds until a slot frees: at least one."""
        return whole_seconds(max(self.oldest_end - now, 1))


class Leases:
    """The leases of one worker by key: at most one of each key, for 0.1 s.

    It asks for leases of keys that are hot at this worker and have many slots. `local` counts the worker's
    requests.
    """

    def __init__(self, local: LocalWindow) -> None:
        self._local = local
        self._leases: dict[str, Lease] = {}
        self._owner = f"{random.randrange(10**5, 10**6)}"  # noqa: S311 - a name, not a secret
        self._numbers = count()
        #: The lease of a key, if any, which may have ended: a bound method, for every limited request.
        self.get: Callable[[str], Lease | None] = self._leases.get

    def __iter__(self) -> Iterator[Lease]:
        return iter([*self._leases.values()])

    def __len__(self) -> int:
        return len(self._leases)

    def name_wanted(self, key: str, limit: int, now: int) -> str:
        """Returns the limit, and if the key is hot `/slots/name`: see `window.lua`."""
        if limit < LEAST_LIMIT:
            return str(limit)
        since, slots = now - LEASE, FEWEST_SLOTS
        if not self._local.has_since(key, slots, since):
            return str(limit)
        while slots < MOST_SLOTS and self._local.has_since(key, 2 * slots, since):
            slots *= 2
        return f"{limit}/{slots}/{self._owner}{next(self._numbers)}"

    def add(self, lease: Lease) -> None:
        """Stores a lease in place of the key's former one."""
        self._leases[lease.key] = lease

    def end(self, lease: Lease) -> int:
        """Ends a lease; returns the number of slots that it did not use."""
        if self._leases.get(lease.key) is lease:
            del self._leases[lease.key]
        unused, lease.left = lease.left, 0
        return unused
