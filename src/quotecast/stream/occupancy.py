"""Admission of connections: counts a worker's connections against its capacity."""

import asyncio
from collections import Counter
from typing import Final

from quotecast.stream.capacity import FILES_FORWARDED, SPARE_CONNECTIONS, Capacity

#: Seconds after which a client that was refused may try again.
RETRY_SECONDS: Final = 5


class Occupancy:
    """The connections of one worker, by kind.

    A connection is silent until its first bytes say whether it is a feed or HTTP. When open files run short,
    the worker closes the oldest silent connection for a newer one. It never closes feeds and HTTP.
    """

    def __init__(self, capacity: Capacity | None = None) -> None:
        self.capacity = capacity or Capacity()
        self.http = 0
        #: Refused handshakes by reason.
        self.refused: Counter[str] = Counter()
        #: Connections that the worker refused or closed, by kind.
        self.turned_away: Counter[str] = Counter()
        self._feeds: set[asyncio.Transport] = set()
        self._silent: dict[asyncio.Transport, None] = {}

    @property
    def feeds(self) -> int:
        """The number of open feeds."""
        return len(self._feeds)

    @property
    def silent(self) -> int:
        """The number of connections that have sent no first bytes yet."""
        return len(self._silent)

    def wait(self, transport: asyncio.Transport) -> None:
        """Adds a silent connection."""
        self._silent[transport] = None
        self._make_room()

    def take_feed(self, transport: asyncio.Transport) -> bool:
        """Turns a silent connection into a feed; returns False if the worker is full."""
        if self.feeds >= self.capacity.feeds:
            return False
        self._silent.pop(transport, None)
        self._feeds.add(transport)
        return True

    def leave(self, transport: asyncio.Transport) -> None:
        """Removes a silent connection or a feed."""
        self._silent.pop(transport, None)
        self._feeds.discard(transport)

    def take_http(self, *, health: bool) -> bool:
        """Adds an HTTP connection; returns False if the worker is full. Health checks have a reserve."""
        most = self.capacity.http + (SPARE_CONNECTIONS if health else 0)
        if self.http >= most:
            self.turned_away["http"] += 1
            return False
        self.http += 1
        self._make_room()
        return True

    def _make_room(self) -> None:
        while self._silent and self._files() > self.capacity.files:
            oldest = next(iter(self._silent))
            self.leave(oldest)
            oldest.abort()
            self.turned_away["silent"] += 1

    def _files(self) -> int:
        return self.feeds + self.http * FILES_FORWARDED + len(self._silent)
