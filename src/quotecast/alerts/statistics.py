"""Counts of the alerts of one feed, across the terms of its leader, and of deliveries, with their metrics."""

import time
from collections import Counter
from collections.abc import Iterator

from prometheus_client import Metric

from quotecast.market.crossings import Crossing
from quotecast.observe.histograms import Histogram
from quotecast.observe.metrics import counter, gauge, histogram

CHANNELS = ("webhook", "push")


class AlertStatistics:
    """Counts since the process began."""

    def __init__(self) -> None:
        #: Events written, and tries to write that failed.
        self.events = 0
        self.failures = 0
        #: Crossings that wait in Redis.
        self.waiting = 0
        #: Distinct thresholds that alerts wait for.
        self.thresholds = 0
        self._oldest = 0.0
        self._last_lag = 0.0

    @property
    def lag(self) -> float:
        """Returns the seconds that the oldest crossing has waited, else those that the last one did."""
        return time.time() - self._oldest if self.waiting else self._last_lag

    def note_waiting(self, count: int, oldest: Crossing) -> None:
        """Takes note of the crossings that wait."""
        self.waiting, self._oldest = count, oldest.at

    def note_written(self, newest: Crossing) -> None:
        """Takes note that all crossings up to this one became events, or did not concern any alert."""
        self.waiting = 0
        self._last_lag = time.time() - newest.at

    def forget_waiting(self) -> None:
        """Forgets what waits: another ingest writes it."""
        self.waiting = 0


class DeliveryStatistics:
    """The deliveries of one ingest."""

    def __init__(self) -> None:
        #: By channel and outcome: sent, retried, failed, unsubscribed.
        self.outcomes: Counter[tuple[str, str]] = Counter()
        #: Seconds from the event to the receiver's answer.
        self.delays = {channel: Histogram() for channel in CHANNELS}
        self.posting = 0
        self.overdue = 0
        self.overdue_seconds = 0.0
        self.failures = 0


def delivery_families(statistics: DeliveryStatistics) -> Iterator[Metric]:
    """Yields the metrics of deliveries."""
    outcomes = [
        (channel, outcome)
        for channel in CHANNELS
        for outcome in ("sent", "retried", "failed", "unsubscribed")
        if (channel, outcome) != ("webhook", "unsubscribed")
    ]
    yield counter(
        "alert_deliveries",
        "Posts to receivers of events; `retried`: failed, and tried again later; `failed`: given up.",
        {key: statistics.outcomes[key] for key in outcomes},
        ["channel", "outcome"],
    )
    yield histogram(
        "alert_delivery_delay_seconds",
        "Time from a crossing to the receiver's answer, retries included.",
        {(channel,): delays for channel, delays in statistics.delays.items()},
        ["channel"],
    )
    yield gauge("alert_deliveries_posting", "Posts in progress.", statistics.posting)
    yield gauge("alert_deliveries_overdue", "Deliveries that are due and not sent.", statistics.overdue)
    yield gauge(
        "alert_deliveries_overdue_seconds",
        "Seconds for which the oldest of them is due.",
        statistics.overdue_seconds,
    )
    yield counter(
        "alert_delivery_failures",
        "Looks for deliveries, and records of their outcome, that PostgreSQL did not take.",
        statistics.failures,
    )
