"""Times, spans and page tokens of queries for bars."""

from base64 import urlsafe_b64encode
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.api.bars.queries import BarQuery, Order, check_span, parse_time, query_of_page, token_of
from quotecast.errors import InvalidValue
from quotecast.market.bars import Interval

DAY = 86_400
NOON = 1_795_176_000  # 2026-11-20T12:00:00Z
times = st.one_of(st.none(), st.integers(0, 4_102_444_799))
intervals = st.sampled_from(get_args(Interval))
orders = st.sampled_from(get_args(Order))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("1795176000", NOON),
        ("2026-11-20", NOON - DAY // 2),
        ("2026-11-20T12:00", NOON),
        ("2026-11-20T12:00:00Z", NOON),
        ("2026-11-20T12:00:00.001Z", NOON + 1),
        ("2026-11-20T15:00:00+03:00", NOON),
        (" 2026-11-20T07:00:00-05:00 ", NOON),
    ],
)
def test_times_may_be_iso_8601_or_unix_seconds(text: str, seconds: int) -> None:
    assert parse_time("start", text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "now", "1e9", "1795176000.5", "99999999999", "١٧٩٥", "2026-W47-5"),
        *("2026-13-01", "2026-11-20T25:00Z", "2026-11-20x12:00Z", "2026-11-20T12:00:00 03:00"),
        *("1969-12-31T23:59:59Z", "2100-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00"),
    ],
)
def test_other_times_are_refused(text: str) -> None:
    """The message has an example of what is allowed."""
    with pytest.raises(InvalidValue, match=r"2026-11-20T14:30:00Z.*Unix seconds") as caught:
        parse_time("start", text)
    assert caught.value.field == "start"


@given(intervals, orders, times, times)
def test_a_token_continues_its_query(
    interval: Interval, order: Order, start: int | None, end: int | None
) -> None:
    left = BarQuery(interval, start, end, 7, order)
    token = token_of(left)
    assert len(token) <= 64
    assert query_of_page(BarQuery(interval, None, None, 7, order), token) == left


@given(st.text(max_size=80))
def test_any_other_text_is_no_token(text: str) -> None:
    with pytest.raises(InvalidValue):
        query_of_page(BarQuery("1m"), text)


@pytest.mark.parametrize(
    "fields",
    [
        "1.5m.asc.0.9",  # of another interval
        "1.1m.desc.0.9",  # of another order
        "2.1m.asc.0.9",  # of another version
        "1.7m.asc.0.9",
        "1.1m.asc.-1.9",
        "1.1m.asc.4102444800.",
        "1.1m.asc.0.9.1",
        "1.1m.asc.٣.9",
    ],
)
def test_a_token_of_another_query_is_refused(fields: str) -> None:
    token = urlsafe_b64encode(fields.encode()).decode().rstrip("=")
    with pytest.raises(InvalidValue, match="X-Next-Page"):
        query_of_page(BarQuery("1m"), token)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (BarQuery("D", start=NOON + 1), "start"),
        (BarQuery("D", start=NOON, end=NOON), "end"),
        (BarQuery("D", start=NOON - 5, end=NOON - 9), "end"),
        (BarQuery("1m", start=NOON - 36 * DAY), "end"),
        (BarQuery("5m", start=0, end=191 * DAY), "end"),
        (BarQuery("30m", start=0), "end"),
    ],
)
def test_impossible_spans_are_refused(query: BarQuery, field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        check_span(query, NOON)
    assert caught.value.field == field


def test_the_span_of_fine_bars_has_a_bound() -> None:
    assert span_of("1m", "desc").start == NOON - 35 * DAY
    assert span_of("15m", "desc", end=400 * DAY).start == 30 * DAY
    assert span_of("15m", "desc", end=NOON * 2).start == NOON - 370 * DAY
    assert span_of("1h", "desc").start is None
    assert span_of("1m", "asc").start is None
    assert span_of("1h", "asc", start=0).start == 0
    assert span_of("1m", "asc", start=NOON - 36 * DAY, end=NOON - 2 * DAY).end == NOON - 2 * DAY


def span_of(
    interval: Interval, order: Order, *, start: int | None = None, end: int | None = None
) -> BarQuery:
    return check_span(BarQuery(interval, start, end, order=order), NOON)
