"""Finnhub's company data, as REST answers it."""

import math
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.finnhub_rows import company
from quotecast.errors import UpstreamError
from quotecast.market.financials import (
    Earnings,
    EpsEstimate,
    Metrics,
    QualityScore,
    Recommendation,
    RevenueEstimate,
    Series,
    SeriesPoint,
)
from quotecast.providers.finnhub import wire
from quotecast.providers.finnhub.answers import MOST_POINTS, decode, is_priced, member, rows, to_metrics
from quotecast.providers.finnhub.profiles import UNKNOWN
from quotecast.providers.refusals import RefusalCounter

FRIDAY = date(2026, 11, 20)
PATHS: dict[Any, str] = {
    wire.EarningsRow: "/stock/earnings",
    wire.RecommendationRow: "/stock/recommendation",
    wire.RevenueRow: "/stock/revenue-estimate",
    wire.EpsRow: "/stock/eps-estimate",
    wire.QualityRow: "/stock/earnings-quality-score",
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
days = st.dates(date(2000, 1, 1), date(2030, 1, 1))


def row(kind: Any) -> dict[str, Any]:
    """What the path of that kind of row answers first."""
    told = company("AAPL", 1_795_188_600.0)[PATHS[kind]]
    first: dict[str, Any] = (told["data"] if isinstance(told, dict) else told)[0]
    return first


def record(kind: Any, changes: Mapping[str, Any] = {}, refused: RefusalCounter | None = None) -> Any:
    """What becomes of that row, with changes."""
    read = msgspec.convert({**row(kind), **changes}, kind)
    return read.to_record(*named(kind), RefusalCounter("test") if refused is None else refused)


def named(kind: Any) -> tuple[Any, ...]:
    """The symbol, where records name it, and the profile, where they name a currency."""
    named_by: dict[Any, tuple[Any, ...]] = {
        wire.EarningsRow: ("AAPL", UNKNOWN),
        wire.RecommendationRow: ("AAPL",),
    }
    return named_by.get(kind, ())


def metrics(told: Any, refused: RefusalCounter | None = None) -> Metrics | None:
    answer = decode(msgspec.json.encode(told))
    return to_metrics(answer, "AAPL", RefusalCounter("test") if refused is None else refused)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (wire.EarningsRow, Earnings("AAPL", "2026-09-30", 3, 2026, 1.5, 1.45, 0.05, 3.45)),
        (wire.RecommendationRow, Recommendation("AAPL", "2026-11-01", 10, 20, 9, 2, 0)),
        (wire.RevenueRow, RevenueEstimate("2027-09-30", 3, 2027, 117.84e9, 121.5e9, 110.2e9, 28)),
        (wire.EpsRow, EpsEstimate("2027-09-30", 3, 2027, 2.11, 2.4, 1.9, 28)),
        (wire.QualityRow, QualityScore("2026-09-30", 50.5, 72.2, 84.0, 89.9, 74.15, "A-")),
    ],
    ids=["earnings", "recommendation", "revenue", "eps", "quality"],
)
def test_row_becomes_a_record(kind: Any, expected: Any) -> None:
    """Field by field."""
    assert record(kind) == expected


@pytest.mark.parametrize("kind", PATHS, ids=lambda kind: kind.__name__)
def test_numbers_may_be_texts_or_missing(kind: Any) -> None:
    """Numbers as text make the same record; a row with a period alone makes a record with that alone."""
    texts = {name: str(value) for name, value in row(kind).items() if not isinstance(value, str)}
    assert record(kind, texts) == record(kind)
    period = {"period": row(kind)["period"]}
    refused = RefusalCounter("test")
    read: Any = msgspec.convert(period, kind)
    alone = read.to_record(*named(kind), refused)
    known = {name for name, value in msgspec.to_builtins(alone).items() if value is not None}
    assert known <= {"symbol", "period"}
    assert not refused.by_reason()


@pytest.mark.parametrize("kind", PATHS, ids=lambda kind: kind.__name__)
@given(st.data())
def test_no_row_makes_a_record_that_cannot_be(kind: Any, data: st.DataObject) -> None:
    """Whatever is sent in a field: the row is refused, or its numbers are finite or unknown."""
    name = data.draw(st.sampled_from(sorted(row(kind))))
    changed = row(kind) | {name: data.draw(anything)}
    refused = RefusalCounter("test")
    answer = decode(msgspec.json.encode([changed, row(kind)]))
    found: list[Any] = rows(answer, kind, refused)
    assert len(found) + refused.by_reason().get("malformed", 0) == 2
    for each in found:
        made = msgspec.to_builtins(each.to_record(*named(kind), refused))
        date.fromisoformat(made["period"])
        assert all(math.isfinite(value) for value in made.values() if isinstance(value, float))
        assert all(value >= 0 for value in made.values() if isinstance(value, int))


@pytest.mark.parametrize("text", ["NaN", "inf", "1e999", "", "n/a", "1,5"])
def test_field_that_is_no_number_is_unknown(text: str) -> None:
    """The others stand, and it is counted."""
    refused = RefusalCounter("test")
    told = record(wire.EarningsRow, {"actual": text, "quarter": text}, refused)
    assert (told.actual, told.quarter, told.estimate, told.year) == (None, None, 1.45, 2026)
    assert refused.by_reason() == {"unreadable_field": 2}


@pytest.mark.parametrize("value", [-1, 2.5, "3.1"])
def test_count_that_is_none_is_unknown(value: Any) -> None:
    assert record(wire.RecommendationRow, {"buy": value}).buy is None
    assert record(wire.RecommendationRow, {"buy": 3.0}).buy == 3


def test_capital_allocation_has_two_spellings() -> None:
    """That of the specification, and that of its example; the former counts where there are both."""
    for specified, expected in ((61.5, 61.5), (None, 84.0)):
        told = record(wire.QualityRow, {"cashGenerationCapitalAllocation": specified})
        assert told.cash_generation_capital_allocation == expected


@pytest.mark.parametrize(
    ("letter", "expected"), [("A+", "A+"), ("F", "F"), ("G", None), ("AA", None), ("", None)]
)
def test_letter_score_is_one_or_unknown(letter: str, expected: str | None) -> None:
    assert record(wire.QualityRow, {"letterScore": letter}).letter_score == expected


def test_metrics_are_an_open_map() -> None:
    """Numbers, dates and nulls, by whatever name; texts that are numbers are numbers."""
    figures: dict[str, Any] = {"peTTM": 33, "beta": "1.2", "longTermDebt/equityAnnual": -1.5e-7, "none": None}
    dates = {"52WeekHighDate": "2026-10-28"}
    told = metrics({"symbol": "aapl", "metricType": "all", "metric": figures | dates, "new": 1})
    assert told == Metrics("AAPL", "all", figures | dates | {"beta": 1.2}, Series({}, {}))


def test_history_is_the_newest_first() -> None:
    """Those names that have any."""
    points = [
        {"period": "2024-09-28", "v": "6.1"},
        {"period": "2025-09-27", "v": 6},
        {"period": "2023-09-30"},
    ]
    told = metrics({"metric": {"pe": 1}, "series": {"annual": {"eps": points, "roe": []}, "quarterly": None}})
    assert told
    newest = [SeriesPoint("2025-09-27", 6.0), SeriesPoint("2024-09-28", 6.1), SeriesPoint("2023-09-30", None)]
    assert told.series == Series({"eps": newest}, {})


@pytest.mark.parametrize("told", [None, {}, [], {"metric": None}, {"metric": {}}, {"metric": []}], ids=str)
def test_metrics_without_any_are_none(told: Any) -> None:
    """As the upstream tells of a symbol that nobody knows."""
    assert metrics(told) is None


@pytest.mark.parametrize(
    "told",
    ["soon", 1, {"error": "x"}, [1], {"metric": "x"}, {"metric": [1]}, {"metric": {"a": True, "b": "soon"}}],
    ids=str,
)
def test_metrics_that_cannot_be_read_are_an_error(told: Any) -> None:
    """And not taken for those of an unknown symbol."""
    with pytest.raises(UpstreamError):
        metrics(told)


@given(st.dictionaries(st.text(max_size=5), anything, max_size=8))
def test_figures_are_told_or_counted(told: dict[str, Any]) -> None:
    """Each is a finite number, a date or null."""
    refused = RefusalCounter("test")
    found = metrics({"metric": told | {"good": 1.5}}, refused)
    assert found
    assert len(found.metric) + refused.by_reason().get("unreadable_field", 0) == len(told | {"good": 1.5})
    for value in found.metric.values():
        if isinstance(value, str):
            date.fromisoformat(value)
        else:
            assert value is None or math.isfinite(value)


@given(st.fixed_dictionaries({}, optional={"annual": anything, "quarterly": anything}) | anything)
def test_series_of_any_shape_do_not_spoil_the_figures(series: Any) -> None:
    told = metrics({"metric": {"pe": 1}, "series": series})
    assert told
    assert told.metric == {"pe": 1.0}


@given(st.lists(days, max_size=30))
def test_points_descend(periods: list[date]) -> None:
    """In whatever order they come."""
    points = [{"period": each.isoformat(), "v": 1} for each in periods]
    told = metrics({"metric": {"pe": 1}, "series": {"quarterly": {"eps": points}}})
    assert told
    found = [point.period for point in told.series.quarterly.get("eps", ())]
    assert found == sorted((each.isoformat() for each in periods), reverse=True)


def test_history_is_bounded() -> None:
    """To a century of quarters, the newest."""
    periods = [(FRIDAY - timedelta(days=number)).isoformat() for number in range(MOST_POINTS + 50)]
    points = [{"period": each, "v": 1} for each in reversed(periods)]
    told = metrics({"metric": {"pe": 1}, "series": {"annual": {"eps": points}}})
    assert told
    assert [point.period for point in told.series.annual["eps"]] == periods[:MOST_POINTS]


@pytest.mark.parametrize("told", [None, [], {}], ids=str)
def test_list_may_be_empty_in_several_ways(told: Any) -> None:
    assert rows(told, wire.EarningsRow, RefusalCounter("test")) == []
    assert member(told, "data") is None


@pytest.mark.parametrize("told", [{"error": "x"}, [1], [{"period": "soon"}, {}]], ids=str)
def test_list_without_a_row_that_can_be_read_is_an_error(told: Any) -> None:
    """An old copy is better than an empty list."""
    with pytest.raises(UpstreamError):
        rows(decode(msgspec.json.encode(told)), wire.EarningsRow, RefusalCounter("test"))


@pytest.mark.parametrize("told", [[1], {"error": "x"}, {"data": "x"}], ids=str)
def test_answer_without_its_member_is_an_error(told: Any) -> None:
    with pytest.raises(UpstreamError):
        member(decode(msgspec.json.encode(told)), "data")


@pytest.mark.parametrize(
    ("told", "expected"),
    [({"c": 231.4}, True), ({"c": "1"}, True), ({"c": 0, "d": None}, False), ({"c": None}, False),
     ({}, False), ([], False), (None, False)],
    ids=str,
)  # fmt: skip
def test_symbol_is_known_by_its_price(told: Any, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_priced(decode(msgspec.json.encode(told))) is expected


def test_price_of_another_kind_is_an_error() -> None:
    """It says nothing about the symbol."""
    with pytest.raises(UpstreamError):
        is_priced(decode(b'{"c": []}'))
