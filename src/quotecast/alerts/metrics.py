"""Metrics of alerts at an ingest, read at each scrape."""

from collections.abc import Iterator, Mapping

from prometheus_client import Metric

from quotecast.alerts.statistics import AlertStatistics
from quotecast.market.feeds import Feed
from quotecast.observe.metrics import counter, gauge

_GAUGES = (
    ("thresholds", "Distinct thresholds that alerts wait for.", "thresholds"),
    ("crossings_waiting", "Crossings that wait in Redis for PostgreSQL.", "waiting"),
    ("lag_seconds", "Seconds that the oldest of them has waited, else those that the last one did.", "lag"),
)
_COUNTERS = (
    ("events", "Events of alerts written to PostgreSQL.", "events"),
    ("write_failures", "Tries to write events of alerts that failed.", "failures"),
)


def alert_families(statistics: Mapping[Feed, AlertStatistics]) -> Iterator[Metric]:
    """Yields the metrics of each feed's alerts."""
    for kind, described in ((gauge, _GAUGES), (counter, _COUNTERS)):
        for name, meaning, field in described:
            values = {(feed,): getattr(each, field) for feed, each in statistics.items()}
            yield kind(f"alerts_{name}", meaning, values, ["feed"])
