"""Finnhub's metrics: an open map of figures, and the history of some.

Source of the format: Finnhub's OpenAPI document, `/stock/metric`. A figure is a number, a date or null; a
number may be a string. Anything else is left out and counted as `unreadable_field`.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from quotecast.errors import UpstreamError
from quotecast.market.financials import Metrics, Series, SeriesPoint
from quotecast.providers.finnhub.answers import Answer, member
from quotecast.providers.finnhub.wire import figure
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.validation.rows import decode_rows
from quotecast.providers.validation.values import Number, signed_decimal

#: Far more than the 130 or so there are, and a century of quarters.
MOST_FIGURES: Final = 1000
MOST_POINTS: Final = 400

T = TypeVar("T")


class _Point(Struct, frozen=True):
    period: date
    v: Number = None


def to_metrics(told: Answer, symbol: str, refused: RefusalCounter) -> Metrics | None:
    """What `/stock/metric` tells of a symbol; None where it has no figures, as of one that it does not know.

    Raises UpstreamError for what is no map of figures, or has none that can be read.
    """
    figures = member(told, "metric")
    if not figures or not isinstance(told, dict):
        return None
    metric = _figures(figures, refused) if isinstance(figures, dict) else {}
    if not metric:
        raise UpstreamError("Finnhub: no figure can be read")
    return Metrics(symbol, "all", metric, _series(_part(told, "series", dict[str, Raw], refused), refused))


def _figures(told: Mapping[str, Raw], refused: RefusalCounter) -> dict[str, float | str | None]:
    figures: dict[str, float | str | None] = {}
    for name, raw in islice(told.items(), MOST_FIGURES):
        try:
            figures[name] = _figure(msgspec.json.decode(raw, type=str | float | None))
        except (ValueError, RecursionError):
            refused.count("unreadable_field")
    return figures


def _figure(value: str | float | None) -> float | str | None:
    """Raises ValueError for what is no figure."""
    if value is None:
        return None
    decimal = signed_decimal(value)
    return msgspec.convert(value, date).isoformat() if decimal is None else float(decimal)


def _series(told: Mapping[str, Raw], refused: RefusalCounter) -> Series:
    annual, quarterly = (
        _histories(_part(told, each, dict[str, Raw], refused), refused) for each in ("annual", "quarterly")
    )
    return Series(annual, quarterly)


def _histories(told: Mapping[str, Raw], refused: RefusalCounter) -> dict[str, Sequence[SeriesPoint]]:
    """Those figures that have one."""
    names = islice(told, MOST_FIGURES)
    found = {name: _history(_part(told, name, list[Raw], refused), refused) for name in names}
    return {name: points for name, points in found.items() if points}


def _history(told: Sequence[Raw], refused: RefusalCounter) -> Sequence[SeriesPoint]:
    """The newest first."""
    found = sorted(decode_rows(told, _Point, refused), key=lambda point: point.period, reverse=True)
    return [SeriesPoint(each.period.isoformat(), figure(each.v, refused)) for each in found[:MOST_POINTS]]


def _part(told: Mapping[str, Raw], name: str, kind: type[T], refused: RefusalCounter) -> T:
    """A member as `kind`; an empty one where it is missing, null, or something else, which is counted."""
    raw = told.get(name)
    if raw is None:
        return kind()
    try:
        return msgspec.json.decode(raw, type=kind | None) or kind()
    except (ValueError, RecursionError):
        refused.count("malformed")
        return kind()
