"""Finnhub's earnings calendar becomes sorted events of the requested days."""

from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.finnhub_rows import event
from quotecast.market.financials import EarningsEvent
from quotecast.providers.finnhub.answers import calendar as calendar_of
from quotecast.providers.finnhub.answers import decode
from quotecast.providers.refusals import RefusalCounter

MONDAY = date(2026, 11, 16)
FRIDAY = date(2026, 11, 20)


def calendar(*found: dict[str, Any], refused: RefusalCounter | None = None) -> list[EarningsEvent]:
    answer = decode(msgspec.json.encode({"earningsCalendar": found}))
    told = calendar_of(answer, MONDAY, FRIDAY, RefusalCounter("test") if refused is None else refused)
    return [*told.earnings_calendar]


def test_event_becomes_a_record() -> None:
    """Field by field."""
    expected = EarningsEvent("NVDA", "2026-11-18", "amc", 2026, 3, 1.45, None, 102e9, None)
    assert calendar(event("nvda", date(2026, 11, 18))) == [expected]


@pytest.mark.parametrize(("hour", "expected"), [("bmo", "bmo"), ("dmh", "dmh"), (None, ""), ("noon", "")])
def test_hour_is_known_or_empty(hour: str | None, expected: str) -> None:
    [told] = calendar(event("AAPL", MONDAY) | {"hour": hour})
    assert told.hour == expected


@given(st.lists(st.tuples(st.sampled_from(["AAPL", "MSFT", "BRK.B"]), st.integers(-3, 8)), max_size=12))
def test_calendar_is_sorted_and_of_the_days_asked_for(found: list[tuple[str, int]]) -> None:
    """Both ends included; what is of other days is counted."""
    refused = RefusalCounter("test")
    told = calendar(*(event(ticker, MONDAY + timedelta(days=day)) for ticker, day in found), refused=refused)
    expected = sorted((day, ticker) for ticker, day in found if 0 <= day <= 4)
    assert [(date.fromisoformat(each.date) - MONDAY).days for each in told] == [day for day, _ in expected]
    assert [each.symbol for each in told] == [ticker for _, ticker in expected]
    assert refused.by_reason().get("out_of_range", 0) == len(found) - len(expected)


def test_events_that_are_none_cost_themselves() -> None:
    """A symbol that is no ticker, a date that is none."""
    refused = RefusalCounter("test")
    good = event("AAPL", MONDAY)
    told = calendar(good | {"symbol": "A B"}, good | {"date": "soon"}, good, refused=refused)
    assert [each.symbol for each in told] == ["AAPL"]
    assert refused.by_reason() == {"unreadable": 1, "malformed": 1}
