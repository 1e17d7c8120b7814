"""Bars of a range, and the newest bars."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.bars import INTERVALS, LENGTHS, Bar, Interval, bars_with_price, opening_of_bar
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS, UTC_DAYS, Calendar, is_open
from quotecast.market.ranges import (
    RANGES,
    Range,
    default_interval,
    intervals_of,
    parse_interval,
    parse_range,
    start_of,
    start_of_newest,
)
from quotecast.market.sessions import NEW_YORK, session_at

ALL_DAY = [NEW_YORK_DAYS, UTC_DAYS]
SEED_INTERVALS: tuple[Interval, ...] = ("1m", "5m", "15m", "1h", "4h", "D", "W", "M")

moments = st.datetimes(datetime(2015, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone
calendars = st.sampled_from([EXCHANGE, *ALL_DAY])
intervals = st.sampled_from(INTERVALS)


def new_york(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=NEW_YORK)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("span", "moment", "start"),
    [
        ("1D", "2026-11-20T10:30", "2026-11-20T09:30"),
        ("1D", "2026-11-20T09:30", "2026-11-20T09:30"),  # the session holds its first instant
        ("1D", "2026-11-20T09:29", "2026-11-19T09:30"),  # not open yet
        ("1D", "2026-11-20T21:00", "2026-11-20T09:30"),  # in the evening
        ("1D", "2026-11-22T12:00", "2026-11-20T09:30"),  # on Sunday
        ("1D", "2026-11-26T12:00", "2026-11-25T09:30"),  # on Thanksgiving
        ("5D", "2026-11-27T12:59", "2026-11-20T09:30"),  # the half day after it, and four before
        ("5D", "2026-03-09T12:00", "2026-03-03T09:30"),  # clocks sprang forward on Sunday
        ("5D", "2026-11-02T12:00", "2026-10-27T09:30"),  # they fell back
        ("5D", "2027-01-04T12:00", "2026-12-28T09:30"),  # over the turn of the year
        ("1M", "2026-11-20T10:30", "2026-10-20T09:30"),
        ("1M", "2026-03-31T10:30", "2026-03-02T09:30"),  # February 28 is a Saturday
        ("3M", "2026-12-24T12:59", "2026-09-24T09:30"),
        ("6M", "2026-11-20T10:30", "2026-05-20T09:30"),
        ("YTD", "2026-11-20T10:30", "2026-01-02T09:30"),
        ("YTD", "2027-01-04T09:29", "2026-01-02T09:30"),  # the new year has had no session yet
        ("YTD", "2027-01-04T09:30", "2027-01-04T09:30"),
        ("1Y", "2028-02-29T12:00", "2027-03-01T09:30"),  # February 28 of 2027 is a Sunday
        ("5Y", "2026-11-20T10:30", "2021-11-22T09:30"),  # from a Monday on, as the 20th is a Saturday
    ],
)
def test_a_range_begins_with_a_session(span: Range, moment: str, start: str) -> None:
    """A range starts at the latest session that has opened, or so many sessions or months before."""
    assert start_of(span, EXCHANGE, new_york(moment)) == new_york(start)


@pytest.mark.parametrize(
    ("span", "moment", "start"),
    [
        ("1D", "2026-11-22T00:00", "2026-11-22"),
        ("1D", "2026-11-21T23:59:59.999", "2026-11-21"),
        ("5D", "2026-11-03T12:00", "2026-10-30"),  # clocks fell back on the first of November
        ("1M", "2026-03-31T12:00", "2026-02-28"),
        ("YTD", "2027-01-01T00:00", "2027-01-01"),
        ("1Y", "2028-02-29T12:00", "2027-02-28"),
        ("5Y", "2028-02-29T12:00", "2023-02-28"),
    ],
)
def test_around_the_clock_every_day_is_a_session(span: Range, moment: str, start: str) -> None:
    """Days last from midnight to midnight in New York."""
    assert start_of(span, NEW_YORK_DAYS, new_york(moment)) == new_york(start)


@given(st.sampled_from(RANGES), calendars, moments)
def test_a_range_holds_its_latest_session(span: Range, calendar: Calendar, moment: datetime) -> None:
    """No range is empty, and the longer of two ranges starts no later."""
    latest = next(calendar.until(moment)).open
    assert start_of(span, calendar, moment) <= latest <= moment
    assert start_of("5Y", calendar, moment) <= start_of("1Y", calendar, moment)
    assert start_of("1Y", calendar, moment) <= start_of("YTD", calendar, moment)


@pytest.mark.parametrize(
    ("span", "default", "allowed"),
    [
        ("1D", "5m", "1m 5m 15m 1h 4h D W M"),
        ("5D", "15m", "1m 5m 15m 1h 4h D W M"),
        ("1M", "1h", "1m 5m 15m 1h 4h D W M"),
        ("3M", "D", "5m 15m 1h 4h D W M"),
        ("6M", "D", "5m 15m 1h 4h D W M"),
        ("YTD", "D", "15m 1h 4h D W M"),
        ("1Y", "D", "15m 1h 4h D W M"),
        ("5Y", "W", "1h 4h D W M"),
    ],
)
def test_each_range_has_a_default_and_a_finest_interval(span: Range, default: str, allowed: str) -> None:
    assert default_interval(span) == default
    assert intervals_of(span, SEED_INTERVALS) == tuple(allowed.split())


@pytest.mark.parametrize(
    ("text", "meant"),
    [("1d", "1D"), ("ytd", "YTD"), (" 5Y ", "5Y"), ("1m", "1M"), ("2D", None), ("", None), ("1", None)],
)
def test_ranges_are_known_in_any_case(text: str, meant: str | None) -> None:
    assert parse_range(text) == meant


@pytest.mark.parametrize(
    ("meant", "texts"),
    [
        ("1m", "1m 1Min 1MIN 1min"),
        ("5m", "5m 5Min"),
        ("15m", "15m 15Min"),
        ("30m", "30m 30Min"),
        ("1h", "1h 1H 1Hour 1hour"),
        ("4h", "4h 4H 4Hour"),
        ("D", "D d 1D 1d 1Day 1DAY"),
        ("W", "W w 1W 1w 1Week"),
        ("M", "M 1M 1Month 1month"),
        (None, "m 5M 15M 30M 2h 1min1 60 minute 1m,5m 1y"),
    ],
)
def test_intervals_may_be_written_in_many_ways(meant: str | None, texts: str) -> None:
    """Case does not matter except between `1m`, a minute, and `1M`, a month; `5M` is nothing."""
    assert {parse_interval(text) for text in texts.split()} == {meant}
    assert parse_interval("") is None


@pytest.mark.parametrize(
    ("interval", "moment", "opened"),
    [
        ("1m", "2026-11-20T10:30:59.999", "2026-11-20T10:30"),
        ("15m", "2026-11-20T09:44", "2026-11-20T09:30"),
        ("1h", "2026-11-20T09:59", "2026-11-20T09:30"),  # the first hour is a short one
        ("1h", "2026-11-20T10:00", "2026-11-20T10:00"),
        ("4h", "2026-11-20T11:59", "2026-11-20T09:30"),
        ("4h", "2026-11-20T15:59", "2026-11-20T12:00"),
        ("D", "2026-11-20T10:30", "2026-11-20"),
        ("W", "2026-11-20T10:30", "2026-11-16"),
        ("W", "2026-01-20T10:30", "2026-01-20"),  # Monday was a holiday
        ("M", "2026-11-20T10:30", "2026-11-02"),  # the first was a Sunday
        ("1m", "2026-11-20T09:29:59", None),
        ("D", "2026-11-20T16:00", None),
        ("1m", "2026-11-27T13:00", None),  # a half day is over
        ("M", "2026-11-22T12:00", None),
        ("1h", "2026-12-24T12:59", "2026-12-24T12:00"),  # Christmas Eve, another half day
    ],
)
def test_a_bar_of_a_stock_opened_with_its_part_of_the_session(
    interval: Interval, moment: str, opened: str | None
) -> None:
    """Intraday bars count from midnight; outside the session there is no bar."""
    expected = new_york(opened) if opened else None
    assert opening_of_bar(EXCHANGE, interval, new_york(moment)) == expected


@given(st.sampled_from(ALL_DAY), intervals, moments)
def test_around_the_clock_every_moment_is_in_one_bar(
    calendar: Calendar, interval: Interval, moment: datetime
) -> None:
    """The bar opens at or before the moment, within one interval, for all moments of the bar."""
    opened = opening_of_bar(calendar, interval, moment)
    assert opened is not None
    longest = LENGTHS.get(interval, timedelta(days=31, hours=1))
    assert timedelta() <= moment - opened < longest
    assert opening_of_bar(calendar, interval, opened) == opened


@given(intervals, moments)
def test_stocks_have_no_bars_outside_the_session(interval: Interval, moment: datetime) -> None:
    is_regular = session_at(moment) == "regular"
    assert (opening_of_bar(EXCHANGE, interval, moment) is not None) is is_regular
    assert is_open(EXCHANGE, moment) is is_regular


@pytest.mark.parametrize(
    ("day", "count"), [("2026-03-08", 23), ("2026-11-01", 25), ("2028-02-29", 24), ("2026-12-31", 24)]
)
def test_hours_of_a_day_are_as_many_as_the_clock_shows(day: str, count: int) -> None:
    """On the Sundays of clock changes too."""
    start = new_york(day).astimezone(UTC)
    quarters = [start + timedelta(minutes=15 * number) for number in range(26 * 4)]
    today = [each for each in quarters if each.astimezone(NEW_YORK).date().isoformat() == day]
    assert len({opening_of_bar(NEW_YORK_DAYS, "1h", each) for each in today}) == count
    assert {opening_of_bar(NEW_YORK_DAYS, "D", each) for each in today} == {start}


@given(st.integers(1, 1000), intervals, moments)
def test_the_newest_bars_are_as_many_as_asked_for(count: int, interval: Interval, moment: datetime) -> None:
    """The count runs from the bar with the first moment to the bar in progress."""
    first = opening_of_bar(UTC_DAYS, interval, start_of_newest(count, interval, moment))
    last = opening_of_bar(UTC_DAYS, interval, moment)
    assert first is not None
    assert last is not None
    if interval == "M":
        assert (last.year - first.year) * 12 + last.month - first.month == count - 1
    else:
        length = {**LENGTHS, "D": timedelta(days=1), "W": timedelta(weeks=1)}[interval]
        assert last - first == (count - 1) * length


LAST = Bar("2026-11-20T15:30:00Z", 10.0, 12.0, 9.0, 11.0, 500.0)


@pytest.mark.parametrize(("price", "high", "low"), [(11.5, 12.0, 9.0), (13.0, 13.0, 9.0), (8.0, 12.0, 8.0)])
def test_the_bar_in_progress_closes_with_the_price(price: float, high: float, low: float) -> None:
    """High and low include the price; the volume stays that of the history."""
    (bar,) = bars_with_price(LAST, utc("2026-11-20T15:30"), price)
    assert bar == Bar(LAST.time, 10.0, high, low, price, 500.0)


def test_the_first_price_of_an_interval_begins_a_bar() -> None:
    begun = Bar("2026-11-20T15:35:00Z", 11.5, 11.5, 11.5, 11.5, 0.0)
    assert bars_with_price(LAST, utc("2026-11-20T15:35"), 11.5) == [LAST, begun]
    assert bars_with_price(None, utc("2026-11-20T15:35"), 11.5) == [begun]


def test_a_price_that_is_older_than_the_last_bar_changes_nothing() -> None:
    """A delayed quote may have such a price."""
    assert bars_with_price(LAST, utc("2026-11-20T15:25"), 99.0) == [LAST]
