"""The calendar of the New York Stock Exchange."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.sessions import (
    NEW_YORK,
    next_close,
    next_open,
    session_at,
    trading_day,
    trading_days_from,
    trading_days_until,
)

moments = st.datetimes(datetime(2015, 1, 1), datetime(2035, 1, 1), timezones=st.just(NEW_YORK))  # noqa: DTZ001 - hypothesis adds the zone


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "day",
    [
        "2022-01-17",  # Martin Luther King Jr. Day
        "2025-02-17",  # Washington's Birthday
        "2024-03-29",  # Good Friday
        "2026-04-03",  # Good Friday
        "2025-05-26",  # Memorial Day
        "2022-06-20",  # Juneteenth, a Sunday, observed on Monday
        "2021-07-05",  # Independence Day, a Sunday, observed on Monday
        "2026-07-03",  # Independence Day, a Saturday, observed on Friday
        "2021-12-24",  # Christmas, a Saturday, observed on Friday
        "2025-11-27",  # Thanksgiving
        "2023-01-02",  # New Year's Day, a Sunday, observed on Monday
        "2012-10-29",  # Hurricane Sandy
        "2018-12-05",  # mourning for George H. W. Bush
        "2025-01-09",  # mourning for Jimmy Carter
        "2025-11-22",  # a Saturday
        "2025-11-23",  # a Sunday
    ],
)
def test_no_trading_on_weekends_holidays_and_special_closures(day: str) -> None:
    assert trading_day(date.fromisoformat(day)) is None


@pytest.mark.parametrize(
    "day",
    [
        "2021-06-18",  # Juneteenth was first observed in 2022
        "2021-12-31",  # a New Year's Day on Saturday is not observed on Friday
        "2025-10-13",  # Columbus Day
        "2025-11-11",  # Veterans Day
    ],
)
def test_trading_on_days_that_only_look_like_holidays(day: str) -> None:
    found = trading_day(date.fromisoformat(day))
    assert found is not None
    assert found.close.astimezone(NEW_YORK).hour == 16


@pytest.mark.parametrize(
    "day", ["2024-07-03", "2025-07-03", "2025-11-28", "2024-11-29", "2024-12-24", "2025-12-24", "2019-07-03"]
)
def test_half_days_close_at_one(day: str) -> None:
    """Days before Independence Day and after Thanksgiving, and Christmas Eve; after-hours end at five."""
    found = trading_day(date.fromisoformat(day))
    assert found is not None
    assert found.close.astimezone(NEW_YORK).hour == 13
    assert found.post_close.astimezone(NEW_YORK).hour == 17


@pytest.mark.parametrize("day", ["2022-07-01", "2020-07-02", "2023-12-22", "2022-12-23"])
def test_no_half_day_before_a_holiday_that_is_moved_or_after_a_weekend(day: str) -> None:
    found = trading_day(date.fromisoformat(day))
    assert found is not None
    assert found.close.astimezone(NEW_YORK).hour == 16


@pytest.mark.parametrize(("year", "count"), [(2022, 251), (2023, 250), (2024, 252), (2025, 250), (2026, 251)])
def test_a_year_has_as_many_trading_days_as_the_exchange_published(year: int, count: int) -> None:
    days = takewhile(lambda day: day.date.year == year, trading_days_from(date(year, 1, 1)))
    assert len(list(days)) == count


@pytest.mark.parametrize(
    ("moment", "session"),
    [
        ("2025-06-16T07:59:59.999", "closed"),
        ("2025-06-16T08:00", "pre"),
        ("2025-06-16T13:29:59.999", "pre"),
        ("2025-06-16T13:30", "regular"),
        ("2025-06-16T19:59:59.999", "regular"),
        ("2025-06-16T20:00", "post"),
        ("2025-06-16T23:59:59.999", "post"),
        ("2025-06-17T00:00", "closed"),
        ("2025-12-15T14:29", "pre"),
        ("2025-12-15T14:30", "regular"),
        ("2025-12-16T00:30", "post"),
        ("2025-11-28T18:00", "post"),
        ("2025-11-28T22:00", "closed"),
        ("2025-11-27T16:00", "closed"),
    ],
)
def test_a_moment_falls_into_one_session(moment: str, session: str) -> None:
    """A session includes its first instant, not its last, in summer, in winter and on half days."""
    assert session_at(utc(moment)) == session


@pytest.mark.parametrize(
    ("moment", "opens", "closes"),
    [
        ("2025-06-16T13:29", "2025-06-16T13:30", "2025-06-16T20:00"),
        ("2025-06-16T13:30", "2025-06-17T13:30", "2025-06-16T20:00"),
        ("2025-06-16T20:00", "2025-06-17T13:30", "2025-06-17T20:00"),
        ("2025-11-26T21:00", "2025-11-28T14:30", "2025-11-28T18:00"),
        ("2025-12-31T21:00", "2026-01-02T14:30", "2026-01-02T21:00"),
        ("2025-03-07T22:00", "2025-03-10T13:30", "2025-03-10T20:00"),
        ("2025-10-31T21:00", "2025-11-03T14:30", "2025-11-03T21:00"),
        ("2026-07-02T20:00", "2026-07-06T13:30", "2026-07-06T20:00"),
    ],
)
def test_the_next_open_and_close_lie_after_the_moment(moment: str, opens: str, closes: str) -> None:
    """This holds over weekends, holidays, the turn of the year and both clock changes."""
    assert next_open(utc(moment)) == utc(opens)
    assert next_close(utc(moment)) == utc(closes)


@given(moments)
def test_a_close_comes_before_the_next_open_exactly_while_the_market_is_open(moment: datetime) -> None:
    assert (session_at(moment) == "regular") == (next_close(moment) < next_open(moment))


@given(moments)
def test_the_market_is_open_from_the_next_open_on(moment: datetime) -> None:
    opening = next_open(moment)
    assert session_at(opening) == "regular"
    assert session_at(opening - timedelta(microseconds=1)) == "pre"


@given(st.dates(date(2015, 1, 1), date(2035, 1, 1)))
def test_days_run_backwards_as_they_run_forwards(day: date) -> None:
    forwards = list(islice(trading_days_from(day), 300))
    backwards = list(islice(trading_days_until(forwards[-1].date), 300))
    assert forwards == backwards[::-1]
    assert forwards[0].date >= day


def test_a_moment_without_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        session_at(datetime(2025, 6, 16, 12))  # noqa: DTZ001 - this is the fault
