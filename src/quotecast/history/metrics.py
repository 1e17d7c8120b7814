"""Metrics of the writers of bars, read at each scrape."""

from collections.abc import Iterator, Mapping

from prometheus_client import Metric

from quotecast.history.statistics import BarStatistics
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS
from quotecast.observe.metrics import counter, gauge

_GAUGES = (
    ("waiting", "Minutes of bars that wait in Redis for PostgreSQL.", "waiting"),
    ("lag_seconds", "Seconds that the oldest of them has waited, else those that the last one did.", "lag"),
)
_COUNTERS = (
    ("minutes_lost", "Minutes of bars that left Redis before PostgreSQL took them.", "lost"),
    ("write_failures", "Tries to write bars that failed.", "failures"),
)


def bar_families(statistics: Mapping[Feed, BarStatistics]) -> Iterator[Metric]:
    """Yields the metrics of each feed's bars on their way to PostgreSQL."""
    for kind, described in ((gauge, _GAUGES), (counter, _COUNTERS)):
        for name, meaning, field in described:
            values = {(feed,): getattr(each, field) for feed, each in statistics.items()}
            yield kind(f"bars_{name}", meaning, values, ["feed"])
    written = {
        (feed, interval): each.written[interval]
        for feed, each in statistics.items()
        for interval in LIVE_INTERVALS
    }
    yield counter("bars_written", "Bars written to PostgreSQL.", written, ["feed", "interval"])
