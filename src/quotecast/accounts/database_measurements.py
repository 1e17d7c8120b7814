"""Counts and times of transactions, statements and connections, for metrics."""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from quotecast.errors import DatabaseAway
from quotecast.observe.histograms import Histogram

OUTCOMES: Final = ("committed", "rolled_back", "away")


class DatabaseMeasurements:
    """Counts of one pool since it opened; times are seconds."""

    def __init__(self) -> None:
        #: Times by outcome; each includes the wait for a connection.
        self.transactions = {outcome: Histogram() for outcome in OUTCOMES}
        #: From each statement to its rows or its error, BEGIN and COMMIT aside.
        self.statements = Histogram()
        #: Each transaction's wait for a connection, a new one included.
        self.waits = Histogram()
        self.connects = {"opened": 0, "failed": 0}
        #: By kind, which `quotecast.accounts.database_errors` names.
        self.errors = Counter[str]()

    @contextlib.contextmanager
    def measure_transaction(self) -> Iterator[None]:
        """Measures a transaction by how it ends."""
        began = time.perf_counter()
        outcome = "rolled_back"
        try:
            yield
            outcome = "committed"
        except DatabaseAway:
            outcome = "away"
            raise
        finally:
            self.transactions[outcome].observe(time.perf_counter() - began)

    @contextlib.contextmanager
    def measure_connect(self) -> Iterator[None]:
        """Counts a connection that opens or fails to."""
        outcome = "failed"
        try:
            yield
            outcome = "opened"
        finally:
            self.connects[outcome] += 1


@contextlib.contextmanager
def time_block(histogram: Histogram) -> Iterator[None]:
    """Observes how long the block takes, whether it fails or not."""
    began = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - began)
