"""The writers of bars of an ingest's feeds, with their pool of connections to PostgreSQL."""

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial

from quotecast.accounts.database import Database
from quotecast.bus.base import BusWriter
from quotecast.history.writer import DEADLINE_SECONDS, BarWriter
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval
from quotecast.providers.base import QuoteProvider
from quotecast.settings.model import Settings


@contextlib.asynccontextmanager
async def bar_writers(
    settings: Settings,
    providers: Iterable[QuoteProvider],
    bus: BusWriter,
    statistics: Mapping[Feed, IngestStatistics],
) -> AsyncIterator[Mapping[Feed, BarWriter]]:
    """Gives the writer of each provider's feed; none without a database.

    The pool opens a connection on demand.
    """
    if not settings.database_url:
        yield {}
        return
    # Without a statement cache any pooler will do; a minute needs a dozen statements.
    async with Database(
        settings.database_url, pool_size=len(Feed), statement_cache=0, deadline_seconds=DEADLINE_SECONDS
    ) as database:
        writer = partial(BarWriter, bus=bus, database=database, days=retention_days(settings))
        yield {
            each.feed: writer(
                each.feed, market=each.name if each.simulated else "", statistics=statistics[each.feed].stored
            )
            for each in providers
        }


def retention_days(settings: Settings) -> dict[LiveInterval, int]:
    """Returns the days for which PostgreSQL holds bars, by interval."""
    return {
        "1m": settings.bars_1m_days,
        "5m": settings.bars_5m_days,
        "15m": settings.bars_15m_days,
        "1h": settings.bars_1h_days,
        "D": settings.bars_d_days,
    }
