"""Metrics of an ingest, read from its statistics at each scrape."""

from collections.abc import Iterator, Mapping

from prometheus_client import Metric

from quotecast.alerts.metrics import alert_families
from quotecast.history.metrics import bar_families
from quotecast.ingest.publish import IngestStatistics
from quotecast.market.feeds import Feed
from quotecast.observe.metrics import counter, gauge
from quotecast.providers.transport import outcomes

_GAUGES = (
    ("lease_held", "1 while this ingest leads the feed.", "leading"),
    ("seq", "Sequence number in the epoch of the last batch published from here.", "seq"),
    ("upstream_update_timestamp_seconds", "Unix time of the last update of the upstream.", "heard_at"),
)
_COUNTERS = (
    ("batches", "Batches published.", "batches"),
    ("changes", "Changes in the published batches.", "changes"),
    ("epochs", "Epochs begun.", "epochs"),
    ("bars", "Bars that became final.", "bars"),
    ("late_updates", "Updates that came too late for any bar.", "late"),
    ("crossings", "Steps of a measure over thresholds of alerts.", "crossings"),
    ("failures", "Batches and beats that the bus did not take.", "failures"),
)


def families(statistics: Mapping[Feed, IngestStatistics], budgets: Mapping[str, int]) -> Iterator[Metric]:
    """Yields all metrics of an ingest; `budgets` are the calls left of each plan, by upstream."""
    for kind, described in ((gauge, _GAUGES), (counter, _COUNTERS)):
        for name, meaning, field in described:
            values = {(feed,): getattr(each, field) for feed, each in statistics.items()}
            yield kind(f"ingest_{name}", meaning, values, ["feed"])
    yield from bar_families({feed: each.stored for feed, each in statistics.items()})
    yield from alert_families({feed: each.alerts for feed, each in statistics.items()})
    yield from outcomes.families(budgets)
