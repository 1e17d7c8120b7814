"""The alerts of an ingest's feeds, with their pool of connections to PostgreSQL."""

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping

from quotecast.alerts.levels import LevelBook
from quotecast.alerts.writer import DEADLINE_SECONDS, CrossingWriter, FeedAlerts
from quotecast.background import run_beside
from quotecast.bus.base import BusWriter
from quotecast.database.database import Database
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.providers.base import QuoteProvider
from quotecast.settings.model import Settings
from quotecast.settings.plans import users_are_delayed


@contextlib.asynccontextmanager
async def alerts_of_feeds(
    settings: Settings,
    providers: Iterable[QuoteProvider],
    bus: BusWriter,
    statistics: Mapping[Feed, IngestStatistics],
) -> AsyncIterator[Mapping[Feed, FeedAlerts]]:
    """Follows the alerts of each provider's feed inside `async with`.

    Gives none without a database, and none where users see delayed quotes: an alert tells a live price.
    """
    if not settings.database_url or users_are_delayed(settings):
        yield {}
        return
    async with Database(
        settings.database_url, pool_size=len(Feed) + 1, statement_cache=0, deadline_seconds=DEADLINE_SECONDS
    ) as database:
        feeds = {each.feed: statistics[each.feed].alerts for each in providers}
        levels = LevelBook(bus, database, feeds)
        writers = {feed: CrossingWriter(feed, bus, database, statistics=own) for feed, own in feeds.items()}
        async with run_beside(levels.run()):
            yield {feed: FeedAlerts(levels, writer) for feed, writer in writers.items()}
