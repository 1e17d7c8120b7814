"""Finnhub's answers one level deep: rows, an object of them, or nothing, which is written in several ways."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Final, TypeVar

import msgspec
from msgspec import Raw

from quotecast.errors import UpstreamError
from quotecast.market.financials import EarningsCalendar, EarningsEvent
from quotecast.providers.finnhub.wire import EventRow
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows
from quotecast.providers.validation.values import Number, positive

Answer = dict[str, Raw] | list[Raw] | None

#: Upstream cuts a longer calendar off.
MOST_ROWS: Final = 1500
#: No week of the US market is without a report.
LONGEST_PAUSE: Final = timedelta(days=7)
DAY: Final = timedelta(days=1)

T = TypeVar("T")


def decode(body: bytes | Raw) -> Answer:
    """What a path answers. Raises UpstreamError for what is neither list nor object."""
    try:
        answer: Answer = msgspec.json.decode(body, type=Answer)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"Finnhub: unreadable: {error}") from error
    return answer


def member(answer: Answer, name: str) -> Answer:
    """A part of an answer; None of an empty one. Raises UpstreamError for any other that lacks it."""
    if not answer:
        return None
    if isinstance(answer, list) or name not in answer:
        raise UpstreamError(f"Finnhub: no {name} in the answer")
    return decode(answer[name])


def rows(answer: Answer, kind: type[T], refused: RefusalCounter) -> list[T]:
    """The rows of a list; none where it is empty, or an empty object.

    Raises UpstreamError for an object that is not empty, and when not a single row can be read.
    """
    if isinstance(answer, dict) and answer:
        raise UpstreamError("Finnhub: an object where a list should be")
    listed = answer if isinstance(answer, list) else []
    found = decode_rows(listed, kind, refused)
    if listed and not found:
        raise UpstreamError("Finnhub: no row can be read")
    return found


def symbol_of(answer: Answer) -> str | None:
    """The symbol that an object says it is of."""
    try:
        return msgspec.json.decode(answer["symbol"], type=str) if isinstance(answer, dict) else None
    except (KeyError, ValueError):
        return None


def calendar(answer: Answer, first: date, last: date, refused: RefusalCounter) -> EarningsCalendar:
    """What `/calendar/earnings` answers from one day to another, by date, and the days that it covers."""
    told = rows(member(answer, "earningsCalendar"), EventRow, refused)
    found = _events(told, first, last, refused)
    days = [date.fromisoformat(event.date) for event in found]
    begin, end = _covered_days(days, first, last)
    if len(told) >= MOST_ROWS and days:
        # Of the day at which upstream cut its list off some reports may be missing.
        if told[0].date >= told[-1].date:
            begin = days[0] + DAY
        else:
            end = days[-1] - DAY
    covered = (begin.isoformat(), end.isoformat()) if begin <= end else ()
    return EarningsCalendar(found, *covered)


def _covered_days(days: Sequence[date], first: date, last: date) -> tuple[date, date]:
    """From the first to the last day asked for, unless more than a week there is without a report.

    Where nothing is covered the last day is before the first.
    """
    if not days:
        return (last, first) if last - first > LONGEST_PAUSE else (first, last)
    begin = days[0] if days[0] - first > LONGEST_PAUSE else first
    return begin, days[-1] if last - days[-1] > LONGEST_PAUSE else last


def _events(
    told: Iterable[EventRow], first: date, last: date, refused: RefusalCounter
) -> list[EarningsEvent]:
    """By date; rows of other days are counted as `out_of_range`."""
    found = []
    for row in told:
        event = row.to_record(refused)
        if event is None:
            refused.count("unreadable")
        elif not first <= row.date <= last:
            refused.count("out_of_range")
        else:
            found.append(event)
    return sorted(found, key=lambda event: (event.date, event.symbol))


def is_priced(answer: Answer) -> bool:
    """Whether `/quote` has a price: that of a symbol which it does not know is zero."""
    if not isinstance(answer, dict):
        return False
    try:
        return positive(msgspec.json.decode(answer.get("c", b"null"), type=Number)) is not None
    except ValueError as error:
        raise UpstreamError(f"Finnhub: unreadable price: {error}") from error
