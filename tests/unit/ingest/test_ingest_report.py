"""The report of an ingest."""

import pytest

from quotecast.ingest.publish import IngestStatistics
from quotecast.ingest.report import IngestReporter
from quotecast.operators.reports.model import Counted
from quotecast.providers.transport import outcomes


def test_role_has_its_beginning() -> None:
    """`since` changes with the role and with nothing else."""
    statistics, now = {"crypto": IngestStatistics(standing="standby")}, [100.0]
    reporter = IngestReporter(statistics, {}, lambda: now[0])

    def role() -> tuple[str, float]:
        [feed] = reporter.make(2.0, 0.0).feeds
        return feed.standing, feed.since

    assert role() == ("standby", 100.0)
    now[0] = 102.0
    assert role() == ("standby", 100.0)
    statistics["crypto"].set_standing("leading")
    assert role() == ("leading", 102.0)


def test_upstreams_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections, calls and what is left of plans, each with its labels."""
    monkeypatch.setitem(outcomes.connections, ("crypto", "binance", "failed"), 3)
    monkeypatch.setitem(outcomes.calls, ("api.example.com", "refused"), 2)
    report = IngestReporter({}, {"finnhub": 41}).make(2.0, 0.0)
    assert Counted(("crypto", "binance", "failed"), 3) in report.connections
    assert Counted(("api.example.com", "refused"), 2) in report.calls
    assert report.budgets == [Counted(("finnhub",), 41)]
