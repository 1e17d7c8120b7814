"""The report as a table."""

from collections.abc import Callable, Iterator

from quotecast.commands.auditing.report import AuditReport, Broken, FeedAuditReport

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
