"""Latency and errors of Redis commands, and connections, since the process began.

They are global to the process, as logs are, so that every client counts without a reference to the metrics.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final, Literal

from prometheus_client import Metric
from redis.exceptions import ConnectionError as NoConnectionError
from redis.exceptions import TimeoutError as LateError

from quotecast.observe.histograms import Histogram
from quotecast.observe.metrics import counter, histogram

#: The users of Redis in one process.
Part = Literal["access", "bus", "cache", "kept", "lease", "limits", "reports"]

#: Seconds by part, failures included.
latencies: Final[defaultdict[tuple[str], Histogram]] = defaultdict(Histogram)
#: By part and kind.
errors: Final[Counter[tuple[str, str]]] = Counter()
#: Connections made, by part.
connects: Final[Counter[tuple[str]]] = Counter()
#: Times that a part closed all its connections to find the master, by part.
reconnects: Final[Counter[tuple[str]]] = Counter()

#: Error codes of Redis, in lower case, that are kinds of their own.
CODES: Final = {
    *("readonly", "loading", "masterdown", "noreplicas", "clusterdown"),
    *("oom", "misconf", "busy", "noauth", "wrongpass", "noperm", "wrongtype"),
}


def error_kind(error: BaseException) -> str:
    """Returns one of CODES, else `timeout`, `connection` or `other`."""
    code = (getattr(error, "status_code", None) or str(error).partition(" ")[0]).lower()
    if code in CODES:
        return code
    if isinstance(error, TimeoutError | LateError):
        return "timeout"
    return "connection" if isinstance(error, OSError | NoConnectionError) else "other"


def families() -> Iterator[Metric]:
    """Yields the counts as metrics."""
    yield histogram(
        "redis_command_duration_seconds",
        "Time from a command to its answer or failure, a wait for a connection included.",
        dict(latencies),
        ["part"],
    )
    yield counter(
        "redis_errors",
        "Commands that failed; `kind` is the server's error code, or timeout, connection, other.",
        errors,
        ["part", "kind"],
    )
    yield counter("redis_connects", "Connections made.", connects, ["part"])
    yield counter(
        "redis_reconnects",
        "Times that a part closed all connections, so that the next ones find the master.",
        reconnects,
        ["part"],
    )
