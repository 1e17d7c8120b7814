"""Finnhub's answers: their outer level in its several spellings, the calendar of earnings, and metrics.

Source of the format: Finnhub's OpenAPI document. An answer is a list of rows, an object or nothing. Metrics
are an open map of figures, and the history of some. A figure is a number, a date or null; a number may be a
string. The reader counts anything else as `unreadable_field`, without a figure.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import islice
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from quotecast.errors import UpstreamError
from quotecast.market.financials import EarningsCalendar, Metrics, Series, SeriesPoint
from quotecast.market.numbers import Number, positive, signed_decimal, to_float
from quotecast.providers.finnhub.wire import EventRow, figure
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows, readable

Answer = dict[str, Raw] | list[Raw] | None

#: The upstream cuts off a longer calendar.
MOST_ROWS: Final = 1500
#: Every week of the US market has a report.
LONGEST_PAUSE: Final = timedelta(days=7)
#: Every quarter of a company has a report.
LONGEST_PAUSE_OF_ONE: Final = timedelta(days=120)
DAY: Final = timedelta(days=1)
#: Far more than the 130 or so of an answer, and a century of quarters.
MOST_FIGURES: Final = 1000
MOST_POINTS: Final = 400

T = TypeVar("T")


def decode(body: bytes | Raw) -> Answer:
    """Returns a decoded answer. Raises UpstreamError for anything but a list, an object or null."""
    try:
        answer: Answer = msgspec.json.decode(body, type=Answer)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"Finnhub: unreadable: {error}") from error
    return answer


def member(answer: Answer, name: str) -> Answer:
    """Returns a member of an object; None for an empty answer. Raises UpstreamError for a missing member."""
    if not answer:
        return None
    if isinstance(answer, list) or name not in answer:
        raise UpstreamError(f"Finnhub: no {name} in the answer")
    return decode(answer[name])


def rows(answer: Answer, kind: type[T], refused: RefusalCounter) -> list[T]:
    """Returns the rows of a list; none for an empty list or object.

    Raises UpstreamError for an object with members, and when every row is malformed.
    """
    if isinstance(answer, dict) and answer:
        raise UpstreamError("Finnhub: an object where a list should be")
    listed = answer if isinstance(answer, list) else []
    found = decode_rows(listed, kind, refused)
    if listed and not found:
        raise UpstreamError("Finnhub: no row can be read")
    return found


def symbol_of(answer: Answer) -> str | None:
    """Returns the `symbol` of an object; None without one."""
    try:
        return msgspec.json.decode(answer["symbol"], type=str) if isinstance(answer, dict) else None
    except (KeyError, ValueError):
        return None


def calendar(
    answer: Answer, first: date, last: date, refused: RefusalCounter, pause: timedelta = LONGEST_PAUSE
) -> EarningsCalendar:
    """Returns the reports of `/calendar/earnings` between two days, by date, and the days that it covers.

    Days without reports that last longer than `pause` are not covered. Rows of other days count as
    `out_of_range`.
    """
    listed = rows(member(answer, "earningsCalendar"), EventRow, refused)
    readable_events = readable((row.to_record(refused) for row in listed), refused)
    found = [each for each in readable_events if first.isoformat() <= each.date <= last.isoformat()]
    refused.count("out_of_range", len(readable_events) - len(found))
    events = sorted(found, key=lambda event: (event.date, event.symbol))
    days = [date.fromisoformat(event.date) for event in events]
    begin, end = _covered_days(days, first, last, pause)
    if len(listed) >= MOST_ROWS and days:
        # The day at which the upstream cut its list off may lack reports.
        if listed[0].date >= listed[-1].date:
            begin = days[0] + DAY
        else:
            end = days[-1] - DAY
    covered = (begin.isoformat(), end.isoformat()) if begin <= end else ()
    return EarningsCalendar(events, *covered)


def _covered_days(days: Sequence[date], first: date, last: date, pause: timedelta) -> tuple[date, date]:
    """Returns the first and the last covered day: the requested ones without gaps longer than `pause`.

    The last day is before the first when the answer covers nothing.
    """
    if not days:
        return (last, first) if last - first > pause else (first, last)
    begin = days[0] if days[0] - first > pause else first
    return begin, days[-1] if last - days[-1] > pause else last


def is_priced(answer: Answer) -> bool:
    """Returns whether an answer of `/quote` has a price; that of an unknown symbol is zero."""
    if not isinstance(answer, dict):
        return False
    try:
        return positive(msgspec.json.decode(answer.get("c", b"null"), type=Number)) is not None
    except ValueError as error:
        raise UpstreamError(f"Finnhub: unreadable price: {error}") from error


class _Point(Struct, frozen=True):
    period: date
    v: Number = None


def to_metrics(answer: Answer, symbol: str, refused: RefusalCounter) -> Metrics | None:
    """Returns the metrics of an answer of `/stock/metric`; None without figures, as for an unknown symbol.

    Raises UpstreamError for anything but a map of figures, and when no figure is readable.
    """
    figures = member(answer, "metric")
    if not figures or not isinstance(answer, dict):
        return None
    metric = _figures(figures, refused) if isinstance(figures, dict) else {}
    if not metric:
        raise UpstreamError("Finnhub: no figure can be read")
    series = _part(answer, "series", dict[str, Raw], refused)
    annual, quarterly = (
        _histories(_part(series, each, dict[str, Raw], refused), refused) for each in ("annual", "quarterly")
    )
    return Metrics(symbol, "all", metric, Series(annual, quarterly))


def _figures(members: Mapping[str, Raw], refused: RefusalCounter) -> dict[str, float | str | None]:
    figures: dict[str, float | str | None] = {}
    for name, raw in islice(members.items(), MOST_FIGURES):
        try:
            value = msgspec.json.decode(raw, type=str | float | None)
            decimal = signed_decimal(value)
            if value is None or decimal is not None:
                figures[name] = to_float(decimal)
            else:
                # Anything but a number is a date.
                figures[name] = msgspec.convert(value, date).isoformat()
        except (ValueError, RecursionError):
            refused.count("unreadable_field")
    return figures


def _histories(members: Mapping[str, Raw], refused: RefusalCounter) -> dict[str, Sequence[SeriesPoint]]:
    """Returns the histories that have points, the newest point first, by the name of the figure."""
    histories: dict[str, Sequence[SeriesPoint]] = {}
    for name in islice(members, MOST_FIGURES):
        points = decode_rows(_part(members, name, list[Raw], refused), _Point, refused)
        newest = sorted(points, key=lambda point: point.period, reverse=True)[:MOST_POINTS]
        if newest:
            histories[name] = [
                SeriesPoint(each.period.isoformat(), figure(each.v, refused)) for each in newest
            ]
    return histories


def _part(members: Mapping[str, Raw], name: str, kind: type[T], refused: RefusalCounter) -> T:
    """Returns a member as `kind`; an empty one for a missing, null or malformed member; counts the last."""
    raw = members.get(name)
    if raw is None:
        return kind()
    try:
        return msgspec.json.decode(raw, type=kind | None) or kind()
    except (ValueError, RecursionError):
        refused.count("malformed")
        return kind()
