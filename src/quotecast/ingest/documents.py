"""Documents, which ingest fetches as a whole: news, assets and renames, from upstream to bus."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final

import structlog
from msgspec import Struct

from quotecast.background import fail_with_awaited_tasks
from quotecast.backoff import Backoff
from quotecast.bus import wire
from quotecast.bus.base import ASSETS, NEWS, RENAMES, BusWriter, Document
from quotecast.errors import BusError, NotOffered, UnreadableState, UpstreamError, UpstreamRefused
from quotecast.market.feeds import Feed
from quotecast.market.news import clean_article
from quotecast.observe.outages import OutageLog
from quotecast.providers.base import AssetsProvider, NewsProvider, RenamesProvider

#: Seconds between two checks that the bus has the document: it may have lost its data.
CHECK_SECONDS: Final = 1.0
#: Seconds until the next call after a refusal that a retry does not change, such as that of the plan.
REFUSED_SECONDS: Final = 3600.0
_FINAL_STATUSES: Final = frozenset({401, 402, 403, 404})

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
        return wire.encode_document(feed, NEWS, [clean_article(article) for article in await provider.news()])

    return DocumentSource(feed, NEWS, provider.every_seconds, fetch)


def assets_source(provider: AssetsProvider, feed: Feed) -> DocumentSource:
    """Returns the source of a feed's instruments."""

    async def fetch() -> Document:
        return wire.encode_document(feed, ASSETS, await provider.assets())

    return DocumentSource(feed, ASSETS, provider.every_seconds, fetch)


def renames_source(provider: RenamesProvider, feed: Feed) -> DocumentSource:
    """Returns the source of a feed's renames."""

    async def fetch() -> Document:
        return wire.encode_document(feed, RENAMES, await provider.renames())

    return DocumentSource(feed, RENAMES, provider.every_seconds, fetch)


@contextlib.asynccontextmanager
async def publish_documents(
    sources: Iterable[DocumentSource], bus: BusWriter, owner: str
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
        bus: BusWriter,
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
        self._outage = OutageLog(clock)

    async def run(self) -> None:
        """Fetches the document at the upstream's pace and stores it where the bus lacks it, without end."""
        while True:
            if self._clock() >= self._ask_at:
                wait = await self._ask()
                self._ask_at = self._clock() + wait
            document = self._document
            if document and await store_where_missing(document, self._bus, self._owner, self._outage):
                log.info("document changed", feed=document.feed, document=document.name)
            await self._sleep(CHECK_SECONDS)

    async def _ask(self) -> float:
        """Fetches the document. Returns the seconds until the next fetch."""
        source = self._source
        try:
            with fail_with_awaited_tasks():
                self._document = await source.fetch()
        except (UpstreamError, NotOffered) as error:
            log.warning("upstream failed", feed=source.feed, document=source.name, error=str(error))
            # To a retry the upstream would answer the same.
            if isinstance(error, NotOffered) or (
                isinstance(error, UpstreamRefused) and error.upstream_status in _FINAL_STATUSES
            ):
                return REFUSED_SECONDS
            return max(self._backoff.delay(), getattr(error, "retry_after", None) or 0.0)
        except Exception:
            # A bug in one adapter must not end the feed.
            log.exception("provider failed", feed=source.feed, document=source.name)
            return self._backoff.delay()
        self._backoff.reset()
        return source.every_seconds


async def store_where_missing(document: Document, bus: BusWriter, owner: str, outage: OutageLog) -> bool:
    """Stores a document that the bus lacks; returns whether it did. Never raises.

    Without the lease the bus refuses it: the present leader stores its own.
    """
    place = {"feed": document.feed, "document": document.name}
    try:
        stored = await _digest_on(bus, document) != document.digest and await bus.store(owner, document)
    except BusError as error:
        outage.log_failure("could not store document", **place, error=str(error))
        return False
    outage.log_end("the bus answers again", **place)
    return stored


async def _digest_on(bus: BusWriter, document: Document) -> str | None:
    """Returns None too for a key of another type, which storing replaces."""
    try:
        return await bus.digest(document.feed, document.name)
    except UnreadableState:
        return None
