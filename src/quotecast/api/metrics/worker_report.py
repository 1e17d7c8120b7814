"""The report of a worker for the operator's page, read from its components every two seconds."""

import heapq
import os
from collections import Counter, defaultdict
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, Final

from quotecast.access.keys import is_session
from quotecast.api.gate.addresses import network_of
from quotecast.api.limits.requests import Requests
from quotecast.api.metrics.metrics import ApiWorkerParts
from quotecast.market.feeds import Feed
from quotecast.operators.reports.model import (
    MAX_ENTRIES,
    FeedReport,
    KeyReport,
    LimitReport,
    SlowClient,
    WorkerReport,
)
from quotecast.operators.reports.reporter import Reporter
from quotecast.operators.reports.store import ReportStore
from quotecast.stream.client import Client, connection_id
from quotecast.stream.clients import Clients

#: Reasons, outcomes and groups are few; this bounds them all the same.
_MOST_COUNTS: Final = 50


class WorkerReporter:
    """Makes the reports of a worker. `providers` are the configured ones by feed."""

    def __init__(self, worker: ApiWorkerParts, providers: Mapping[Feed, str]) -> None:
        self._worker = worker
        self._providers = {str(feed): provider for feed, provider in providers.items()}
        self._requests = 0

    def make(self, seconds: float, lag_seconds: float) -> WorkerReport:
        """Returns a report, `seconds` after the last one."""
        worker, clients = self._worker, self._worker.streams.clients
        total = sum(each.count for each in worker.requests.latencies().values())
        rate, self._requests = (total - self._requests) / max(seconds, 0.001), total
        return WorkerReport(
            sockets=sum(clients.sockets.values()),
            http=worker.occupancy.http,
            requests=total,
            requests_per_second=round(rate, 1),
            lag_seconds=round(lag_seconds, 4),
            transactions=worker.database.statistics()["transactions"],
            limits_alone=bool(worker.window.statistics().alone),
            feeds=[self._feed(feed) for feed in worker.hubs],
            keys=_keys(worker, clients),
            slow=slowest(clients, MAX_ENTRIES, worker.monotonic()),
            limits=_limits(worker.requests),
            handshakes_refused=dict((worker.occupancy.refused + clients.refused).most_common(_MOST_COUNTS)),
            expelled=sum(hub.statistics()["expelled"] for hub in worker.hubs.values()),
            logins=dict(worker.logins.outcomes),
        )

    def _feed(self, feed: str) -> FeedReport:
        mirror, now = self._worker.hubs[feed].mirror, self._worker.monotonic()
        info = mirror.info
        return FeedReport(
            feed=feed,
            provider=info.provider if info else self._providers.get(feed, ""),
            simulated=bool(info and info.simulated),
            state=mirror.state(now),
            epoch=mirror.mark.epoch,
            seq=mirror.mark.seq,
            symbols=len(mirror),
            silence_seconds=round(now - mirror.heard_at, 1) if mirror.loaded else 0.0,
            delay_seconds=info.delay_seconds if info else 0.0,
            overdue=bool(info and info.overdue),
            last_update=info.last_update if info else None,
        )


def report_loops(
    admin: tuple[object, ReportStore] | None, worker: ApiWorkerParts, providers: Mapping[Feed, str]
) -> list[Coroutine[Any, Any, None]]:
    """Returns the loop of reports; nothing where the operator's page is off."""
    if admin is None:
        return []
    process = f"{os.getpid()}-{connection_id()}"
    return [Reporter(admin[1], process, WorkerReporter(worker, providers).make).run()]


def _keys(worker: ApiWorkerParts, clients: Clients) -> list[KeyReport]:
    """Returns the keys with the most sockets, then those with the most requests."""
    sockets = Counter(clients.of_keys())
    busiest = {key: requests for key, (requests, _) in worker.keys.usage.busiest(MAX_ENTRIES).items()}
    names = [*dict.fromkeys([*(key for key, _ in sockets.most_common(MAX_ENTRIES)), *busiest])]
    return [KeyReport(key, sockets[key], busiest.get(key, 0)) for key in names[:MAX_ENTRIES]]


def _limits(requests: Requests) -> list[LimitReport]:
    """Returns the decisions by group; a refusal that Redis did not see counts too."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (group, outcome), count in requests.decisions().items():
        counts[group][outcome != "admitted"] += count
    return [LimitReport(group, *both) for group, both in sorted(counts.items())][:_MOST_COUNTS]


def slowest(clients: Iterable[Client], most: int, now: float) -> list[SlowClient]:
    """Returns up to `most` clients that have not taken everything: those with the most unsent bytes first.

    `now` is monotonic.
    """
    late = [(client.unsent, now - at, client) for client in clients if (at := client.paused_at) is not None]
    chosen = heapq.nlargest(most, late, key=lambda each: each[:2])
    shown: list[SlowClient] = []
    for unsent, seconds, client in chosen:
        # A client in a cohort has every change.
        alone = [each.session for _, each in client.connections if each.cohort is None]
        behind = [each.mirror.mark.revision - each.subscription.mark.revision for each in alone]
        shown.append(
            SlowClient(
                connection=client.session.connection,
                feed=client.name,
                transport=client.transport,
                address=network_of(client.address),
                key="" if client.key_id is None or is_session(client.key_id) else client.key_id,
                plan=client.grant.plan_name if client.grant else "",
                paused_seconds=round(seconds, 1),
                unsent_bytes=unsent,
                behind=max(behind, default=0),
            )
        )
    return shown
