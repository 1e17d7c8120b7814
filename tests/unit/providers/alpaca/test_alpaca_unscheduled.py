"""Deviations of Alpaca's clock from the calendar, in the course of a day."""

from datetime import UTC, date, datetime

import pytest

from quotecast.market.sessions import NEW_YORK, Unscheduled
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.alpaca.schedule import unscheduled_day

NEXT = ("2026-11-20T09:30:00-05:00", "2026-11-20T16:00:00-05:00")
CLOSED = MarketClock(False, *NEXT)
OPEN = MarketClock(True, NEXT[0], "2026-11-19T16:00:00-05:00")
#: A Thursday.
THURSDAY = date(2026, 11, 19)


def at(text: str, day: int = 19) -> datetime:
    moment = datetime.strptime(f"2026-11-{day} {text}", "%Y-%m-%d %H:%M").replace(tzinfo=NEW_YORK)
    return moment.astimezone(UTC)


def unscheduled_days(*answers: tuple[str, int, MarketClock], traded: bool) -> list[Unscheduled | None]:
    """Returns the deviation after each response of the clock."""
    days: list[Unscheduled | None] = []
    for hour, day, clock in answers:
        before = days[-1] if days else None
        days.append(unscheduled_day(clock, at(hour, day), traded=traded, before=before))
    return days


@pytest.mark.parametrize(
    ("hour", "clock"),
    [
        ("09:28", OPEN),
        ("09:31", CLOSED),
        ("12:00", OPEN),
        ("15:58", CLOSED),
        ("16:02", OPEN),
        ("17:00", CLOSED),
    ],
)
def test_exchange_on_its_calendar_has_no_deviation(hour: str, clock: MarketClock) -> None:
    """A clock that is minutes fast or slow is not a deviation."""
    assert unscheduled_days((hour, 19, clock), traded=True) == [None]


def test_day_without_a_session_lasts_until_the_next_opening() -> None:
    """A day without a session stays one through evening and night, until the next opening."""
    hours = [("10:00", 19), ("18:00", 19), ("23:30", 19), ("08:00", 20)]
    days = unscheduled_days(*((hour, day, CLOSED) for hour, day in hours), traded=False)
    assert [day and (day.date, day.open, day.is_open) for day in days] == [(THURSDAY, None, False)] * 4
    assert days[0]
    assert (days[0].next_open, days[0].next_close) == (at("09:30", 20), at("16:00", 20))
    assert unscheduled_day(CLOSED, at("09:31", 20), traded=False, before=days[-1]) is None


def test_day_without_a_session_is_known_in_the_evening_too() -> None:
    """A service that starts in the evening detects a day without a session from the missing trades."""
    [day] = unscheduled_days(("18:00", 19, CLOSED), traded=False)
    assert day
    assert (day.date, day.open) == (THURSDAY, None)


def test_halt_ends_the_session_and_its_end_continues_it() -> None:
    halted, still, over = unscheduled_days(
        ("13:00", 19, CLOSED), ("13:01", 19, CLOSED), ("13:02", 19, OPEN), traded=True
    )
    assert halted == still
    assert halted
    assert (halted.open, halted.close, halted.is_open) == (at("09:30"), at("13:00"), False)
    assert over is None


def test_session_on_a_holiday_has_the_hours_that_the_clock_says() -> None:
    """An unscheduled session on Thanksgiving remains the latest session in the evening."""
    opened = MarketClock(True, "2026-11-27T09:30:00-05:00", "2026-11-26T16:00:00-05:00")
    closed = MarketClock(False, "2026-11-27T09:30:00-05:00", "2026-11-27T13:00:00-05:00")
    day, evening = unscheduled_days(("12:00", 26, opened), ("16:01", 26, closed), traded=True)
    assert day
    assert evening
    assert (day.open, day.close, day.is_open) == (at("09:30", 26), at("16:00", 26), True)
    assert (evening.date, evening.open, evening.is_open) == (day.date, day.open, False)
    assert (evening.next_open, evening.next_close) == (at("09:30", 27), at("13:00", 27))


def test_half_day_that_is_a_whole_one_goes_on() -> None:
    """A session that continues after the calendar's early close is unscheduled."""
    opened = MarketClock(True, "2026-11-30T09:30:00-05:00", "2026-11-27T16:00:00-05:00")
    [day] = unscheduled_days(("13:05", 27, opened), traded=True)
    assert day
    assert (day.open, day.close) == (at("09:30", 27), at("16:00", 27))


def test_unscheduled_session_that_ended_without_an_ingest_has_the_clocks_close() -> None:
    """A restart three hours after a Saturday session's close does not move the close."""
    opened = MarketClock(True, "2026-11-23T09:30:00-05:00", "2026-11-21T16:00:00-05:00")
    closed = MarketClock(False, "2026-11-23T09:30:00-05:00", "2026-11-23T16:00:00-05:00")
    _, evening = unscheduled_days(("12:00", 21, opened), ("19:00", 21, closed), traded=True)
    assert evening
    assert (evening.close, evening.is_open) == (at("16:00", 21), False)


@pytest.mark.parametrize("close", [None, "later", "2026-11-19T16:00:00-05:00"])
def test_clock_without_usable_times_has_the_calendars(close: str | None) -> None:
    """Without readable times from the clock, the calendar's next open and close apply."""
    [day] = unscheduled_days(("12:00", 19, MarketClock(False, "soon", close)), traded=False)
    assert day
    assert (day.next_open, day.next_close) == (at("09:30", 20), at("16:00", 20))
