"""Documents, which ingest fetches as a whole: news and assets, from upstream to bus."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final

import structlog
from msgspec import Struct

from quotecast.backoff import Backoff
from quotecast.bus import wire
from quotecast.bus.base import ASSETS, NEWS, Document, Writer
from quotecast.errors import BusError, UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.news import cleaned
from quotecast.providers.base import AssetsProvider, NewsProvider

#: Seconds between two checks that the bus has the document: it may have lost its data.
CHECK_SECONDS: Final = 1.0

log = structlog.get_logger()


class DocumentSource(Struct, frozen=True):
    """A document's upstream; `fetch` raises UpstreamError."""

    feed: Feed
    name: str
    every_seconds: float
    fetch: Callable[[], Awaitable[Document]]


def news_source(provider: NewsProvider, feed: Feed) -> DocumentSource:
    """Returns the source of a feed's news, from which it removes HTML."""

    async def fetch() -> Document:
        return wire.document(feed, NEWS, [cleaned(article) for article in await provider.news()])

    return DocumentSource(feed, NEWS, provider.every_seconds, fetch)


def assets_source(provider: AssetsProvider, feed: Feed) -> DocumentSource:
    """Returns the source of a feed's instruments."""

    async def fetch() -> Document:
        return wire.document(feed, ASSETS, await provider.assets())

    return DocumentSource(feed, ASSETS, provider.every_seconds, fetch)


@contextlib.asynccontextmanager
async def publish_documents(
    sources: Iterable[DocumentSource], bus: Writer, owner: str
) -> AsyncIterator[None]:
    """Publishes the documents inside `async with`; the caller leads their feed meanwhile."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(DocumentPublisher(source, bus, owner).run()) for source in sources]
        yield
        for task in tasks:
            task.cancel()


class DocumentPublisher:
    """Publishes one document whenever its upstream changes it; the last good one while the upstream fails."""

    def __init__(
        self,
        source: DocumentSource,
        bus: Writer,
        owner: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._source = source
        self._bus = bus
        self._owner = owner
        self._clock = clock
        self._sleep = sleep
        self._backoff = Backoff(chance=chance)
        self._ask_at = clock()
        self._document: Document | None = None

    async def run(self) -> None:
        """Fetches the document at the upstream's pace and stores it where the bus lacks it, without end."""
        while True:
            if self._clock() >= self._ask_at:
                wait = await self._ask()
                self._ask_at = self._clock() + wait
            if self._document is not None:
                await self._store(self._document)
            await self._sleep(CHECK_SECONDS)

    async def _ask(self) -> float:
        """Fetches the document. Returns the seconds until the next fetch."""
        source = self._source
        try:
            self._document = await source.fetch()
        except UpstreamError as error:
            log.warning("upstream failed", feed=source.feed, document=source.name, error=str(error))
            return max(self._backoff.delay(), error.retry_after or 0.0)
        except Exception:
            # A bug in one adapter must not end the feed.
            log.exception("provider failed", feed=source.feed, document=source.name)
            return self._backoff.delay()
        self._backoff.reset()
        return source.every_seconds

    async def _store(self, document: Document) -> None:
        """Stores the document. Without the lease the bus refuses it: the present leader stores its own."""
        try:
            if await self._bus.digest(document.feed, document.name) == document.digest:
                return
            if await self._bus.store(self._owner, document):
                log.info("document changed", feed=document.feed, document=document.name)
        except BusError as error:
            log.warning("document not stored", feed=document.feed, document=document.name, error=str(error))
