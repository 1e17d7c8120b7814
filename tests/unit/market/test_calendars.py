"""The exchange's trading days with one unscheduled day."""

from datetime import date, datetime
from itertools import islice

from msgspec.structs import replace

from quotecast.market.bars import opening_of_bar
from quotecast.market.calendars import EXCHANGE, Exchange
from quotecast.market.sessions import NEW_YORK, actual_session_at
from support.made.alpaca import closed_day


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=NEW_YORK)


def newest(calendar: Exchange, moment: datetime, count: int = 3) -> list[int]:
    """Returns the days of the month of the newest sessions."""
    return [day.date.day for day in islice(calendar.until(moment), count)]


def test_day_without_a_session_is_none_of_the_days() -> None:
    """From then on, too: five sessions are five that took place."""
    calendar = Exchange(closed_day())
    assert newest(EXCHANGE, at("19 12:00")) == [19, 18, 17]
    assert newest(calendar, at("19 12:00")) == [18, 17, 16]
    assert newest(calendar, at("20 12:00")) == [20, 18, 17]
    assert calendar.first_from(date(2026, 11, 19)).date == date(2026, 11, 20)
    assert opening_of_bar(calendar, "5m", at("19 12:00")) is None


def test_halted_day_ends_with_the_halt() -> None:
    halted = replace(closed_day(), open=at("19 09:30"), close=at("19 13:00"))
    calendar = Exchange(halted)
    assert newest(calendar, at("19 14:00")) == [19, 18, 17]
    assert opening_of_bar(calendar, "5m", at("19 12:59")) == at("19 12:55")
    assert opening_of_bar(calendar, "5m", at("19 13:00")) is None


def test_session_that_no_calendar_has_is_one_of_the_days() -> None:
    """The unscheduled session is on Sunday the 22nd."""
    special = replace(
        closed_day(), date=date(2026, 11, 22), open=at("22 09:30"), close=at("22 12:00"), is_open=True
    )
    calendar = Exchange(special)
    assert newest(calendar, at("22 09:00")) == [20, 19, 18]
    assert newest(calendar, at("22 10:00")) == [22, 20, 19]
    assert newest(calendar, at("23 10:00")) == [23, 22, 20]
    assert calendar.first_from(date(2026, 11, 21)).date == date(2026, 11, 22)
    assert calendar.first_from(date(2026, 11, 23)).date == date(2026, 11, 23)
    assert opening_of_bar(calendar, "5m", at("22 11:59")) == at("22 11:55")


def test_closing_lasts_until_the_next_day() -> None:
    moments = ("19 12:00", "19 17:00", "20 08:00", "20 10:00")
    assert [actual_session_at(at(moment), closed_day()) for moment in moments] == [
        "closed",
        "closed",
        "pre",
        "regular",
    ]
