"""The report of an audit, as a table and as JSON, and a line on its progress."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from quotecast.commands.auditing.figures import Ages, Agreement
from quotecast.local import console
from quotecast.market.codec import iso_utc

#: Symbols whose silences the report shows.
QUIETEST: Final = 5
_PROGRESS_SECONDS: Final = 5.0


class AuditLimits(Struct, frozen=True):
    """Upper bounds of the figures; counts are over all feeds, ages and silences of each."""

    max_age_p99: float = 5000.0
    max_silence: float = 30.0
    max_gaps: int = 0
    max_backwards: int = 0
    max_disagreements: int = 0


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


class DayReport(Struct, frozen=True, rename="camel"):
    """The service's own figures of the day, as `figures` of `/api/quality` has them."""

    age_p50_ms: float | None
    age_p99_ms: float | None
    stale_seconds: float
    refused: dict[str, int]


class StateChange(Struct, frozen=True, rename="camel"):
    """A new state of a feed, `seconds` after the start."""

    seconds: float
    state: str


class FeedAuditReport(Struct, frozen=True, rename="camel"):
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
    day: DayReport | None = None


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


class AuditReport(Struct, frozen=True, kw_only=True, rename="camel"):
    """The report of one audit."""

    source: str
    seconds: float
    clock: ClockReport | None
    reconnects: int
    unreadable: int = 0
    rest_failures: int = 0
    feeds: dict[str, FeedAuditReport]
    broken: Sequence[Broken] = ()


def broken(report: AuditReport, limits: AuditLimits) -> list[Broken]:
    """Returns the broken thresholds."""
    return [*_of_feeds(report.feeds, limits), *_of_all(report, limits)]


def _of_feeds(feeds: dict[str, FeedAuditReport], limits: AuditLimits) -> Iterator[Broken]:
    for name, feed in feeds.items():
        if not feed.symbols:
            yield Broken(name, "symbols with a quote", 0, 1, "")
        age = feed.ages.p99
        if age is not None and age > limits.max_age_p99:
            yield Broken(name, "age p99 in ms", age, limits.max_age_p99, "--max-age-p99")
        if feed.silences.frame > limits.max_silence:
            yield Broken(
                name, "longest silence in s", feed.silences.frame, limits.max_silence, "--max-silence"
            )


def _of_all(report: AuditReport, limits: AuditLimits) -> Iterator[Broken]:
    feeds = report.feeds.values()
    gaps = report.reconnects + report.unreadable + sum(feed.gaps.total for feed in feeds if feed.gaps)
    backwards = sum(feed.backwards.total for feed in feeds)
    disagreements = sum(feed.rest.disagreements for feed in feeds if feed.rest)
    for figure, value, limit, option in (
        ("gaps", gaps, limits.max_gaps, "--max-gaps"),
        ("steps back in time", backwards, limits.max_backwards, "--max-backwards"),
        ("disagreements with REST", disagreements, limits.max_disagreements, "--max-disagreements"),
    ):
        if value > limit:
            yield Broken("all", figure, value, limit, option)


def age_report(ages: Ages) -> AgeReport:
    """Returns the percentiles of ages."""
    p50, p95, p99 = (_rounded(ages.percentile(share)) for share in (0.5, 0.95, 0.99))
    return AgeReport(p50, p95, p99, _rounded(ages.largest) if ages.count else None, ages.ahead)


def rest_report(agreement: Agreement) -> RestReport:
    """Returns the comparison with REST."""
    examples = [
        Example(each.symbol, iso_utc(each.time / 1000), each.feed_price, each.rest_price)
        for each in agreement.examples
    ]
    return RestReport(agreement.compared, agreement.disagreements, examples)


def rate(count: int, seconds: float) -> float:
    """Returns a number per second."""
    return round(count / seconds, 2) if seconds > 0 else 0.0


def rounded(lengths: dict[str, float]) -> dict[str, float]:
    """Returns seconds in whole milliseconds."""
    return {name: round(seconds, 3) for name, seconds in lengths.items()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


_UNKNOWN = "-"
_ROWS: tuple[tuple[str, Callable[[FeedAuditReport], float | None]], ...] = (
    ("messages", lambda feed: feed.messages),
    ("messages per second", lambda feed: feed.messages_per_second),
    ("quotes", lambda feed: feed.quotes),
    ("quotes per second", lambda feed: feed.quotes_per_second),
    ("symbols", lambda feed: feed.symbols),
    ("age p50 (ms)", lambda feed: feed.ages.p50),
    ("age p95 (ms)", lambda feed: feed.ages.p95),
    ("age p99 (ms)", lambda feed: feed.ages.p99),
    ("age max (ms)", lambda feed: feed.ages.max),
    ("quotes from the future", lambda feed: feed.ages.ahead),
    ("longest silence (s)", lambda feed: feed.silences.frame),
    ("longest without heartbeat (s)", lambda feed: feed.silences.heartbeat),
    ("late heartbeats", lambda feed: feed.silences.late_heartbeats if feed.gaps else None),
    ("gaps in the sequence", lambda feed: feed.gaps.sequence if feed.gaps else None),
    ("changes of the epoch", lambda feed: feed.gaps.epochs if feed.gaps else None),
    ("resyncs", lambda feed: feed.gaps.resyncs if feed.gaps else None),
    ("older timestamps", lambda feed: feed.backwards.timestamps),
    ("older cursors", lambda feed: feed.backwards.cursors if feed.gaps else None),
    ("compared with REST", lambda feed: feed.rest.compared if feed.rest else None),
    ("disagreements with REST", lambda feed: feed.rest.disagreements if feed.rest else None),
    ("service's day: age p50 (ms)", lambda feed: feed.day.age_p50_ms if feed.day else None),
    ("service's day: age p99 (ms)", lambda feed: feed.day.age_p99_ms if feed.day else None),
    ("service's day: stale (s)", lambda feed: feed.day.stale_seconds if feed.day else None),
    ("service's day: refused", lambda feed: sum(feed.day.refused.values()) if feed.day else None),
)


async def note_progress(seconds: float, count: Callable[[], str]) -> None:
    """Writes what `count` returns to standard error every five seconds of an audit, without end."""
    began = time.monotonic()
    while True:
        await asyncio.sleep(_PROGRESS_SECONDS)
        console.note(f"{time.monotonic() - began:.0f} s of {seconds:.0f}: {count()}")


def lines_of(report: AuditReport) -> Iterator[str]:
    """Yields the lines of the report."""
    yield f"{report.source} for {report.seconds:.1f} s"
    if report.clock:
        yield (
            f"The service's clock is {report.clock.offset:+.1f} ms from ours (round trip "
            f"{report.clock.round_trip:.1f} ms); ages are by the service's clock."
        )
    else:
        yield "Ages are by this machine's clock."
    yield ""
    names = [*report.feeds]
    widths = [max(12, len(name)) for name in names]
    yield f"{'':30}" + "".join(f"  {name:>{width}}" for name, width in zip(names, widths, strict=True))
    for label, value in _ROWS:
        cells = [value(feed) for feed in report.feeds.values()]
        if any(cell is not None for cell in cells):
            texts = (f"  {_number(cell):>{width}}" for cell, width in zip(cells, widths, strict=True))
            yield f"{label:30}" + "".join(texts)
    yield ""
    yield f"{'reconnects':30}  {report.reconnects:>12}"
    if report.unreadable:
        yield f"{'unreadable messages':30}  {report.unreadable:>12}"
    if report.rest_failures:
        yield f"{'failed requests to REST':30}  {report.rest_failures:>12}"
    for name, feed in report.feeds.items():
        yield from _details(name, feed)
    yield ""
    yield from map(_broken_line, report.broken)
    if not report.broken:
        yield "All thresholds hold."


def _details(name: str, feed: FeedAuditReport) -> Iterator[str]:
    if feed.silences.symbols:
        quiet = ", ".join(f"{symbol} {seconds:.1f} s" for symbol, seconds in feed.silences.symbols.items())
        yield f"{name}: longest without a change: {quiet}"
    if feed.states:
        states = ", ".join(f"{each.state} at {each.seconds:.1f} s" for each in feed.states)
        yield f"{name}: states: {states}"
    if feed.refused:
        yield f"{name}: refused rows: {', '.join(f'{why} {count}' for why, count in feed.refused.items())}"
    if feed.rejected:
        yield f"{name}: unknown symbols: {', '.join(feed.rejected)}"
    for each in feed.rest.examples if feed.rest else ():
        yield (
            f"{name}: {each.symbol} at {each.timestamp} is {each.feed_price} in the feed, "
            f"{each.rest_price} in REST"
        )


def _broken_line(broken: Broken) -> str:
    if not broken.option:
        return f"BROKEN  {broken.feed}: no quote came"
    feed = "" if broken.feed == "all" else f"{broken.feed}: "
    return (
        f"BROKEN  {feed}{broken.figure} {_number(broken.value)}, "
        f"more than {_number(broken.limit)} ({broken.option})"
    )


def _number(value: float | None) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}".rstrip("0")
