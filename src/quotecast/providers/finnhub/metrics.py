"""Finnhub's metrics: an open map of figures, and the history of some.

Source of the format: Finnhub's OpenAPI document, `/stock/metric`. A figure is a number, a date or null; a
number may be a string. The reader counts anything else as `unreadable_field`, without a figure.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from quotecast.errors import UpstreamError
from quotecast.market.financials import Metrics, Series, SeriesPoint
from quotecast.market.numbers import Number, signed_decimal, to_float
from quotecast.providers.finnhub.answers import Answer, member
from quotecast.providers.finnhub.wire import figure
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows

#: Far more than the 130 or so of an answer, and a century of quarters.
MOST_FIGURES: Final = 1000
MOST_POINTS: Final = 400

T = TypeVar("T")


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
