"""A worker's counts of what each API key uses; the roll-up takes them every few seconds.

A request counts when its answer starts; the handshake of a socket is one request too. Answers of 401, 403 and
429 count as refused. Bytes are those of HTTP bodies as sent, and of frames before framing and compression.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from msgspec import Struct

#: Statuses of an answer that refuses a key's request.
REFUSED: Final = frozenset({401, 403, 429})
#: Keys whose requests since the start a worker remembers.
MAX_TOTALS: Final = 10_000


class Counts(Struct, eq=False):
    """The usage of one key since the last roll-up; feeds add the frames of its sockets to it directly."""

    requests: int = 0
    refused: int = 0
    #: Seconds of all sockets, up to `since`.
    seconds: float = 0.0
    quotes: int = 0
    bytes: int = 0
    sockets: int = 0
    since: float = 0.0
    #: Whether a roll-up took them for the last time.
    is_over: bool = False

    def settle(self, now: float) -> None:
        """Adds the seconds of the open sockets; `now` is monotonic."""
        self.seconds += self.sockets * (now - self.since)
        self.since = now

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to take."""
        return not (self.requests or self.seconds or self.quotes or self.bytes)


class Taken(Struct, frozen=True):
    """The counts of one key between two roll-ups."""

    requests: int
    refused: int
    milliseconds: int
    quotes: int
    bytes: int


class Usage:
    """The counts of all keys in use. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[str, Counts] = {}
        #: Requests by key since the start, without those not yet taken.
        self._totals: Counter[str] = Counter()
        #: Refused requests since the start, by status; those with an invalid key too.
        self.refusals: Counter[int] = Counter()

    def of(self, key_id: str) -> Counts:
        """Returns the present counts of a key, valid until `is_over`; an open socket keeps them valid."""
        counts = self._counts.get(key_id)
        if counts is None:
            counts = self._counts[key_id] = Counts()
        return counts

    def add_request(self, key_id: str, status: int) -> None:
        """Counts one request by the status of its answer."""
        counts = self.of(key_id)
        counts.requests += 1
        if status in REFUSED:
            self.add_refusal(counts, status)

    def add_refusal(self, counts: Counts, status: int) -> None:
        """Counts a request of a key, which is counted as such, as refused."""
        counts.refused += 1
        self.refusals[status] += 1

    def open_socket(self, key_id: str) -> Counts:
        """Counts a socket as open. Returns the counts for its frames."""
        counts = self.of(key_id)
        counts.settle(self._clock())
        counts.sockets += 1
        return counts

    def close_socket(self, key_id: str) -> None:
        """Ends an `open_socket`."""
        counts = self._counts[key_id]
        counts.settle(self._clock())
        counts.sockets -= 1

    def take(self) -> dict[str, Taken]:
        """Returns the counts by key, and starts again at 0.

        Forgets keys without open sockets.
        """
        now = self._clock()
        taken = {}
        for key_id, counts in [*self._counts.items()]:
            counts.settle(now)
            if not counts.is_empty:
                milliseconds = round(counts.seconds * 1000)
                taken[key_id] = Taken(
                    counts.requests, counts.refused, milliseconds, counts.quotes, counts.bytes
                )
                self._totals[key_id] += counts.requests
            if counts.sockets:
                counts.requests = counts.refused = counts.quotes = counts.bytes = 0
                counts.seconds = 0.0
            else:
                counts.is_over = True
                del self._counts[key_id]
        if len(self._totals) > MAX_TOTALS:
            self._totals = Counter(dict(self._totals.most_common(MAX_TOTALS // 2)))
        return taken

    def busiest(self, most: int) -> dict[str, tuple[int, int]]:
        """Returns the requests since the start and the open sockets of the keys with the most requests."""
        totals = self._totals.copy()
        for key_id, counts in self._counts.items():
            totals[key_id] += counts.requests
        return {
            key_id: (requests, self._counts[key_id].sockets if key_id in self._counts else 0)
            for key_id, requests in totals.most_common(most)
        }
