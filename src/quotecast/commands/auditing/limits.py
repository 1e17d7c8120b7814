"""The thresholds of an audit."""

from collections.abc import Iterator

from msgspec import Struct

from quotecast.commands.auditing.report import Broken, FeedReport, Report


class Limits(Struct, frozen=True):
    """What the figures may be at most; counts are over all feeds, ages and silences of each."""

    max_age_p99: float = 5000.0
    max_silence: float = 30.0
    max_gaps: int = 0
    max_backwards: int = 0
    max_disagreements: int = 0


def broken(report: Report, limits: Limits) -> list[Broken]:
    """Returns the broken thresholds."""
    return [*_of_feeds(report.feeds, limits), *_of_all(report, limits)]


def _of_feeds(feeds: dict[str, FeedReport], limits: Limits) -> Iterator[Broken]:
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


def _of_all(report: Report, limits: Limits) -> Iterator[Broken]:
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
