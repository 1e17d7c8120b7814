"""Reports of processes that do not exist."""

from typing import Any

from quotecast.operators.reports.model import Report, WorkerReport


def worker_report(**other: Any) -> WorkerReport:
    given: dict[str, Any] = {
        "sockets": 0,
        "http": 0,
        "requests": 0,
        "requests_per_second": 0.0,
        "lag_seconds": 0.0,
        "transactions": 0,
        "limits_alone": False,
        "feeds": [],
        "keys": [],
        "slow": [],
        "limits": [],
        "handshakes_refused": {},
        "expelled": 0,
        "logins": {},
    }
    return WorkerReport(**(given | other))


def report(process: str, **other: Any) -> Report:
    """Returns the report of a worker."""
    given: dict[str, Any] = {"kind": "api", "host": "here", "pid": 1, "version": "0", "started_at": 0.0}
    return Report(id=process, at=0.0, worker=worker_report(**other), **given)
