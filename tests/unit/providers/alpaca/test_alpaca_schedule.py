"""Poll intervals and the staleness limit."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quotecast.providers.alpaca.schedule import is_expected_open, poll_seconds, silence_seconds
from support.made.alpaca import NOON, at, closed_day


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("2026-11-19T03:00:00-05:00", 300),
        ("2026-11-19T03:59:00-05:00", 60),
        ("2026-11-19T04:00:00-05:00", 15),
        ("2026-11-19T12:00:00-05:00", 15),
        ("2026-11-19T19:59:59-05:00", 15),
        ("2026-11-19T20:00:00-05:00", 300),
        ("2026-11-21T12:00:00-05:00", 300),
        ("2026-11-26T12:00:00-05:00", 300),
        ("2026-11-27T16:59:59-05:00", 15),
        ("2026-11-27T17:00:00-05:00", 300),
    ],
)
def test_polls_follow_the_sessions(now: str, seconds: float) -> None:
    """Polls are frequent in regular and extended hours, rare otherwise, and never skip a session's start."""
    assert poll_seconds(at(now)) == seconds


@pytest.mark.parametrize(
    ("now", "seconds"),
    [
        ("2026-11-19T03:59:59-05:00", 450),
        ("2026-11-19T04:00:10-05:00", 450),
        ("2026-11-19T04:00:23-05:00", 22.5),
        ("2026-11-19T19:59:59-05:00", 22.5),
        ("2026-11-19T20:00:00-05:00", 450),
    ],
)
def test_silence_is_a_poll_and_a_half(now: str, seconds: float) -> None:
    """At a session's start the longer limit applies until its first poll has had time to complete."""
    assert silence_seconds(at(now)) == seconds


def test_exchange_that_did_not_open_is_polled_as_if_closed() -> None:
    """During a halt polls stay frequent, because it may end within a minute."""
    halted = replace(closed_day(), open=datetime(2026, 11, 19, 14, 30, tzinfo=UTC))
    assert (poll_seconds(NOON, closed_day()), silence_seconds(NOON, closed_day())) == (300, 450)
    assert (poll_seconds(NOON, halted), silence_seconds(NOON, halted)) == (15, 22.5)


def test_session_that_no_calendar_has_is_polled_as_any() -> None:
    sunday = at("2026-11-22T12:00:00-05:00")
    opened = replace(closed_day(), date=date(2026, 11, 22), is_open=True)
    assert (poll_seconds(sunday), poll_seconds(sunday, opened)) == (300, 15)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis wants its bounds naive
def test_next_poll_is_due_before_the_silence_ends(moment: datetime) -> None:
    """A poll on schedule never exceeds the staleness limit."""
    now = moment.timestamp()
    due = poll_seconds(now)
    assert 0 < due <= 300
    assert due < silence_seconds(now + due)


@pytest.mark.parametrize(
    ("now", "expected"),
    [("09:32:59", False), ("09:33:00", True), ("15:59:59", True), ("16:00:00", False)],
)
def test_calendar_overrides_the_clock_just_after_the_opening(now: str, *, expected: bool) -> None:
    """The calendar overrides the exchange's clock, which is read once a minute, in the first minutes."""
    assert is_expected_open(at(f"2026-11-19T{now}-05:00"), None) is expected


def test_unscheduled_hours_override_the_calendar_on_their_date() -> None:
    """The calendar applies again on the next date, because the clock may have failed since."""
    saturday = at("2026-11-21T12:00:00-05:00")
    opened = replace(
        closed_day(), date=date(2026, 11, 21), is_open=True, next_close=datetime(2026, 11, 21, 21, tzinfo=UTC)
    )
    assert not is_expected_open(NOON, closed_day())
    assert is_expected_open(NOON + 86_400, closed_day())
    assert is_expected_open(saturday, opened)
    assert not is_expected_open(saturday + 5 * 3600, opened)
