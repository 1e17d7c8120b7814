"""Metrics of an API worker in the format of Prometheus, read from its components when scraped."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct
from prometheus_client import Metric

from quotecast.access.usage import Usage
from quotecast.api.accounts.alert_waits import Waits
from quotecast.api.accounts.key_access import KeyAccess
from quotecast.api.accounts.logins import LoginWindow
from quotecast.api.limits.requests import Requests
from quotecast.cache.redis import RedisCache
from quotecast.database.database import Database
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.hub import Hub
from quotecast.feed.mirror import Mirror
from quotecast.limits.alone import WindowAlone
from quotecast.limits.window import Window
from quotecast.mcp.calls import ToolCalls
from quotecast.observe.metrics import counter, gauge, histogram
from quotecast.providers.transport import outcomes
from quotecast.stream.clients import Clients
from quotecast.stream.endpoint import ALL, REPLAY, Streams
from quotecast.stream.handshakes import REASONS
from quotecast.stream.occupancy import Occupancy
from quotecast.stream.relays import Relays

#: Keys with metrics of their own: those with the most requests.
BUSIEST: Final = 20
_STATES = ("live", "stale", "down")


class WorkerParts(Struct, frozen=True, kw_only=True):
    """The components of every worker that have counters."""

    requests: Requests
    window: Window | WindowAlone
    #: Hubs by the name of their feed; `stocks-delayed` is that of delayed plans.
    hubs: Mapping[str, Hub]
    streams: Streams
    occupancy: Occupancy
    listener: BusListener
    relays: Relays
    #: The clock of the mirrors' `heard_at`, in seconds.
    monotonic: Callable[[], float]


class ApiWorkerParts(WorkerParts, frozen=True, kw_only=True):
    """The components of a worker with accounts and upstreams."""

    cache: RedisCache
    database: Database
    logins: LoginWindow
    keys: KeyAccess
    waits: Waits
    #: Calls that remain in each upstream's plan, by name.
    budgets: Mapping[str, int]
    calls: ToolCalls


def feed_families(worker: WorkerParts) -> Iterator[Metric]:
    """Yields the metrics that every worker has."""
    mirrors = {feed: hub.mirror for feed, hub in worker.hubs.items()}
    yield from _requests(worker.requests, worker.window)
    yield from _connections(worker.occupancy, worker.streams.clients, worker.hubs)
    yield from _fan_out(worker.hubs, worker.streams)
    yield from _feeds(mirrors, worker.monotonic())
    counts = worker.listener.statistics()
    yield counter("bus_batches", "Batches read.", counts["batches"])
    yield counter("bus_reloads", "Loads of a feed's whole state.", counts["reloads"])
    yield counter("bus_reconnects", "Losses of the subscription.", counts["reconnects"])
    yield histogram(
        "bus_lag_seconds",
        "Time from a batch's publication to its arrival here, by the clocks of two machines.",
        {(feed,): lag for feed, lag in worker.listener.lags.items()},
        ["feed"],
    )
    yield gauge("relays", "Edges and installations that follow this worker's feeds.", len(worker.relays))
    yield counter(
        "relays_missed_messages", "Messages of the bus that slow relays missed.", worker.relays.missed
    )


def families(worker: ApiWorkerParts) -> Iterator[Metric]:
    """Yields all metrics of a worker with accounts and upstreams."""
    yield from feed_families(worker)
    counts = worker.cache.statistics()
    yield counter(
        "cache_reads",
        "Successful reads of upstreams' answers: `hit` fresh, `miss` fetched, `stale` expired.",
        {("hit",): counts.hits, ("miss",): counts.misses, ("stale",): counts.stale},
        ["result"],
    )
    yield counter("cache_fetches", "Upstream calls, failed ones included.", counts.fetches)
    yield counter("cache_fetch_failures", "Upstream calls that failed.", counts.failures)
    yield counter(
        "cache_absences", "Calls of Redis that failed, or were not made during an outage.", counts.absences
    )
    yield from account_families(worker.database, worker.logins)
    yield from key_families(len(worker.keys.book), worker.keys.usage)
    yield gauge("alert_waits", "Requests that wait for an event of an alert.", worker.waits.count)
    yield counter("alert_waits_refused", "Such requests that found the worker full.", worker.waits.refused)
    yield from outcomes.families(worker.budgets)
    yield from worker.calls.families()


def _requests(requests: Requests, window: Window | WindowAlone) -> Iterator[Metric]:
    yield histogram(
        "http_request_duration_seconds",
        "Time from a request's head to that of its answer.",
        requests.latencies(),
        ["method", "route", "status"],
    )
    yield counter(
        "limit_decisions",
        "Decisions of rate limits; `remembered`: refused without another call of Redis.",
        requests.decisions(),
        ["group", "outcome"],
    )
    counts = window.statistics()
    yield gauge(
        "limit_fallback", "1 while this worker limits by itself because Redis does not answer.", counts.alone
    )
    yield counter("limit_fallback_decisions", "Decisions without Redis.", counts.fallbacks)
    yield counter("limit_calls", "Calls of the limiter's script, failed ones included.", counts.calls)
    yield counter("limit_failures", "Calls of the limiter's script that failed.", counts.failures)


def _connections(occupancy: Occupancy, clients: Clients, hubs: Mapping[str, Hub]) -> Iterator[Metric]:
    open_now = {("feed",): occupancy.feeds, ("http",): occupancy.http, ("silent",): occupancy.silent}
    yield gauge(
        "connections",
        "Public connections, by what they carry; HTTP on a port of its own is not counted.",
        open_now,
        ["kind"],
    )
    yield gauge(
        "connections_limit",
        "Connections at once that memory and open files allow.",
        {("feed",): occupancy.capacity.feeds, ("http",): occupancy.capacity.http},
        ["kind"],
    )
    yield counter(
        "connections_refused",
        "Connections beyond the capacity: HTTP answered 503, and silent ones closed.",
        {(kind,): occupancy.turned_away[kind] for kind in ("http", "silent")},
        ["kind"],
    )
    yield counter(
        "feed_connects",
        "Connections accepted; `all`: of the socket of all feeds; `replay`: of recorded ones.",
        {kind: clients.connects[kind] for kind in _kinds(hubs)},
        ["feed", "transport"],
    )
    yield counter(
        "feed_handshakes_refused",
        "Handshakes refused, by reason; `worker_full` and `address_full`: capacity.",
        {(reason,): occupancy.refused[reason] + clients.refused[reason] for reason in REASONS},
        ["reason"],
    )
    yield counter(
        "feed_resumptions",
        "Reconnections with a cursor; `resume`: got the changes since, `resync`: got the whole state.",
        {(feed, each): hub.resumptions[each] for feed, hub in hubs.items() for each in ("resume", "resync")},
        ["feed", "outcome"],
    )


def _kinds(hubs: Mapping[str, Hub]) -> list[tuple[str, str]]:
    """Returns the feeds and transports of connections."""
    sockets = [(name, "websocket") for name in (*hubs, ALL, REPLAY)]
    return [*sockets, *((feed, "sse") for feed in hubs)]


def _fan_out(hubs: Mapping[str, Hub], streams: Streams) -> Iterator[Metric]:
    counts = {feed: hub.statistics() for feed, hub in hubs.items()}

    def by_feed(name: str) -> dict[tuple[str, ...], float]:
        return {(feed,): each[name] for feed, each in counts.items()}

    def with_answers(name: str, answers: Mapping[str, int]) -> dict[tuple[str, ...], float]:
        sent = {str(feed): each[name] + answers[feed] for feed, each in counts.items()}
        others = {each: answers[each] for each in (ALL, REPLAY)}
        return {(feed,): count for feed, count in {**sent, **others}.items()}

    yield gauge(
        "feed_sockets",
        "Open WebSockets and event streams; `all`: of all feeds at once; `replay`: of recorded ones.",
        {kind: streams.clients.sockets[kind] for kind in _kinds(hubs)},
        ["feed", "transport"],
    )
    yield counter(
        "feed_frames",
        "Frames sent; `all`: answers on the socket of all feeds.",
        with_answers("frames_sent", streams.clients.answers),
        ["feed"],
    )
    yield counter(
        "feed_bytes",
        "Bytes of the frames sent, before framing and compression.",
        with_answers("length_sent", streams.clients.answered_length),
        ["feed"],
    )
    yield counter(
        "feed_passed_over",
        "Updates skipped for a slow consumer, and merged into a later one.",
        by_feed("passed_over"),
        ["feed"],
    )
    yield counter("feed_expelled", "Slow consumers disconnected.", by_feed("expelled"), ["feed"])
    yield counter(
        "feed_closes",
        "WebSockets and event streams ended by this worker, by close code.",
        {(*kind, str(int(code))): count for (kind, code), count in streams.clients.closes.items()},
        ["feed", "transport", "code"],
    )
    yield histogram(
        "feed_send_age_seconds",
        "Age of the newest batch when a tick sends it: from its publication to the sockets.",
        {(feed,): hub.ages for feed, hub in hubs.items()},
        ["feed"],
    )


def _feeds(mirrors: Mapping[str, Mirror], now: float) -> Iterator[Metric]:
    updates = {
        feed: mirror.info.last_update
        for feed, mirror in mirrors.items()
        if mirror.info is not None and mirror.info.last_update
    }
    yield gauge(
        "feed_state",
        "1 for the state that the feed is in.",
        {(feed, each): mirror.state(now) == each for feed, mirror in mirrors.items() for each in _STATES},
        ["feed", "state"],
    )
    yield gauge(
        "feed_silence_seconds",
        "Seconds since the last message of the feed on the bus.",
        {(feed,): now - mirror.heard_at for feed, mirror in mirrors.items()},
        ["feed"],
    )
    yield gauge(
        "feed_last_update_timestamp_seconds",
        "When the feed last changed, in Unix time.",
        {(feed,): datetime.fromisoformat(text).timestamp() for feed, text in updates.items()},
        ["feed"],
    )
    yield gauge("feed_symbols", "Symbols that have a quote.", _each(mirrors, len), ["feed"])
    yield gauge(
        "feed_seq",
        "Sequence number of the mirror in its epoch.",
        _each(mirrors, lambda one: one.mark.seq),
        ["feed"],
    )
    yield gauge(
        "feed_epoch_info",
        "Always 1; the label is the mirror's epoch.",
        {(feed, mirror.mark.epoch): 1 for feed, mirror in mirrors.items() if mirror.loaded},
        ["feed", "epoch"],
    )


def _each(mirrors: Mapping[str, Mirror], value: Callable[[Mirror], float]) -> dict[tuple[str, ...], float]:
    return {(feed,): value(mirror) for feed, mirror in mirrors.items()}


def key_families(known: int, usage: Usage) -> Iterator[Metric]:
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


def account_families(database: Database, logins: LoginWindow) -> Iterator[Metric]:
    """Yields the metrics of connections, transactions and logins."""
    counts, measurements = database.statistics(), database.measurements
    states = {("idle",): counts["idle"], ("used",): counts["connections"] - counts["idle"]}
    yield gauge("database_connections", "Connections to PostgreSQL.", states, ["state"])
    yield gauge("database_connections_limit", "Most connections at once.", counts["limit"])
    yield gauge(
        "database_transactions", "Transactions that run or wait for a connection.", counts["transactions"]
    )
    yield counter(
        "database_connects",
        "Connections that were opened, or failed to open.",
        {(outcome,): count for outcome, count in measurements.connects.items()},
        ["outcome"],
    )
    yield histogram(
        "database_wait_seconds",
        "Time that a transaction waited for a connection, a new one included.",
        {(): measurements.waits},
    )
    yield histogram(
        "database_transaction_duration_seconds",
        "Time of a transaction with its wait for a connection; `away`: no answer in time, or an outage.",
        {(outcome,): times for outcome, times in measurements.transactions.items()},
        ["outcome"],
    )
    yield histogram(
        "database_statement_duration_seconds",
        "Time from a statement to its rows or its error.",
        {(): measurements.statements},
    )
    yield counter(
        "database_errors",
        "Errors of PostgreSQL and of its connections, by kind.",
        {(kind,): count for kind, count in measurements.errors.items()},
        ["kind"],
    )
    yield counter(
        "logins",
        "Logins by outcome; `limited`: an account or an address had too many attempts; `unavailable`: the "
        "accounts were away or busy.",
        {(outcome,): count for outcome, count in logins.outcomes.items()},
        ["outcome"],
    )
