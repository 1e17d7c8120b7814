"""Metrics of API keys in one API worker."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import Metric

from quotecast.access.usage import Usage
from quotecast.observe.metrics import counter, gauge

#: Keys with metrics of their own: those with the most requests.
BUSIEST: Final = 20


def families(known: int, usage: Usage) -> Iterator[Metric]:
    """Yields the metrics of keys. Labels name a key by its id, never by its text."""
    busiest = usage.busiest(BUSIEST)
    yield gauge("api_keys_known", "API keys that this worker knows without asking PostgreSQL.", known)
    yield counter(
        "key_requests",
        f"Requests of the {BUSIEST} API keys with the most since the start; a handshake is one.",
        {(key_id,): requests for key_id, (requests, _) in busiest.items()},
        ["key"],
    )
    yield gauge(
        "key_sockets",
        "Open WebSockets and event streams of these API keys.",
        {(key_id,): sockets for key_id, (_, sockets) in busiest.items()},
        ["key"],
    )
    yield counter(
        "key_refusals",
        "Refused requests with an API key, by status; 401: invalid, 403: plan or scope, 429: limit.",
        {(str(status),): count for status, count in usage.refusals.items()},
        ["code"],
    )
