"""Delivery of events in the ingest process, with its pool of connections to PostgreSQL."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

from quotecast.alerts.delivery import Delivery
from quotecast.alerts.delivery_metrics import DeliveryStatistics
from quotecast.alerts.outbound import make_outbound
from quotecast.alerts.push import make_vapid
from quotecast.background import run_beside
from quotecast.database.database import Database
from quotecast.settings.model import Settings

CONNECTIONS: Final = 4
#: Seconds of one transaction; a claim looks at up to a thousand rows.
DEADLINE_SECONDS: Final = 5.0


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
        settings.database_url, pool_size=CONNECTIONS, statement_cache=0, deadline_seconds=DEADLINE_SECONDS
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
