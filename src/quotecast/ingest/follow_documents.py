"""The documents of a followed feed: copied from the origin, and again where the bus here lost them."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from quotecast.bus.base import DOCUMENTS, BusReader, BusWriter, Document
from quotecast.bus.wire import digest_of
from quotecast.errors import BusError
from quotecast.ingest.documents import CHECK_SECONDS, store_where_missing
from quotecast.market.feeds import Feed
from quotecast.observe.outages import OutageLog

log = structlog.get_logger()


class FollowedDocuments:
    """Copies one feed's documents whenever `look` says that the origin's may have changed."""

    def __init__(
        self,
        feed: Feed,
        origin: BusReader,
        bus: BusWriter,
        owner: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._feed = feed
        self._origin = origin
        self._bus = bus
        self._owner = owner
        self._sleep = sleep
        self._copies: dict[str, Document] = {}
        #: Names of documents to ask the origin for.
        self._due: set[str] = set()
        self._outage = OutageLog()

    def look(self) -> None:
        """Asks the origin for its documents at the next step."""
        self._due.update(DOCUMENTS)

    async def run(self) -> None:
        """Copies documents without end; the caller leads the feed meanwhile."""
        while True:
            await self.step()
            await self._sleep(CHECK_SECONDS)

    async def step(self) -> None:
        """Copies what changed at the origin, and stores what the bus here lacks."""
        due, self._due = self._due, set()
        for name in sorted(due):
            try:
                await self._copy(name)
            except BusError:
                # The line is lost, or the document unreadable: the next step asks again.
                self._due.add(name)
        for document in self._copies.values():
            await store_where_missing(document, self._bus, self._owner, self._outage)

    async def _copy(self, name: str) -> None:
        """Copies a document. Raises BusError, and keeps the last copy where the origin's is unreadable."""
        copy = self._copies.get(name)
        digest = await self._origin.digest(self._feed, name)
        if digest is None or (copy is not None and digest == copy.digest):
            return
        document = await self._origin.document(self._feed, name)
        if document is None:
            return
        if document.digest == digest_of(document.content):
            self._copies[name] = document
        else:
            log.warning("document of the origin is damaged", feed=self._feed, document=name)
            await self._origin.report_document(document)
