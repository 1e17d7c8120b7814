"""What Alpaca's clock says against the calendar, through a day."""

from datetime import UTC, date, datetime

import pytest

from quotecast.market.sessions import NEW_YORK, Unscheduled
from quotecast.providers.alpaca.rest_wire import Clock
from quotecast.providers.alpaca.unscheduled import unscheduled

NEXT = ("2026-11-20T09:30:00-05:00", "2026-11-20T16:00:00-05:00")
CLOSED = Clock(False, *NEXT)
OPEN = Clock(True, NEXT[0], "2026-11-19T16:00:00-05:00")
#: A Thursday.
THURSDAY = date(2026, 11, 19)


def at(text: str, day: int = 19) -> datetime:
    moment = datetime.strptime(f"2026-11-{day} {text}", "%Y-%m-%d %H:%M").replace(tzinfo=NEW_YORK)
    return moment.astimezone(UTC)


def through(*said: tuple[str, int, Clock], traded: bool) -> list[Unscheduled | None]:
    """What each answer of the clock comes to."""
    found: list[Unscheduled | None] = []
    for hour, day, clock in said:
        before = found[-1] if found else None
        found.append(unscheduled(clock, at(hour, day), traded=traded, before=before))
    return found


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
def test_exchange_that_keeps_its_calendar_is_nothing_special(hour: str, clock: Clock) -> None:
    """Nor is a clock that is minutes ahead or behind."""
    assert through((hour, 19, clock), traded=True) == [None]


def test_day_without_a_session_lasts_until_the_next_opening() -> None:
    """Through the evening and the night: the latest session is still that of the day before."""
    hours = [("10:00", 19), ("18:00", 19), ("23:30", 19), ("08:00", 20)]
    days = through(*((hour, day, CLOSED) for hour, day in hours), traded=False)
    assert [day and (day.date, day.open, day.is_open) for day in days] == [(THURSDAY, None, False)] * 4
    assert days[0]
    assert (days[0].next_open, days[0].next_close) == (at("09:30", 20), at("16:00", 20))
    assert unscheduled(CLOSED, at("09:31", 20), traded=False, before=days[-1]) is None


def test_day_without_a_session_is_known_in_the_evening_too() -> None:
    """By a service that starts then, from what did not trade."""
    [day] = through(("18:00", 19, CLOSED), traded=False)
    assert day
    assert (day.date, day.open) == (THURSDAY, None)


def test_halt_ends_the_session_and_its_end_continues_it() -> None:
    halted, still, over = through(
        ("13:00", 19, CLOSED), ("13:01", 19, CLOSED), ("13:02", 19, OPEN), traded=True
    )
    assert halted == still
    assert halted
    assert (halted.open, halted.close, halted.is_open) == (at("09:30"), at("13:00"), False)
    assert over is None


def test_session_on_a_holiday_has_the_hours_that_the_clock_says() -> None:
    """Thanksgiving; in the evening it is still the latest session."""
    opened = Clock(True, "2026-11-27T09:30:00-05:00", "2026-11-26T16:00:00-05:00")
    closed = Clock(False, "2026-11-27T09:30:00-05:00", "2026-11-27T13:00:00-05:00")
    day, evening = through(("12:00", 26, opened), ("16:01", 26, closed), traded=True)
    assert day
    assert evening
    assert (day.open, day.close, day.is_open) == (at("09:30", 26), at("16:00", 26), True)
    assert (evening.date, evening.open, evening.is_open) == (day.date, day.open, False)
    assert (evening.next_open, evening.next_close) == (at("09:30", 27), at("13:00", 27))


def test_half_day_that_is_a_whole_one_goes_on() -> None:
    """The 27th ends at 13:00 by the calendar."""
    opened = Clock(True, "2026-11-30T09:30:00-05:00", "2026-11-27T16:00:00-05:00")
    [day] = through(("13:05", 27, opened), traded=True)
    assert day
    assert (day.open, day.close) == (at("09:30", 27), at("16:00", 27))


def test_session_that_ended_while_no_ingest_ran_closed_when_it_should() -> None:
    """A Saturday's; the restart comes three hours after its close."""
    opened = Clock(True, "2026-11-23T09:30:00-05:00", "2026-11-21T16:00:00-05:00")
    closed = Clock(False, "2026-11-23T09:30:00-05:00", "2026-11-23T16:00:00-05:00")
    _, evening = through(("12:00", 21, opened), ("19:00", 21, closed), traded=True)
    assert evening
    assert (evening.close, evening.is_open) == (at("16:00", 21), False)


@pytest.mark.parametrize("close", [None, "later", "2026-11-19T16:00:00-05:00"])
def test_clock_without_usable_times_has_the_calendars(close: str | None) -> None:
    """A session that does not take place has no close."""
    [day] = through(("12:00", 19, Clock(False, "soon", close)), traded=False)
    assert day
    assert (day.next_open, day.next_close) == (at("09:30", 20), at("16:00", 20))
