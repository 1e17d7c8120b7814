"""The alerts of an ingest's feeds and the delivery of their events, each with its pool of connections."""

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

from quotecast.alerts.delivery import Delivery
from quotecast.alerts.levels import LevelBook
from quotecast.alerts.outbound import make_outbound
from quotecast.alerts.push import make_vapid
from quotecast.alerts.statistics import DeliveryStatistics
from quotecast.alerts.writer import DEADLINE_SECONDS, CrossingWriter, FeedAlerts
from quotecast.background import run_beside
from quotecast.bus.base import BusWriter
from quotecast.database.database import Database
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.providers.base import QuoteProvider
from quotecast.settings.model import Settings
from quotecast.settings.plans import users_are_delayed

DELIVERY_CONNECTIONS: Final = 4
#: Seconds of one transaction; a claim looks at up to a thousand rows.
DELIVERY_DEADLINE_SECONDS: Final = 5.0


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


@contextlib.asynccontextmanager
async def deliver_events(settings: Settings, statistics: DeliveryStatistics) -> AsyncIterator[None]:
    """Delivers inside `async with`; does nothing without a database.

    Every ingest delivers, whether it leads a feed or not.
    """
    if not settings.database_url:
        yield
        return
    # Without a statement cache any pooler will do.
    async with Database(
        settings.database_url,
        pool_size=DELIVERY_CONNECTIONS,
        statement_cache=0,
        deadline_seconds=DELIVERY_DEADLINE_SECONDS,
    ) as database:
        delivery = Delivery(
            database,
            make_outbound(settings.webhook_networks, production=settings.mode == "production"),
            make_vapid(settings.vapid_private_key, settings.vapid_contact),
            event_days=settings.alert_events_days,
            statistics=statistics,
        )
        async with run_beside(delivery.run()):
            yield
