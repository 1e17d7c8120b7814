"""Figures of a load test before, during and after a scenario."""

import math
from collections import Counter
from datetime import datetime
from typing import Any

NAMES = ("before", "during", "after")
#: What locust's events call a quote's age.
QUOTE = "QUOTE"
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
COLUMNS = (
    "phase",
    "seconds",
    "requests/s",
    "failures",
    "p50",
    "p95",
    "p99",
    "quotes/s",
    "age p50",
    "age p99",
)


def moment_of(text: str, now: float) -> float:
    """Returns `+SECONDS` from now, or an ISO time, in Unix seconds. Raises ValueError."""
    if text.startswith("+"):
        seconds = float(text[1:])
        if not 0 <= seconds < math.inf:
            raise ValueError(text)
        return now + seconds
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment.timestamp()


class Times:
    """Milliseconds in bounded memory: rounded to two digits, as in locust's own table."""

    def __init__(self) -> None:
        self.count = 0
        self._counts: Counter[float] = Counter()

    def add(self, milliseconds: float) -> None:
        """Counts a time."""
        self.count += 1
        digits = 1 - math.floor(math.log10(milliseconds)) if milliseconds >= 1 else 0
        self._counts[round(milliseconds, digits)] += 1

    def percentile(self, share: float) -> float | None:
        """Returns the time that a share of all does not exceed; None without any."""
        passed = 0
        for milliseconds, count in sorted(self._counts.items()):
            passed += count
            if passed >= share * self.count:
                return milliseconds
        return None


class Phase:
    """The figures of one phase."""

    def __init__(self) -> None:
        self.requests = Times()
        self.ages = Times()
        #: Failed requests, and broken connections and promises of feeds.
        self.failures = 0

    def take(self, kind: str, milliseconds: float, *, failed: bool) -> None:
        """Takes an event of locust: a request, a quote's age, or something else of a feed."""
        self.failures += failed
        if kind in METHODS:
            self.requests.add(milliseconds)
        elif kind == QUOTE:
            self.ages.add(milliseconds)


class Phases:
    """The phases of a test from `begin` on, in Unix seconds; a scenario without an end has no phase after."""

    def __init__(self, begin: float, start: float, seconds: float | None) -> None:
        self.begin = begin
        self.move(start, seconds)
        self.figures = {name: Phase() for name in NAMES}

    def move(self, start: float, seconds: float | None) -> None:
        """Sets when the scenario began, and how long it lasts."""
        self.start = start
        self.end = None if seconds is None else start + seconds

    def name_at(self, moment: float) -> str:
        """Returns the phase of a moment."""
        if moment < self.start:
            return "before"
        return "during" if self.end is None or moment < self.end else "after"

    def take(self, moment: float, kind: str, milliseconds: float, *, failed: bool) -> None:
        """Takes an event that ended at a moment."""
        self.figures[self.name_at(moment)].take(kind, milliseconds, failed=failed)

    def report(self, now: float) -> list[dict[str, Any]]:
        """Returns a row for each phase that has begun."""
        end = now if self.end is None else min(now, self.end)
        spans = {"before": min(now, self.start) - self.begin, "during": end - self.start, "after": now - end}
        return [_row(name, spans[name], self.figures[name]) for name in NAMES if spans[name] > 0]


def _row(name: str, seconds: float, phase: Phase) -> dict[str, Any]:
    return {
        "phase": name,
        "seconds": round(seconds, 1),
        "requests/s": round(phase.requests.count / seconds, 1),
        "failures": phase.failures,
        **{f"p{share}": phase.requests.percentile(share / 100) for share in (50, 95, 99)},
        "quotes/s": round(phase.ages.count / seconds, 1),
        **{f"age p{share}": phase.ages.percentile(share / 100) for share in (50, 99)},
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the rows as text; times are in milliseconds."""
    cells = [COLUMNS, *(tuple(_text(row[column]) for column in COLUMNS) for row in rows)]
    return "\n".join("".join(f"{cell:>11}" for cell in line) for line in cells)


def _text(value: object) -> str:
    return "-" if value is None else str(value)
