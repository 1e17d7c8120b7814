"""Measurements of transactions, statements and connections, for metrics."""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from quotecast.errors import DatabaseAway
from quotecast.observe.histograms import Histogram

OUTCOMES: Final = ("committed", "rolled_back", "away")


class DatabaseMeasurements:
    """Measurements of one pool since it opened; times are seconds."""

    def __init__(self) -> None:
        #: Durations by outcome, each with the wait for a connection.
        self.transactions = {outcome: Histogram() for outcome in OUTCOMES}
        #: Durations of statements, failed ones included, without BEGIN and COMMIT.
        self.statements = Histogram()
        #: Each transaction's wait for a connection, including the opening of a new one.
        self.waits = Histogram()
        self.connects = {"opened": 0, "failed": 0}
        #: Errors by their kinds in `quotecast.database.errors`.
        self.errors = Counter[str]()

    @contextlib.contextmanager
    def measure_transaction(self) -> Iterator[None]:
        """Measures a transaction, by outcome."""
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
        """Counts an attempt to connect, by outcome."""
        outcome = "failed"
        try:
            yield
            outcome = "opened"
        finally:
            self.connects[outcome] += 1


@contextlib.contextmanager
def time_block(histogram: Histogram) -> Iterator[None]:
    """Observes the duration of a block, even if it raises."""
    began = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - began)
