"""The report of one process. Counts are since its start; times are Unix seconds."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

#: Entries of each list that a report has at most.
MAX_ENTRIES: Final = 20


class FeedReport(Struct, frozen=True, kw_only=True):
    """A feed as a worker has it."""

    feed: str
    provider: str
    simulated: bool
    state: str
    epoch: str
    seq: int
    symbols: int
    #: Seconds since the last message on the bus, and by which the provider's quotes are late.
    silence_seconds: float
    delay_seconds: float
    overdue: bool
    last_update: str | None


class SlowClient(Struct, frozen=True, kw_only=True):
    """A client that has not taken everything; `address` is its network."""

    connection: str
    feed: str
    transport: str
    address: str
    key: str
    plan: str
    paused_seconds: float
    unsent_bytes: int
    #: Changes of the feed since the client's cursor.
    behind: int


class KeyReport(Struct, frozen=True):
    """A worker's counts of an API key."""

    key: str
    sockets: int
    requests: int


class LimitReport(Struct, frozen=True):
    """Decisions of the rate limits of a group of paths."""

    group: str
    admitted: int
    refused: int


class WorkerReport(Struct, frozen=True, kw_only=True):
    """An API worker."""

    sockets: int
    http: int
    requests: int
    requests_per_second: float
    #: Seconds by which a timer of the event loop was late, the last one.
    lag_seconds: float
    transactions: int
    limits_alone: bool
    feeds: list[FeedReport]
    keys: Annotated[list[KeyReport], Meta(max_length=MAX_ENTRIES)]
    slow: Annotated[list[SlowClient], Meta(max_length=MAX_ENTRIES)]
    limits: list[LimitReport]
    #: Refused handshakes of feeds by reason, and slow clients that the worker disconnected.
    handshakes_refused: dict[str, int]
    expelled: int
    logins: dict[str, int]


class LedFeed(Struct, frozen=True, kw_only=True):
    """A feed as an ingest has it; `standing` is its role there, `since` when that role began."""

    feed: str
    standing: str
    since: float
    epochs: int
    batches: int
    seq: int
    failures: int
    #: Last update of the upstream; 0 for none.
    heard_at: float


class Counted(Struct, frozen=True):
    """A count with what it counts, such as `("stocks", "alpaca", "failed")`."""

    of: tuple[str, ...]
    count: int


class IngestReport(Struct, frozen=True, kw_only=True):
    """An ingest: its feeds and its upstreams."""

    lease_seconds: float
    feeds: list[LedFeed]
    #: Ends of connections by feed, provider and outcome.
    connections: list[Counted]
    #: REST calls by host and outcome.
    calls: list[Counted]
    #: Refused values by provider and reason.
    refusals: list[Counted]
    #: Calls left of each upstream's plan.
    budgets: list[Counted]


class Report(Struct, frozen=True, kw_only=True):
    """One process: a worker or an ingest."""

    id: str
    kind: Literal["api", "ingest"]
    host: str
    pid: int
    version: str
    started_at: float
    at: float
    worker: WorkerReport | None = None
    ingest: IngestReport | None = None
