"""Counts of the outcomes of upstream calls and connections, since the process began.

They are global to the process, as logs are, so that no adapter passes a counter on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client import Metric

from quotecast.observe.metrics import counter, gauge
from quotecast.providers import refusals

#: REST calls by host and outcome: `answered`, `refused`, `failed` or `late`.
calls: Final[Counter[tuple[str, ...]]] = Counter()
#: Ends of connections, or of rounds of polling, by feed, provider and outcome: `ended`, `failed` or `broken`.
connections: Final[Counter[tuple[str, ...]]] = Counter()


def families(budgets: Mapping[str, int]) -> Iterator[Metric]:
    """Yields the counts as metrics; `budgets` are the calls left of each plan, by upstream."""
    yield counter("upstream_calls", "REST calls of upstreams.", calls, ["host", "outcome"])
    yield counter(
        "upstream_connections_ended",
        "Connections of upstreams that ended, each followed by another.",
        connections,
        ["feed", "provider", "outcome"],
    )
    yield counter(
        "upstream_refused",
        "Messages, rows, values and prices of upstreams that a check refused.",
        refusals.totals(),
        ["provider", "reason"],
    )
    yield gauge(
        "upstream_budget_remaining",
        "Calls that an upstream's plan still allowed, over all processes, at this process's last call.",
        {(upstream,): left for upstream, left in budgets.items()},
        ["upstream"],
    )
