"""The report of an audit, as text and as JSON."""

from collections.abc import Sequence

from msgspec import Struct


class AgeReport(Struct, frozen=True, rename="camel"):
    """Ages of quotes in milliseconds; None without a quote. `ahead` counts quotes from the future."""

    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None
    ahead: int


class GapReport(Struct, frozen=True, rename="camel"):
    """Places where a client may lack something."""

    sequence: int = 0
    epochs: int = 0
    resyncs: int = 0

    @property
    def total(self) -> int:
        """The number of all gaps."""
        return self.sequence + self.epochs + self.resyncs


class SilenceReport(Struct, frozen=True, rename="camel"):
    """The longest silences in seconds; `heartbeat` is None for an upstream."""

    frame: float
    heartbeat: float | None
    late_heartbeats: int
    symbols: dict[str, float]


class BackwardsReport(Struct, frozen=True, rename="camel"):
    """Steps back in time."""

    timestamps: int = 0
    cursors: int = 0

    @property
    def total(self) -> int:
        """The number of all steps back."""
        return self.timestamps + self.cursors


class Example(Struct, frozen=True, rename="camel"):
    """A disagreement with REST."""

    symbol: str
    timestamp: str
    feed_price: float
    rest_price: float


class RestReport(Struct, frozen=True, rename="camel"):
    """The comparison with REST."""

    compared: int
    disagreements: int
    examples: list[Example]


class StateChange(Struct, frozen=True, rename="camel"):
    """A new state of a feed, `seconds` after the start."""

    seconds: float
    state: str


class FeedReport(Struct, frozen=True, rename="camel"):
    """The figures of one feed."""

    messages: int
    quotes: int
    messages_per_second: float
    quotes_per_second: float
    symbols: int
    ages: AgeReport
    silences: SilenceReport
    backwards: BackwardsReport
    gaps: GapReport | None = None
    rest: RestReport | None = None
    states: list[StateChange] | None = None
    refused: dict[str, int] | None = None
    rejected: Sequence[str] = ()


class ClockReport(Struct, frozen=True, rename="camel"):
    """Milliseconds by which the service's clock is ahead, and of the fastest ping's way there and back."""

    offset: float
    round_trip: float


class Broken(Struct, frozen=True, rename="camel"):
    """A broken threshold."""

    feed: str
    figure: str
    value: float
    limit: float
    option: str


class Report(Struct, frozen=True, kw_only=True, rename="camel"):
    """The report of one audit."""

    source: str
    seconds: float
    clock: ClockReport | None
    reconnects: int
    unreadable: int = 0
    rest_failures: int = 0
    feeds: dict[str, FeedReport]
    broken: Sequence[Broken] = ()
