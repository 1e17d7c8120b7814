"""The writers of bars of an ingest's feeds, with their pool of connections to PostgreSQL."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping

from quotecast.bus.base import BusWriter
from quotecast.database.database import Database
from quotecast.history.writer import DEADLINE_SECONDS, BarWriter
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval
from quotecast.providers.base import QuoteProvider
from quotecast.settings.model import Settings

#: Returns the writer of a feed's bars in the market of a name.
MakeWriter = Callable[[Feed, str], BarWriter]


@contextlib.asynccontextmanager
async def bar_writers(
    settings: Settings,
    bus: BusWriter,
    statistics: Mapping[Feed, IngestStatistics],
) -> AsyncIterator[MakeWriter | None]:
    """Gives a function that makes the writer of a feed in a market; None without a database.

    The pool opens a connection on demand.
    """
    if not settings.database_url:
        yield None
        return
    # Without a statement cache any pooler will do; a minute needs a dozen statements.
    async with Database(
        settings.database_url, pool_size=len(Feed), statement_cache=0, deadline_seconds=DEADLINE_SECONDS
    ) as database:
        days = retention_days(settings)

        def make(feed: Feed, market: str) -> BarWriter:
            of_feed = statistics[feed]
            return BarWriter(
                feed, bus, database, days, market=market, statistics=of_feed.stored, figures=of_feed.days
            )

        yield make


def market_of(provider: QuoteProvider) -> str:
    """Returns the name of the market of a provider's quotes, as `FeedInfo.market` has it."""
    return provider.name if provider.simulated else ""


def retention_days(settings: Settings) -> dict[LiveInterval, int]:
    """Returns the days for which PostgreSQL holds bars, by interval."""
    return {
        "1m": settings.bars_1m_days,
        "5m": settings.bars_5m_days,
        "15m": settings.bars_15m_days,
        "1h": settings.bars_1h_days,
        "D": settings.bars_d_days,
    }


class FollowedBars:
    """Runs the writer of a followed feed's present market, which the origin names; `make` returns it.

    Bars of two markets have different names in PostgreSQL, and Redis has those of one. Without `make` there
    is no writer.
    """

    def __init__(self, make: Callable[[str], BarWriter] | None) -> None:
        self._make = make
        self._market: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def prepare(self, market: str) -> None:
        """Stops the writer of another market, before the bus has bars of this one."""
        if market != self._market:
            await self.stop()

    def start(self, market: str) -> None:
        """Starts the market's writer, unless it runs."""
        if self._make is None or self._task is not None:
            return
        self._market = market
        self._task = asyncio.create_task(self._make(market).run())

    async def stop(self) -> None:
        """Stops the writer."""
        task, self._task, self._market = self._task, None, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
