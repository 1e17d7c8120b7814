"""Aggregation of bars into longer ones."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotecast.market.aggregate import aggregate_bars
from quotecast.market.bars import LENGTHS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import EXCHANGE, NEW_YORK_DAYS, UTC_DAYS, Calendar
from quotecast.market.sessions import NEW_YORK

#: Each interval, and one it consists of.
CHAINS: list[tuple[Interval, Interval]] = [("1m", "5m"), ("15m", "30m"), ("1h", "4h"), ("D", "W"), ("D", "M")]

calendars = st.sampled_from([EXCHANGE, NEW_YORK_DAYS, UTC_DAYS])
chains = st.sampled_from(CHAINS)
prices = st.integers(1, 1000).map(lambda eighths: eighths / 8)


def bar(time: str, low: float = 1.0, high: float = 1.0, volume: float = 1.0) -> Bar:
    return Bar(time, open=low, high=high, low=low, close=high, volume=volume)


@st.composite
def histories(draw: Callable[..., object], calendar: Calendar, interval: Interval) -> list[Bar]:
    """Draws bars of `interval` on the calendar, with gaps."""
    step = LENGTHS.get(interval, timedelta(days=1))
    start = draw(st.datetimes(datetime(2015, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis adds the zone
    assert isinstance(start, datetime)
    steps = draw(st.sets(st.integers(0, 200), max_size=40))
    assert isinstance(steps, set)
    moments = (opening_of_bar(calendar, interval, start + count * step) for count in sorted(steps))
    times = dict.fromkeys(bar_time(moment) for moment in moments if moment)
    return [_drawn(draw, time) for time in times]


def _drawn(draw: Callable[..., object], time: str) -> Bar:
    four = draw(st.lists(prices, min_size=4, max_size=4))
    assert isinstance(four, list)
    low, opened, closed, high = sorted(four)
    return Bar(time, opened, high, low, closed, volume=four[0])


@given(data=st.data(), calendar=calendars, chain=chains)
def test_nothing_is_lost_or_made_up(
    data: st.DataObject, calendar: Calendar, chain: tuple[Interval, Interval]
) -> None:
    """Aggregation conserves volume, extremes, the first open and the last close."""
    finer, interval = chain
    bars = data.draw(histories(calendar, finer))
    made = aggregate_bars(bars, interval, calendar)
    assert sum(bar.volume for bar in made) == sum(bar.volume for bar in bars)
    assert bool(made) == bool(bars)
    if bars:
        assert max(bar.high for bar in made) == max(bar.high for bar in bars)
        assert min(bar.low for bar in made) == min(bar.low for bar in bars)
        assert (made[0].open, made[-1].close) == (bars[0].open, bars[-1].close)


@given(data=st.data(), calendar=calendars, chain=chains)
def test_bars_ascend_and_hold_their_own_prices(
    data: st.DataObject, calendar: Calendar, chain: tuple[Interval, Interval]
) -> None:
    """No two bars open at the same time."""
    finer, interval = chain
    made = aggregate_bars(data.draw(histories(calendar, finer)), interval, calendar)
    times = [bar.time for bar in made]
    assert times == sorted(set(times))
    assert all(bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high for bar in made)


@given(data=st.data(), calendar=calendars, chain=chains)
def test_bars_of_the_interval_stay_as_they_are(
    data: st.DataObject, calendar: Calendar, chain: tuple[Interval, Interval]
) -> None:
    """Aggregating complete bars to their own interval returns them."""
    finer, interval = chain
    bars = data.draw(histories(calendar, finer))
    made = aggregate_bars(bars, interval, calendar)
    assert aggregate_bars(made, interval, calendar) == made
    assert aggregate_bars(bars, finer, calendar) == bars


@pytest.mark.parametrize(
    ("between", "interval"), [("1h", "4h"), ("1h", "D"), ("4h", "W"), ("D", "M"), ("D", "W")]
)
@given(data=st.data(), calendar=calendars)
def test_a_step_between_changes_nothing(
    data: st.DataObject, calendar: Calendar, between: Interval, interval: Interval
) -> None:
    """Half-hours aggregate to weeks as half-hours to days to weeks do."""
    bars = data.draw(histories(calendar, "30m"))
    steps = aggregate_bars(aggregate_bars(bars, between, calendar), interval, calendar)
    assert steps == aggregate_bars(bars, interval, calendar)


def test_four_hours_are_counted_from_midnight() -> None:
    """Crypto has no session, so its bars count from midnight UTC."""
    hours = [bar(f"2026-11-19T{hour:02}:00:00Z", low=hour + 1, high=hour + 2) for hour in range(2, 9)]
    assert aggregate_bars(hours, "4h", UTC_DAYS) == [
        Bar("2026-11-19T00:00:00Z", open=3, high=5, low=3, close=5, volume=2),
        Bar("2026-11-19T04:00:00Z", open=5, high=9, low=5, close=9, volume=4),
        Bar("2026-11-19T08:00:00Z", open=9, high=10, low=9, close=10, volume=1),
    ]


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    """A week may extend over two months."""
    start = datetime(2026, 10, 30, tzinfo=UTC)
    days = [bar(bar_time(start + timedelta(days=count))) for count in range(6)]
    weeks = [(week.time, week.volume) for week in aggregate_bars(days, "W", UTC_DAYS)]
    months = [(month.time, month.volume) for month in aggregate_bars(days, "M", UTC_DAYS)]
    assert weeks == [("2026-10-26T00:00:00Z", 3), ("2026-11-02T00:00:00Z", 3)]
    assert months == [("2026-10-01T00:00:00Z", 2), ("2026-11-01T00:00:00Z", 4)]


def test_week_is_stamped_with_its_first_session() -> None:
    """The exchange is closed on 1 January 2026, a Thursday, and on 19 January, a Monday."""
    dates = ["2025-12-31", "2026-01-02", "2026-01-16", "2026-01-20"]
    days = [bar(bar_time(datetime.fromisoformat(date).replace(tzinfo=NEW_YORK))) for date in dates]
    weeks = [week.time for week in aggregate_bars(days, "W", EXCHANGE)]
    months = [month.time for month in aggregate_bars(days, "M", EXCHANGE)]
    assert weeks == ["2025-12-29T05:00:00Z", "2026-01-12T05:00:00Z", "2026-01-20T05:00:00Z"]
    assert months == ["2025-12-01T05:00:00Z", "2026-01-02T05:00:00Z"]


def test_what_was_traded_while_the_exchange_is_shut_is_left_out() -> None:
    """Bars before the opening, at the close and on a Sunday count nowhere."""
    times = ["2026-11-19T14:00:00Z", "2026-11-19T14:30:00Z", "2026-11-19T21:00:00Z", "2026-11-22T15:00:00Z"]
    made = aggregate_bars([bar(time) for time in times], "1h", EXCHANGE)
    assert [bar.time for bar in made] == ["2026-11-19T14:30:00Z"]


def test_volumes_are_summed_as_they_are_written() -> None:
    """A sum of floats would turn 0.1 and 0.2 into 0.30000000000000004."""
    bars = [bar("2026-11-19T00:00:00Z", volume=0.1), bar("2026-11-19T01:00:00Z", volume=0.2)]
    assert [bar.volume for bar in aggregate_bars(bars, "4h", UTC_DAYS)] == [0.3]
