"""The grid of windows in which bars are fetched and cached."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.bar_windows import next_window, window_at, window_before
from quotecast.market.bars import Interval, opening_of_bar
from quotecast.market.calendars import EXCHANGE, ISTANBUL_DAYS, NEW_YORK_DAYS, UTC_DAYS, Calendar

CALENDARS: dict[str, Calendar] = {
    "exchange": EXCHANGE,
    "istanbul": ISTANBUL_DAYS,
    "new york": NEW_YORK_DAYS,
    "utc": UTC_DAYS,
}
INTERVALS: tuple[Interval, ...] = get_args(Interval)
moments = st.integers(820_454_400, 2_208_988_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
calendars = st.sampled_from([*CALENDARS.values()])


@given(st.sampled_from(INTERVALS), calendars, moments)
def test_a_window_contains_its_moment_and_touches_its_neighbours(
    interval: Interval, calendar: Calendar, moment: datetime
) -> None:
    window = window_at(interval, calendar, moment)
    assert window.start <= moment < window.end
    assert next_window(interval, calendar, window).start == window.end
    assert window_before(interval, calendar, window).end == window.start
    assert window_at(interval, calendar, window.start) == window
    assert window_at(interval, calendar, window.end - timedelta(microseconds=1)) == window


@given(st.sampled_from(INTERVALS), calendars, moments)
def test_no_window_splits_a_bar(interval: Interval, calendar: Calendar, moment: datetime) -> None:
    """The bar that holds any moment of trading opens in the window of the moment."""
    opened = opening_of_bar(calendar, interval, moment)
    window = window_at(interval, calendar, moment)
    assert opened is None or window.start <= opened < window.end


@pytest.mark.parametrize(
    ("interval", "calendar", "start", "end"),
    [
        ("1m", "utc", "2026-11-20T00:00Z", "2026-11-21T00:00Z"),
        ("1m", "istanbul", "2026-11-19T21:00Z", "2026-11-20T21:00Z"),
        ("1m", "exchange", "2026-11-16T05:00Z", "2026-11-23T05:00Z"),
        ("5m", "utc", "2026-11-16T00:00Z", "2026-11-23T00:00Z"),
        ("M", "exchange", "2020-01-02T05:00Z", "2040-01-03T05:00Z"),
    ],
)
def test_windows_begin_at_midnight_of_trading_days(
    interval: Interval, calendar: str, start: str, end: str
) -> None:
    window = window_at(interval, CALENDARS[calendar], datetime(2026, 11, 20, 15, 30, tzinfo=UTC))
    assert (window.start, window.end) == (datetime.fromisoformat(start), datetime.fromisoformat(end))
