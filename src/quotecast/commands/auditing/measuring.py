"""Figures as the report has them."""

from datetime import UTC, datetime

from quotecast.commands.auditing.ages import Ages
from quotecast.commands.auditing.agreement import Agreement
from quotecast.commands.auditing.report import AgeReport, Example, RestReport

#: Symbols whose silences the report shows.
QUIETEST = 5


def age_report(ages: Ages) -> AgeReport:
    """Returns the percentiles of ages."""
    p50, p95, p99 = (_rounded(ages.percentile(share)) for share in (0.5, 0.95, 0.99))
    return AgeReport(p50, p95, p99, _rounded(ages.largest) if ages.count else None, ages.ahead)


def rest_report(agreement: Agreement) -> RestReport:
    """Returns the comparison with REST."""
    examples = [
        Example(each.symbol, _iso(each.time), each.feed_price, each.rest_price) for each in agreement.examples
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


def _iso(time: float) -> str:
    moment = datetime.fromtimestamp(time / 1000, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")
