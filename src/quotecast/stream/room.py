"""Counts a worker's connections against its capacity, and what was refused."""

import asyncio
from collections import Counter
from typing import Final

from quotecast.stream.capacity import FILES_PASSED_ON, SPARE_CONNECTIONS, Capacity

#: Seconds after which a client that found no room may try again.
RETRY_SECONDS: Final = 5


class Room:
    """The connections of one worker.

    One that has not said yet whether it is a feed or HTTP is silent. When open files run short, the room
    closes the oldest silent one, so that a newer one is heard. Feeds and HTTP stay until they end.
    """

    def __init__(self, capacity: Capacity | None = None) -> None:
        self.capacity = capacity or Capacity()
        self.http = 0
        #: Handshakes that were refused, by reason.
        self.refused: Counter[str] = Counter()
        #: Connections that ended for want of room, by kind.
        self.turned_away: Counter[str] = Counter()
        self._feeds: set[asyncio.Transport] = set()
        self._silent: dict[asyncio.Transport, None] = {}

    @property
    def feeds(self) -> int:
        """Connections that are feeds, until they have ended."""
        return len(self._feeds)

    @property
    def silent(self) -> int:
        """Connections that have not said yet what they are."""
        return len(self._silent)

    def wait(self, transport: asyncio.Transport) -> None:
        """Begins to wait for a connection's first bytes."""
        self._silent[transport] = None
        self._make_room()

    def take_feed(self, transport: asyncio.Transport) -> bool:
        """Makes a silent connection a feed; False if there is no place for one."""
        if self.feeds >= self.capacity.feeds:
            return False
        self._silent.pop(transport, None)
        self._feeds.add(transport)
        return True

    def leave(self, transport: asyncio.Transport) -> None:
        """Forgets a connection that was silent or a feed."""
        self._silent.pop(transport, None)
        self._feeds.discard(transport)

    def take_http(self, *, health: bool) -> bool:
        """Takes a place for an HTTP connection; False if there is none. Health checks have a reserve."""
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
        return self.feeds + self.http * FILES_PASSED_ON + len(self._silent)
