"""Metrics of an ingest, read from its statistics at each scrape."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from prometheus_client import Metric

from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LIVE_INTERVALS
from quotecast.observe.metrics import counter, gauge
from quotecast.providers.transport import outcomes

#: Names, meanings and fields of metrics.
Described = tuple[tuple[str, str, str], ...]

_FEED: Final[tuple[Described, Described]] = (
    (
        ("lease_held", "1 while this ingest leads the feed.", "leading"),
        ("seq", "Sequence number in the epoch of the last batch published from here.", "seq"),
        ("upstream_update_timestamp_seconds", "Unix time of the last update of the upstream.", "heard_at"),
    ),
    (
        ("batches", "Batches published.", "batches"),
        ("changes", "Changes in the published batches.", "changes"),
        ("epochs", "Epochs begun.", "epochs"),
        ("bars", "Bars that became final.", "bars"),
        ("late_updates", "Updates that came too late for any bar.", "late"),
        ("crossings", "Steps of a measure over thresholds of alerts.", "crossings"),
        ("failures", "Batches and beats that the bus did not take.", "failures"),
    ),
)
_LAG: Final = "Seconds that the oldest of them has waited, else those that the last one did."
_BARS: Final[tuple[Described, Described]] = (
    (
        ("waiting", "Minutes of bars that wait in Redis for PostgreSQL.", "waiting"),
        ("lag_seconds", _LAG, "lag"),
    ),
    (
        ("minutes_lost", "Minutes of bars that left Redis before PostgreSQL took them.", "lost"),
        ("write_failures", "Tries to write bars that failed.", "failures"),
    ),
)
_ALERTS: Final[tuple[Described, Described]] = (
    (
        ("thresholds", "Distinct thresholds that alerts wait for.", "thresholds"),
        ("crossings_waiting", "Crossings that wait in Redis for PostgreSQL.", "waiting"),
        ("lag_seconds", _LAG, "lag"),
    ),
    (
        ("events", "Events of alerts written to PostgreSQL.", "events"),
        ("write_failures", "Tries to write events of alerts that failed.", "failures"),
    ),
)


def families(statistics: Mapping[Feed, IngestStatistics], budgets: Mapping[str, int]) -> Iterator[Metric]:
    """Yields all metrics of an ingest; `budgets` are the calls left of each plan, by upstream."""
    yield from _of_feeds("ingest", _FEED, statistics)
    stored = {feed: each.stored for feed, each in statistics.items()}
    yield from _of_feeds("bars", _BARS, stored)
    written = {
        (feed, interval): each.written[interval]
        for feed, each in stored.items()
        for interval in LIVE_INTERVALS
    }
    yield counter("bars_written", "Bars written to PostgreSQL.", written, ["feed", "interval"])
    yield from _of_feeds("alerts", _ALERTS, {feed: each.alerts for feed, each in statistics.items()})
    yield from outcomes.families(budgets)


def _of_feeds(
    prefix: str, described: tuple[Described, Described], statistics: Mapping[Feed, Any]
) -> Iterator[Metric]:
    """Yields gauges and counters with a value for each feed."""
    for kind, metrics in zip((gauge, counter), described, strict=True):
        for name, meaning, field in metrics:
            values = {(feed,): getattr(each, field) for feed, each in statistics.items()}
            yield kind(f"{prefix}_{name}", meaning, values, ["feed"])
