"""The report of an ingest for the operator's page: its feeds, and what its upstreams did."""

import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

from quotecast.background import run_beside
from quotecast.ingest.lease import LEASE_MILLISECONDS, Standing
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.operators.reports.model import Counted, IngestReport, LedFeed
from quotecast.operators.reports.reporter import Reporter
from quotecast.operators.reports.store import ReportStore
from quotecast.providers import refusals
from quotecast.providers.transport import outcomes
from quotecast.settings.model import Settings

#: Entries of each list of counts.
_MOST_COUNTS: Final = 100


class IngestReporter:
    """Makes the reports of an ingest. `wall_clock` is Unix time."""

    def __init__(
        self,
        statistics: Mapping[str, IngestStatistics],
        budgets: Mapping[str, int],
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._statistics = statistics
        self._budgets = budgets
        self._wall_clock = wall_clock
        self._roles: dict[str, tuple[Standing, float]] = {}

    def make(self, _seconds: float, _lag_seconds: float) -> IngestReport:
        """Returns a report."""
        return IngestReport(
            lease_seconds=LEASE_MILLISECONDS / 1000,
            feeds=[self._feed(feed, each) for feed, each in self._statistics.items()],
            connections=_counted(outcomes.connections),
            calls=_counted(outcomes.calls),
            refusals=_counted(refusals.totals()),
            budgets=_counted({(upstream,): left for upstream, left in self._budgets.items()}),
        )

    def _feed(self, feed: str, statistics: IngestStatistics) -> LedFeed:
        standing, since = self._roles.get(feed, ("unknown", self._wall_clock()))
        if standing != statistics.standing:
            since = self._wall_clock()
        self._roles[feed] = statistics.standing, since
        return LedFeed(
            feed=feed,
            standing=statistics.standing,
            since=since,
            epochs=statistics.epochs,
            batches=statistics.batches,
            seq=statistics.seq,
            failures=statistics.failures,
            heard_at=statistics.heard_at,
        )


@contextlib.asynccontextmanager
async def reporting(
    settings: Settings,
    live: Mapping[Feed, IngestStatistics],
    delayed: Mapping[Feed, IngestStatistics],
    budgets: Mapping[str, int],
) -> AsyncIterator[None]:
    """Reports while the context lasts, where the page is on. Delayed feeds have names of their own."""
    if settings.admin == "off":
        yield
        return
    process = f"{os.getpid()}-{secrets.token_hex(8)}"
    async with ReportStore(settings.redis_url, settings.redis_prefix) as store:
        late = {f"{feed}-delayed": each for feed, each in delayed.items()}
        statistics = {**{str(feed): each for feed, each in live.items()}, **late}
        reporter = Reporter(store, process, IngestReporter(statistics, budgets).make)
        async with run_beside(reporter.run()):
            yield


def _counted(counts: Mapping[Any, int]) -> list[Counted]:
    return [Counted(tuple(map(str, of)), count) for of, count in sorted(counts.items())][:_MOST_COUNTS]
